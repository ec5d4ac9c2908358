"""What the project says of a root's arguments: the INPUTS that a case module declares for its Cell or function."""

from __future__ import annotations

import ast
from typing import Optional

from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Args
from graphlint.graph_code.interpreter import Interpreter
from graphlint.graph_code.roots import Root
from graphlint.project import Module


def declared_inputs(module: Module, root: Root, interpreter: Interpreter) -> Optional[Args]:
    """The arguments that the module declares for this root, read as source and never run; None where it doesn't.

    A case module (see tests/fixtures/README.md) declares `INPUTS`, a list or a function giving one, or `CALLS`, for
    its class `Net` or its function `fn`; `KWARGS` adds keyword arguments.
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
    """Scalars are constants of the compilation, though not ones to rely on: the next call may bring others."""
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
