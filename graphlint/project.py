"""The project as its source tells it: modules, imports and classes, without importing anything."""

from __future__ import annotations

import ast
import builtins
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Callable, Dict, FrozenSet, Iterator, List, Optional, Sequence, Set, Tuple, Union

from graphlint.layout import Layout, absolute
from graphlint.tree import Syntax

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]

_CANONICAL_PREFIXES = (
    ("mindspore.ops.operations.", "mindspore.ops."),
    ("mindspore.ops.functional.", "mindspore.ops."),
    ("mindspore.ops.composite.", "mindspore.ops."),
    ("mindspore.ops.primitive.", "mindspore.ops."),
    ("mindspore.ops.function.", "mindspore.ops."),
    ("mindspore.common.initializer.", "mindspore.common.initializer."),
    ("mindspore.common.tensor.", "mindspore."),
    ("mindspore.common.parameter.", "mindspore."),
    ("mindspore.common.api.", "mindspore."),
    ("mindspore.common.jit_context.", "mindspore."),
    ("mindspore.common.dtype.", "mindspore."),
    ("mindspore.common.seed.", "mindspore."),
    ("mindspore.dtype.", "mindspore."),
    ("mindspore.common.mutable.", "mindspore."),
    ("mindspore.train.serialization.", "mindspore."),
    ("mindspore.context.", "mindspore.context."),
    ("mindspore.nn.cell.", "mindspore.nn."),
    ("mindspore.nn.layer.container.", "mindspore.nn."),
    ("mindspore.log.", "mindspore.log."),
)
_BUILTINS = frozenset(dir(builtins))
_CONTEXT_NAMES = {"set_context", "get_context", "set_auto_parallel_context", "get_auto_parallel_context"}


@lru_cache(maxsize=4096)
def canonical(dotted: str) -> str:
    """One spelling for a MindSpore name that has several (`mindspore.common.tensor.Tensor` is `mindspore.Tensor`)."""
    if not dotted.startswith("mindspore."):
        return dotted
    for long, short in _CANONICAL_PREFIXES:
        if dotted.startswith(long):
            return (
                short + dotted[len(long) :].rsplit(".", 1)[-1]
                if long.count(".") > 2
                else short + dotted[len(long) :]
            )
    if dotted.startswith("mindspore.common."):
        tail = dotted[len("mindspore.common.") :]
        return dotted if tail.startswith("initializer") else "mindspore." + tail
    if dotted.startswith(("mindspore.nn.layer.", "mindspore.nn.loss.")):
        return "mindspore.nn." + dotted.rsplit(".", 1)[-1]
    if dotted.startswith("mindspore.") and dotted.rsplit(".", 1)[-1] in _CONTEXT_NAMES:
        return "mindspore.context." + dotted.rsplit(".", 1)[-1]
    return dotted


@dataclass(frozen=True)
class External:
    """A name that the project doesn't define, in full: `mindspore.nn.Dense`, `numpy.sqrt`."""

    dotted: str


@dataclass(frozen=True)
class ModuleRef:
    """A module of the project."""

    module: Module


@dataclass(frozen=True)
class Assigned:
    """A module-level variable; `values` are the expressions bound to it, in order; `rebound` counts other writes."""

    module: Module
    name: str
    values: Tuple[ast.expr, ...]
    rebound: bool


@dataclass(eq=False)
class FunctionInfo:
    """A function or method of the project (or a nested function, once the interpreter meets it)."""

    node: FunctionNode
    module: Module
    qualname: str
    owner: Optional[ClassInfo] = None

    @property
    def name(self) -> str:
        return self.qualname.rsplit(".", 1)[-1]

    @property
    def decorators(self) -> Sequence[ast.expr]:
        return getattr(self.node, "decorator_list", ())

    def decorator_names(self) -> Tuple[str, ...]:
        """The decorators' full names as far as they resolve; calls stand for what they call."""
        return tuple(
            self.module.dotted(deco.func if isinstance(deco, ast.Call) else deco) or ""
            for deco in self.decorators
        )


@dataclass(frozen=True)
class Ancestry:
    """A class and its ancestors, the names of those outside the project, whether one is a Cell, and the trail."""

    line: Tuple[Union[ClassInfo, External], ...]
    external: Tuple[str, ...]
    cell: bool
    trail: FrozenSet[str]


@dataclass(eq=False)
class ClassInfo:
    """A class of the project, its own methods and class-level assignments."""

    node: ast.ClassDef
    module: Module
    qualname: str
    methods: Dict[str, FunctionInfo] = field(default_factory=dict)
    assigns: Dict[str, ast.expr] = field(default_factory=dict)
    _ancestry: Optional[Ancestry] = None

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def ancestry(self) -> Ancestry:
        """This class and its ancestors, worked out once."""
        project = self.module.project
        if self._ancestry is None:
            self._ancestry = Ancestry((self,), (), False, frozenset())
            with project.followed() as trail:
                line = self._line()
            external = tuple(c.dotted for c in line if isinstance(c, External))
            cell = any(is_cell_name(base) for base in external)
            self._ancestry = Ancestry(line, external, cell, frozenset(trail))
        project.trail.update(self._ancestry.trail)
        return self._ancestry

    def _line(self) -> Tuple[Union[ClassInfo, External], ...]:
        seen: List[Union[ClassInfo, External]] = [self]
        for base in self.node.bases:
            found = self.module.resolve(base)
            if isinstance(found, ClassInfo):
                seen.extend(c for c in found.mro if c not in seen)
            elif isinstance(found, External):
                seen.append(External(canonical(found.dotted)))
            elif isinstance(base, ast.Name) and base.id in _BUILTINS:
                seen.append(External(f"builtins.{base.id}"))
            else:
                seen.append(External("?" + ast.unparse(base)))
        return tuple(seen)

    @property
    def mro(self) -> Tuple[Union[ClassInfo, External], ...]:
        """This class and its ancestors, the nearest first (depth first, each once; External where not in the project)."""
        return self.ancestry.line

    def find(self, name: str) -> Optional[FunctionInfo]:
        """The method of that name as an instance would find it."""
        for cls in self.mro:
            if isinstance(cls, ClassInfo) and name in cls.methods:
                return cls.methods[name]
        return None

    def find_after(self, cls: ClassInfo, name: str) -> Optional[FunctionInfo]:
        """The method that `super(cls, self).name` means for an instance of this class."""
        line = list(self.mro)
        start = line.index(cls) + 1 if cls in line else 1
        for other in line[start:]:
            if isinstance(other, ClassInfo) and name in other.methods:
                return other.methods[name]
        return None

    @property
    def external_bases(self) -> Tuple[str, ...]:
        return self.ancestry.external

    @property
    def is_cell(self) -> bool:
        """True for a Cell subclass, also through bases in other files."""
        return self.ancestry.cell

    @property
    def looks_like_cell(self) -> bool:
        """True where no base is known for sure but the class reads like a Cell: it has `construct` and unknown bases."""
        if self.is_cell:
            return True
        unknown = [
            b for b in self.external_bases if not b.startswith(("object", "abc.", "typing.", "builtins."))
        ]
        return bool(unknown) and self.find("construct") is not None


def is_cell_name(dotted: str) -> bool:
    """True for a class of MindSpore's own that is a Cell: the classes of mindspore.nn and mindspore.mint.nn."""
    name = canonical(dotted)
    for prefix in ("mindspore.nn.", "mindspore.mint.nn."):
        if name.startswith(prefix):
            tail = name[len(prefix) :]
            return tail[:1].isupper() and "." not in tail and not tail.endswith(("LR", "Scheduler"))
    return False


Symbol = Union[External, ModuleRef, Assigned, FunctionInfo, ClassInfo]


class Module:
    """One parsed module: what its top level binds, and how a name in it resolves."""

    def __init__(
        self, name: str, path: str, syntax: Syntax, project: Project, is_package: bool = False
    ) -> None:
        self.name = name
        self.path = path
        self.syntax = syntax
        self.project = project
        self.is_package = is_package
        self.imports: Dict[str, str] = {}
        self.stars: List[str] = []
        self.functions: Dict[str, FunctionInfo] = {}
        self.classes: Dict[str, ClassInfo] = {}
        self.assigned: Dict[str, List[ast.expr]] = {}
        self.rebound: Set[str] = set()
        self.order: Dict[str, str] = {}
        self._cache: Dict[str, Tuple[Optional[Symbol], FrozenSet[str]]] = {}
        self._index(syntax.tree.body)

    @property
    def tree(self) -> ast.Module:
        return self.syntax.tree

    @property
    def nodes(self) -> List[ast.AST]:
        """All nodes of the module but operators, each before the ones within it."""
        return self.syntax.nodes

    @property
    def parents(self) -> Dict[ast.AST, ast.AST]:
        """The node around each node of the module."""
        return self.syntax.parents

    def __repr__(self) -> str:
        return f"Module({self.name!r})"

    def _index(self, body: Sequence[ast.stmt]) -> None:
        for stmt in body:
            if isinstance(stmt, ast.Import):
                for alias in stmt.names:
                    bound = alias.asname or alias.name.split(".")[0]
                    self._bind(bound, "import")
                    self.imports[bound] = alias.name if alias.asname else bound
            elif isinstance(stmt, ast.ImportFrom):
                base = self.absolute(stmt.module or "", stmt.level)
                for alias in stmt.names:
                    if alias.name == "*":
                        self.stars.append(base)
                    else:
                        bound = alias.asname or alias.name
                        self._bind(bound, "import")
                        self.imports[bound] = f"{base}.{alias.name}" if base else alias.name
            elif isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._bind(stmt.name, "function")
                self.functions[stmt.name] = FunctionInfo(stmt, self, stmt.name)
            elif isinstance(stmt, ast.ClassDef):
                self._bind(stmt.name, "class")
                self.classes[stmt.name] = self._class(stmt, stmt.name)
            elif isinstance(stmt, ast.Assign):
                for target in stmt.targets:
                    self._assign(target, stmt.value)
            elif isinstance(stmt, ast.AnnAssign) and stmt.value is not None:
                self._assign(stmt.target, stmt.value)
            elif isinstance(stmt, ast.AugAssign) and isinstance(stmt.target, ast.Name):
                self.rebound.add(stmt.target.id)
            else:
                for name in ("body", "orelse", "handlers", "finalbody"):
                    for inner in getattr(stmt, name, ()):
                        self._index(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])

    def _bind(self, name: str, kind: str) -> None:
        self.order[name] = kind

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, "assign")
            self.assigned.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            for i, inner in enumerate(target.elts):
                if len(parts) == len(target.elts):
                    self._assign(inner, parts[i])
                elif isinstance(inner, ast.Name):
                    self._bind(inner.id, "assign")
                    self.rebound.add(inner.id)

    def nested_class(self, node: ast.ClassDef, qualname: str) -> ClassInfo:
        """The ClassInfo of a class that stands inside a function."""
        return self._class(node, qualname)

    def _class(self, node: ast.ClassDef, qualname: str) -> ClassInfo:
        info = ClassInfo(node, self, qualname)
        self._class_body(node.body, info)
        return info

    def _class_body(self, body: Sequence[ast.stmt], info: ClassInfo) -> None:
        for stmt in body:
            if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = stmt.name
                setter = any(
                    isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter")
                    for d in stmt.decorator_list
                )
                key = f"{name}.setter" if setter else name
                info.methods[key] = FunctionInfo(stmt, self, f"{info.qualname}.{name}", info)
            elif isinstance(stmt, ast.Assign):
                for target in stmt.targets:
                    if isinstance(target, ast.Name):
                        info.assigns[target.id] = stmt.value
            elif (
                isinstance(stmt, ast.AnnAssign)
                and isinstance(stmt.target, ast.Name)
                and stmt.value is not None
            ):
                info.assigns[stmt.target.id] = stmt.value
            elif isinstance(stmt, (ast.If, ast.Try, ast.With)):
                self._class_body(stmt.body, info)

    def absolute(self, name: str, level: int) -> str:
        """The absolute module name that `from <level dots><name> import` means here."""
        return absolute(name, level, self.name, self.is_package)

    def lookup(self, name: str) -> Optional[Symbol]:
        """What a module-level name means, through imports and re-exports; None where nothing binds it."""
        project = self.project
        known = self._cache.get(name)
        if known is not None:
            project.trail.update(known[1])
            return known[0]
        step = (self.name, name)
        if step in project.resolving:
            project.circular = True
            return None
        project.resolving.add(step)
        try:
            with project.followed() as trail:
                found = self._lookup(name)
        finally:
            project.resolving.discard(step)
        if not project.resolving:
            project.circular = False
        if not project.circular:
            self._cache[name] = found, frozenset(trail)
        project.trail.update(trail)
        return found

    def _lookup(self, name: str) -> Optional[Symbol]:
        kind = self.order.get(name)
        if kind == "import":
            return self.project.resolve_dotted(self.imports[name], self)
        if kind == "function":
            return self.functions[name]
        if kind == "class":
            return self.classes[name]
        if kind == "assign":
            return Assigned(self, name, tuple(self.assigned.get(name, ())), name in self.rebound)
        for base in self.stars:
            found = self.project.star(base, name, self)
            if found is not None:
                return found
        return None

    def dotted(self, expr: ast.expr) -> Optional[str]:
        """The full name of a dotted expression that leaves the project: `nn.Dense` is `mindspore.nn.Dense`."""
        found = self.resolve(expr)
        if isinstance(found, External):
            return canonical(found.dotted)
        return None

    def resolve(self, expr: ast.expr) -> Optional[Symbol]:
        """What a dotted expression means at this module's top level; None where it isn't a plain name."""
        if isinstance(expr, ast.Name):
            return self.lookup(expr.id)
        if isinstance(expr, ast.Attribute):
            return self.attribute(self.resolve(expr.value), expr.attr)
        return None

    def attribute(self, base: Optional[Symbol], attr: str) -> Optional[Symbol]:
        """What `base.attr` means for a module, a class or an external name."""
        if isinstance(base, External):
            return External(f"{base.dotted}.{attr}")
        if isinstance(base, ModuleRef):
            return base.module.lookup(attr) or self.project.submodule(base.module, attr)
        if isinstance(base, ClassInfo):
            return base.find(attr)
        return None


class Project:
    """All modules under one root; each is parsed when first asked for.

    `load` turns a path into a parsed file (None where it can't be read), `mentions` gives the modules whose text
    holds a regular expression (MULTILINE). `trail` collects what answers rested on, so that they can be kept as
    long as that stays: see `followed`.
    """

    def __init__(
        self,
        layout: Layout,
        load: Callable[[str], Optional[Syntax]],
        mentions: Callable[[bytes], Tuple[str, ...]] = lambda pattern: (),
    ) -> None:
        self.layout = layout
        self.trail: Set[str] = set()
        self.resolving: Set[Tuple[str, str]] = set()
        """The (module, name) of each lookup under way."""
        self.circular = False
        """True once one of them met itself: until the outermost ends, answers are in part only."""
        self._load = load
        self._mentions = mentions
        self._modules: Dict[str, Optional[Module]] = {}

    @contextmanager
    def followed(self) -> Iterator[Set[str]]:
        """Collects the trail of what is asked inside: `=name` for a module read, `?name@near` for one sought,
        `~pattern` for a search of all text."""
        outer = self.trail
        trail: Set[str] = set()
        self.trail = trail
        try:
            yield trail
        finally:
            self.trail = outer

    def module(self, name: str) -> Optional[Module]:
        """The module of that dotted name, or None where the project has none or it can't be parsed."""
        self.trail.add("=" + name)
        if name in self._modules:
            return self._modules[name]
        path = self.layout.files.get(name)
        if path is None:
            return None
        syntax = self._load(path)
        is_package = self.layout.is_package(name)
        self._modules[name] = None if syntax is None else Module(name, path, syntax, self, is_package)
        return self._modules[name]

    def mentions(self, pattern: bytes) -> Tuple[str, ...]:
        """The modules whose text holds the regular expression (MULTILINE), in order of their names."""
        self.trail.add("~" + pattern.decode("latin-1"))
        return self._mentions(pattern)

    def path(self, name: str) -> str:
        """The path of the module of that dotted name."""
        return self.layout.files[name]

    def _find(self, name: str, near: Module) -> Optional[str]:
        self.trail.add(f"?{name}@{near.name}")
        return self.layout.find(name, near.name)

    def submodule(self, module: Module, attr: str) -> Optional[Symbol]:
        found = self.module(f"{module.name}.{attr}") if module.is_package else None
        return ModuleRef(found) if found is not None else None

    def resolve_dotted(self, dotted: str, near: Module) -> Symbol:
        """What an imported dotted name means: the longest part that is a module of the project, then attributes."""
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            name = self._find(".".join(parts[:cut]), near)
            if name is None or name == near.name and cut == len(parts) and not near.is_package:
                continue
            module = self.module(name)
            if module is None:
                continue
            found: Optional[Symbol] = ModuleRef(module)
            for attr in parts[cut:]:
                found = near.attribute(found, attr)
            if found is not None:
                return found
            break
        return External(dotted)

    def star(self, base: str, name: str, near: Module) -> Optional[Symbol]:
        """What `name` means if it comes from `from base import *`; None where that module doesn't export it."""
        found = self._find(base, near)
        module = self.module(found) if found is not None else None
        if module is not None:
            return None if name.startswith("_") else module.lookup(name)
        if base == "mindspore" or base.startswith("mindspore."):
            from graphlint.knowledge import names

            if name in names.star_names(base):
                return External(f"{base}.{name}")
        return None

    def walk_classes(self, module: Module) -> Iterator[ClassInfo]:
        """The module's top-level classes in order of their lines."""
        return iter(sorted(module.classes.values(), key=lambda c: c.node.lineno))
