"""GL317: what a compiled graph holds as a constant, changed by code outside the graph."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import Any, Iterator, List, Optional, Tuple

from graphlint.checkers.base import Findings, Found, ModuleContext, Rule, always
from graphlint.finding import Confidence, Effect
from graphlint.graph_code.facts import Outside, ReadInGraph, later, variable
from graphlint.graph_code.frames import local_names
from graphlint.lang import Text
from graphlint.project import Assigned, ClassInfo, Module, ModuleRef
from graphlint.tree import children

_CALLBACK = re.compile(r"(on_)?((train|eval)_)?(step|epoch)_(begin|end)$")
_GROWS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem __setitem__".split()
)


@dataclass(frozen=True)
class Write:
    """A change made in host code: of an attribute (`owner` is what holds it) or of a module's variable."""

    node: ast.AST
    owner: Optional[ast.expr]
    name: str
    whole: bool


class ChangedFromOutside(Rule):
    """
    What
        An attribute of a Cell, or a module's variable, list or dict, that graph code reads and other code changes
        between calls.

    Why
        What is neither a Parameter nor an argument is a constant of the compiled graph: the change isn't seen.
        PyNative sees it.

    Example
        def train_step(net, x, scale):
            net.scale = scale
            return net(x)

    Instead
        def train_step(net, x, scale):
            return net(x, scale)  # an argument, or a Parameter that `ops.assign` or `set_data` changes

    Fix safety
        No fix.
    """

    code = "GL317"
    name = "changed-from-outside"
    effects = always(Effect.DIVERGES)
    message = Text(
        "'{text}' is a constant of the compiled graph ('{reader}' reads it): changing it between calls has no effect",
        "`{text}` 是已编译图中的常量（由 `{reader}` 读取）：在两次调用之间修改它不会生效",
    )
    help = Text("pass it as an argument, or make it a Parameter", "作为参数传入，或改为 Parameter")

    def check_module(self, ctx: ModuleContext) -> Findings:
        for function, around in _host_functions(ctx.module.tree):
            writes = list(_writes(function))
            if writes and (_calls_later(function, around) or _CALLBACK.match(_name(function))):
                for write in writes:
                    read = _read_of(write, function, ctx)
                    if read is not None:
                        yield self._found(write, read, function)

    def _found(self, write: Write, read: ReadInGraph, function: ast.AST) -> Found:
        text = f"{ast.unparse(write.owner)}.{write.name}" if write.owner is not None else write.name
        itself = Outside(((function.lineno, function.col_offset),))  # type: ignore[attr-defined]
        found = self.at(
            write.node, confidence=Confidence.MEDIUM, when=(itself, read), text=text, reader=later("reader")
        )
        return replace(found, symbol=_name(function))


def _new_parameter(write: Write, module: Module) -> bool:
    """True where a Parameter is put in another's place; new data or a new item in it is what the graph does see."""
    value = getattr(write.node, "value", None)
    return isinstance(value, ast.Call) and module.dotted(value.func) == "mindspore.Parameter"


def _name(function: ast.AST) -> str:
    return getattr(function, "name", "<lambda>")


def _host_functions(tree: ast.AST) -> Iterator[Tuple[ast.AST, Tuple[ast.AST, ...]]]:
    """The functions that may run as Python, each with those around it; `__init__` runs before anything is compiled."""
    todo: List[Tuple[ast.AST, Tuple[ast.AST, ...]]] = [(tree, ())]
    while todo:
        node, around = todo.pop()
        for child in children(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if child.name not in ("__init__", "construct"):
                    yield child, around
                todo.append((child, (*around, child)))
            else:
                todo.append((child, around))


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, those of functions inside it aside."""
    todo: List[ast.AST] = list(getattr(function, "body", []))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            todo.extend(children(node))


def _calls_later(function: ast.AST, around: Tuple[ast.AST, ...]) -> bool:
    """True where the function also calls what it was given, or what it changes: it runs once for each call."""
    given = set().union(*(_parameters(f) for f in (function, *around)))
    changed = {_root(w.owner) for w in _writes(function) if w.owner is not None} - {None}
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in given | changed
        for n in _own(function)
    )


def _parameters(function: Any) -> frozenset:
    args = function.args
    return frozenset(a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs])


def _root(node: Optional[ast.expr]) -> Optional[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _writes(function: ast.AST) -> Iterator[Write]:
    outer = {n for s in _own(function) if isinstance(s, ast.Global) for n in s.names}
    for node in _own(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _target(target, node, outer)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            yield from _target(node.target, node, outer)
        elif isinstance(node, ast.Call):
            yield from _call(node)


def _target(target: ast.expr, node: ast.AST, outer: set) -> Iterator[Write]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _target(part, node, outer)
    elif isinstance(target, ast.Attribute):
        yield Write(node, target.value, target.attr, True)
    elif isinstance(target, ast.Name) and target.id in outer:
        yield Write(node, None, target.id, True)
    elif isinstance(target, ast.Subscript):
        name = _of_globals(target.value)
        if name and isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
            yield Write(node, None, target.slice.value, True)
        else:
            yield from _held(target.value, node)


def _held(path: ast.expr, node: ast.AST) -> Iterator[Write]:
    if isinstance(path, ast.Attribute):
        yield Write(node, path.value, path.attr, False)
    elif isinstance(path, ast.Name):
        yield Write(node, None, path.id, False)


def _of_globals(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals"


def _call(node: ast.Call) -> Iterator[Write]:
    func, args = node.func, node.args
    if isinstance(func, ast.Name) and func.id == "setattr" and len(args) == 3:
        if isinstance(args[1], ast.Constant) and isinstance(args[1].value, str):
            yield Write(node, args[0], args[1].value, True)
    elif isinstance(func, ast.Attribute) and func.attr == "__setitem__" and _of_globals(func.value):
        if args and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str):
            yield Write(node, None, args[0].value, True)
    elif isinstance(func, ast.Attribute) and func.attr == "add_flags":
        for keyword in node.keywords:
            if keyword.arg is not None:
                yield Write(node, func.value, keyword.arg, True)
    elif isinstance(func, ast.Attribute) and func.attr in _GROWS:
        yield from _held(func.value, node)


def _read_of(write: Write, function: ast.AST, ctx: ModuleContext) -> Optional[ReadInGraph]:
    """The read in graph code that would make the change a fault, as far as names tell; None where none can."""
    module = ctx.module
    held, parameter = not write.whole, _new_parameter(write, module)
    if write.owner is None:
        symbol = module.lookup(write.name) if write.name not in local_names(function) else None
        if not isinstance(symbol, Assigned):
            return None
        return ReadInGraph((variable(symbol.module.name, symbol.name),), held=held, parameter=parameter)
    owner = module.lookup(write.owner.id) if isinstance(write.owner, ast.Name) else None
    variables: Tuple[str, ...] = ()
    if isinstance(owner, (ModuleRef, ClassInfo)):
        variables = (variable(owner.module.name, write.name),)
    if _root(write.owner) is None and not write.whole:
        return ReadInGraph(variables, held=held, parameter=parameter) if variables else None
    return ReadInGraph(variables, write.name, module.name, ctx.once(_named), held, parameter)


def _named(ctx: ModuleContext) -> Tuple[str, ...]:
    """The modules that the module names something of."""
    found = {getattr(ctx.module.lookup(name), "module", None) for name in ctx.module.order}
    return tuple(sorted(module.name for module in found if module is not None))
