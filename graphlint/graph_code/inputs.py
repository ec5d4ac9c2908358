"""What the project says of a root's arguments: INPUTS of a case module, dimensions that set_inputs opens."""

from __future__ import annotations

import ast
from typing import List, Optional

from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Args
from graphlint.graph_code.interpreter import Interpreter
from graphlint.graph_code.roots import Root
from graphlint.project import Module


def declared_inputs(module: Module, root: Root, interpreter: Interpreter) -> Optional[Args]:
    """The arguments declared for this root, read as source and never run; None where nothing is.

    A Tensor with open dimensions given to `set_inputs` in `__init__` comes before what INPUTS has there.
    """
    declared = _of_case(module, root, interpreter)
    given = _set_inputs(root, interpreter)
    if not any(value.dynamic for value in given):
        return declared
    pos = list(declared.pos) if declared is not None else []
    merged = [value if value.dynamic or i >= len(pos) else pos[i] for i, value in enumerate(given)]
    return Args([*merged, *pos[len(given) :]], dict(declared.kw) if declared is not None else {})


def _set_inputs(root: Root, interpreter: Interpreter) -> List[v.Value]:
    """What `self.set_inputs(…)` in `__init__` says of the arguments of construct."""
    init = root.cls.find("__init__") if root.cls is not None and root.info.name == "construct" else None
    for node in ast.walk(init.node) if init is not None else ():
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        receiver = node.func.value
        if node.func.attr == "set_inputs" and isinstance(receiver, ast.Name) and receiver.id == "self":
            assert init is not None
            frame = interpreter.host_frame(init.module)
            return [interpreter.eval(arg, frame) for arg in node.args if not isinstance(arg, ast.Starred)]
    return []


def _of_case(module: Module, root: Root, interpreter: Interpreter) -> Optional[Args]:
    """The arguments of a case module.

    A case module (see tests/fixtures/README.md) declares `INPUTS`, a list or a function giving one, or
    `CALLS`, for its class `Net` or its function `fn`; `KWARGS` adds keyword arguments.
    """
    name = root.cls.name if root.cls is not None else root.info.name
    if name not in ("Net", "fn"):
        return None
    pos = _read("INPUTS", module, interpreter)
    if pos is None:
        calls = _read("CALLS", module, interpreter)
        pos = v.element_of(calls) if calls is not None and calls.kind in v.SEQUENCES else None
    if pos is None or pos.kind not in v.SEQUENCES or pos.items is None:
        return None
    kwargs = _read("KWARGS", module, interpreter)
    named = {}
    if kwargs is not None and kwargs.keys is not None and kwargs.items is not None:
        named = {k: x for k, x in zip(kwargs.keys, kwargs.items) if isinstance(k, str)}
    return Args([_as_argument(item) for item in pos.items], named)


def _as_argument(value: v.Value) -> v.Value:
    """Scalars are constants of the compilation, though not ones to rely on: later calls may bring others."""
    return value


def _read(name: str, module: Module, interpreter: Interpreter) -> Optional[v.Value]:
    if name not in module.order:
        return None
    frame = interpreter.host_frame(module)
    symbol = module.lookup(name)
    value = interpreter.symbol_value(symbol, frame)
    if value.kind == v.FUNCTION:
        value = interpreter.call_value(value, Args(), ast.Pass(lineno=0), interpreter.host_frame(module))
    return value
