"""GL317: what a compiled graph holds as a constant, changed by code outside the graph."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from graphlint.checkers.base import Findings, Found, ModuleContext, Rule, always
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Instance, local_names
from graphlint.graph_code.trace import FunctionTrace
from graphlint.graph_code.values import Value
from graphlint.lang import Text
from graphlint.project import Assigned, FunctionInfo, Module
from graphlint.tree import walk

_CALLBACK = re.compile(r"(on_)?((train|eval)_)?(step|epoch)_(begin|end)$")
_GROWS = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem __setitem__".split()
)
_HELD = (v.LIST, v.DICT, v.SET, v.CELL, v.EXTERNAL)
Name = Tuple[str, str]


@dataclass(frozen=True)
class Read:
    """A place in graph code that takes an attribute or a module's variable as a constant."""

    node: ast.AST
    trace: FunctionTrace
    value: Value


@dataclass(frozen=True)
class Write:
    """A change made in host code: of an attribute (`owner` is what holds it) or of a module's variable."""

    node: ast.AST
    owner: Optional[ast.expr]
    name: str
    whole: bool


class Reads:
    """What all graph code reads as constants: attributes by their names, variables by module and name."""

    def __init__(self, traces: Sequence[FunctionTrace]) -> None:
        self.attributes: Dict[str, List[Read]] = {}
        self.variables: Dict[Name, Read] = {}
        for trace in traces:
            own = local_names(trace.info.node)
            for node in walk(trace.info.node):
                if node in trace.values:
                    self._note(node, trace, own)

    def attribute(self, name: str, module: Module) -> Optional[Read]:
        """The first read of an attribute of that name in the module, or in one that it names something of."""
        found = self.attributes.get(name, [])
        near = [read for read in found if read.trace.info.module is module]
        if not near and found:
            named = {getattr(module.lookup(n), "module", None) for n in module.order}
            near = [read for read in found if read.trace.info.module in named]
        return near[0] if near else None

    def _note(self, node: ast.AST, trace: FunctionTrace, own: frozenset) -> None:
        value = trace.values[node]
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            base = trace.values.get(node.value, v.unknown)
            if isinstance(base.target, Instance) or base.kind == v.CLASS:
                self.attributes.setdefault(node.attr, []).append(Read(node, trace, value))
            elif base.kind == v.MODULE:
                self.variables.setdefault((base.target.name, node.attr), Read(node, trace, value))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
            symbol = trace.info.module.lookup(node.id)
            if isinstance(symbol, Assigned):
                self.variables.setdefault((symbol.module.name, symbol.name), Read(node, trace, value))


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
        reads: Optional[Reads] = None
        for function, around in _host_functions(ctx.module.tree, ctx):
            writes = list(_writes(function))
            if not writes or not (_calls_later(function, around) or _CALLBACK.match(_name(function))):
                continue
            reads = reads if reads is not None else ctx.shared(Reads)
            for write in writes:
                read = _read_of(write, function, reads, ctx.module)
                if read is not None and _counts(write, read, ctx.module):
                    yield self._found(write, read, _name(function))

    def _found(self, write: Write, read: Read, function: str) -> Found:
        text = f"{ast.unparse(write.owner)}.{write.name}" if write.owner is not None else write.name
        found = self.at(write.node, confidence=Confidence.MEDIUM, text=text, reader=read.trace.info.qualname)
        place = (read.trace.info.module.path, getattr(read.node, "lineno", 0))
        return replace(found, symbol=function, chain=read.trace.chain, via=(*read.trace.via, place))


def _counts(write: Write, read: Read, module: Module) -> bool:
    """False for what the graph does see: a Parameter given new data, an item of a Tensor."""
    if not write.whole:
        return read.value.kind in _HELD
    if read.value.parameter:
        value = getattr(write.node, "value", None)
        return isinstance(value, ast.Call) and module.dotted(value.func) == "mindspore.Parameter"
    return True


def _name(function: ast.AST) -> str:
    return getattr(function, "name", "<lambda>")


def _host_functions(tree: ast.AST, ctx: ModuleContext) -> Iterator[Tuple[ast.AST, Tuple[ast.AST, ...]]]:
    """The functions that run as Python, each with those around it; `__init__` runs before anything is compiled."""
    todo: List[Tuple[ast.AST, Tuple[ast.AST, ...]]] = [(tree, ())]
    while todo:
        node, around = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if child not in ctx.traces and child.name not in ("__init__", "construct"):
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
            todo.extend(ast.iter_child_nodes(node))


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


def _read_of(write: Write, function: ast.AST, reads: Reads, module: Module) -> Optional[Read]:
    """Where graph code reads what is changed here, as far as names tell."""
    if write.owner is not None:
        root = _root(write.owner)
        symbol = module.lookup(write.owner.id) if isinstance(write.owner, ast.Name) else None
        if (
            symbol is not None
            and hasattr(symbol, "module")
            and not isinstance(symbol, (Assigned, FunctionInfo))
        ):
            found = reads.variables.get((symbol.module.name, write.name))
            if found is not None:
                return found
        return reads.attribute(write.name, module) if root is not None or write.whole else None
    if write.name in local_names(function):
        return None
    symbol = module.lookup(write.name)
    return reads.variables.get((symbol.module.name, symbol.name)) if isinstance(symbol, Assigned) else None
