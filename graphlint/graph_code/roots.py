"""Where graph code begins in a module: constructs, jitted functions, functions handed to jit."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Iterator, List, Optional, Set, Tuple

from graphlint.project import ClassInfo, FunctionInfo, Module
from graphlint.tree import walk

JIT = ("mindspore.jit", "mindspore.ms_function", "mindspore.common.api.jit")
_TRANSFORMS = frozenset(
    f"mindspore.{place}{name}"
    for place in ("", "ops.")
    for name in ("grad", "value_and_grad", "vmap", "jvp", "vjp")
)
_OTHER_CAPTURE = ("bytecode", "trace", "PIJit")


@dataclass(frozen=True, eq=False)
class Root:
    """A function that MindSpore compiles as the top of a graph; `cls` for a method of a fresh instance."""

    info: FunctionInfo
    cls: Optional[ClassInfo] = None


def roots_of(module: Module) -> Iterator[Root]:
    """The module's roots in order of their lines, each once."""
    seen: Set[Tuple[ast.AST, Optional[ClassInfo]]] = set()
    found: List[Root] = []
    for cls in _classes(module):
        found.extend(_class_roots(cls))
    for info in module.functions.values():
        if any(is_jit(d, module) for d in info.decorators):
            found.append(Root(info))
    for node in module.nodes:
        if not (isinstance(node, ast.Call) and (node.args or node.keywords)):
            continue
        handed = _handed_to_jit(node, module)
        if handed is not None:
            found.append(Root(handed))
    declared = _declared_function(module)
    if declared is not None:
        found.append(Root(declared))
    for root in sorted(
        found, key=lambda r: (r.cls.node.lineno if r.cls else r.info.node.lineno, r.info.node.lineno)
    ):
        key = (root.info.node, root.cls)
        if key not in seen:
            seen.add(key)
            yield root


def _classes(module: Module) -> Iterator[ClassInfo]:
    """Top-level classes and those that functions make."""
    known = {info.node for info in module.classes.values()}
    yield from module.classes.values()
    for node in module.nodes:
        if isinstance(node, ast.ClassDef) and node not in known:
            around = module.parents.get(node)
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield module.nested_class(node, f"{around.name}.{node.name}")


def _class_roots(cls: ClassInfo) -> Iterator[Root]:
    if cls.looks_like_cell:
        construct = cls.find("construct")
        if construct is not None and (
            construct.owner is cls or _differs_from_base(cls) or _asks_super(construct)
        ):
            yield Root(construct, cls)
    for method in cls.methods.values():
        if any(is_jit(d, cls.module) for d in method.decorators):
            yield Root(method, cls)


def _differs_from_base(cls: ClassInfo) -> bool:
    """True where a subclass without a construct of its own may still change what its base's construct does."""
    return bool(cls.methods or cls.assigns)


def _asks_super(construct: FunctionInfo) -> bool:
    """True for a construct with a bare `super()`, which means something else in a subclass that inherits it."""
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "super" and not n.args
        for n in walk(construct.node)
    )


def is_jit(decorator: ast.expr, module: Module) -> bool:
    """True for a decorator or callee that compiles a function as a graph from its source."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    if module.dotted(target) not in JIT:
        return False
    if isinstance(decorator, ast.Call):
        for keyword in decorator.keywords:
            if keyword.arg in ("capture_mode", "mode") and isinstance(keyword.value, ast.Constant):
                return keyword.value.value not in _OTHER_CAPTURE
    return True


def _handed_to_jit(node: ast.Call, module: Module) -> Optional[FunctionInfo]:
    if not is_jit(node, module):
        return None
    given = (
        node.args[0]
        if node.args
        else next((k.value for k in node.keywords if k.arg in ("fn", "function")), None)
    )
    while isinstance(given, ast.Call) and given.args and module.dotted(given.func) in _TRANSFORMS:
        given = given.args[0]
    if isinstance(given, ast.Lambda):
        return FunctionInfo(given, module, "<lambda>")
    found = module.resolve(given) if given is not None else None
    return found if isinstance(found, FunctionInfo) else None


def _declared_function(module: Module) -> Optional[FunctionInfo]:
    """The function `fn` of a case module: one that declares INPUTS (or CALLS) for it, see tests/fixtures/README.md."""
    if "INPUTS" in module.order or "CALLS" in module.order:
        found = module.lookup("fn")
        if isinstance(found, FunctionInfo):
            return found
    return None
