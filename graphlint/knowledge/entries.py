"""The tables as objects: Api, ApiEntry, CompilerTables. They read the rows that scripts/read_api.py
writes."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Dict, FrozenSet, Iterator, List, Mapping, NamedTuple, Optional, Tuple

KINDS = {
    "c": "cell",
    "o": "optimizer",
    "l": "loss",
    "p": "primitive",
    "i": "primitive-instance",
    "f": "function",
    "m": "method",
    "r": "property",
    "s": "staticmethod",
    "k": "classmethod",
    "t": "class",
    "x": "exception",
    "d": "dtype",
    "M": "module",
    "v": "value",
}
CELL_KINDS = frozenset(("cell", "optimizer", "loss"))
_BASES = {
    "cell": "mindspore.nn.Cell",
    "optimizer": "mindspore.nn.Optimizer",
    "loss": "mindspore.nn.LossBase",
    "primitive": "mindspore.ops.Primitive",
}


class Parameter(NamedTuple):
    """One parameter. `kind` is `positional-only`, `positional`, `*`, `keyword` or `**`; `default` is source
    text."""

    name: str
    default: Optional[str]
    kind: str


class Deprecation(NamedTuple):
    """`when`: `now` or `soon` (announced). `replacement` and `since` where the package tells them."""

    when: str
    replacement: Optional[str]
    since: Optional[str]


@lru_cache(maxsize=None)
def parse_parameters(text: str) -> Tuple[Parameter, ...]:
    """`"a, *, b=1"` as parameters."""
    function = ast.parse("def f(%s): pass" % text).body[0]
    assert isinstance(function, ast.FunctionDef)
    args = function.args
    found: List[Parameter] = []
    positional = [(a, "positional-only") for a in args.posonlyargs] + [(a, "positional") for a in args.args]
    missing: List[Optional[ast.expr]] = [None] * (len(positional) - len(args.defaults))
    defaults = missing + list(args.defaults)
    for (argument, kind), default in zip(positional, defaults):
        found.append(Parameter(argument.arg, _source(text, default), kind))
    if args.vararg:
        found.append(Parameter(args.vararg.arg, None, "*"))
    for argument, default in zip(args.kwonlyargs, args.kw_defaults):
        found.append(Parameter(argument.arg, _source(text, default), "keyword"))
    if args.kwarg:
        found.append(Parameter(args.kwarg.arg, None, "**"))
    return tuple(found)


def _source(text: str, node: Optional[ast.expr]) -> Optional[str]:
    if node is None:
        return None
    start = len("def f(")
    return text[node.col_offset - start : (node.end_col_offset or 0) - start]


@dataclass(frozen=True)
class ApiEntry:
    """One public name of one version. `name` is its own path, also when an alias was asked for.

    `signatures`: the parameter lists that the package shows; several for overloads, none where it doesn't
    tell.
    `platforms`: as documented (`("Ascend", "GPU", "CPU")`), None where the package says nothing.
    `forbidden`: the compiler refuses it in graph code by its own list. `construct`: the parameters of a
    Cell's construct.
    `keywords`: what the docstring lists under Args for a function that takes `**kwargs`.
    """

    name: str
    kind: str
    signatures: Tuple[Tuple[Parameter, ...], ...] = ()
    platforms: Optional[Tuple[str, ...]] = None
    deprecated: Optional[Deprecation] = None
    deprecated_params: Mapping[str, Optional[str]] = field(default_factory=dict)
    forbidden: bool = False
    inplace: bool = False
    experimental: bool = False
    base: Optional[str] = None
    construct: Optional[Tuple[Parameter, ...]] = None
    keywords: Tuple[str, ...] = ()

    @property
    def params(self) -> Tuple[Parameter, ...]:
        """The first parameter list; empty where none is known (see `signatures`)."""
        return self.signatures[0] if self.signatures else ()

    def param(self, name: str) -> Optional[Parameter]:
        """The parameter of that name in any of the lists."""
        return next((p for params in self.signatures for p in params if p.name == name), None)

    @property
    def closed(self) -> bool:
        """True where the parameter lists are known and none of them takes `**kwargs`."""
        return bool(self.signatures) and all(p.kind != "**" for params in self.signatures for p in params)

    def accepts(self, name: str) -> bool:
        """False only where the parameters are known and none is called `name`."""
        if self.param(name) is not None or name in self.keywords:
            return True
        return not self.closed

    @property
    def is_cell(self) -> bool:
        return self.kind in CELL_KINDS

    def runs_on(self, device: str) -> Optional[bool]:
        """Whether the documentation lists `device`; None where it says nothing."""
        return None if self.platforms is None else device in self.platforms


class Api:
    """All public names of one version."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.mindspore: str = table["mindspore"]
        self._platforms: List[Tuple[str, ...]] = [tuple(p.split()) for p in table["platforms"]]
        self._names: Dict[str, Dict[str, Any]] = table["names"]
        self._other: Dict[str, str] = table["other"]
        self._modules: Dict[str, str] = table["modules"]
        self._aliases: Dict[str, Dict[str, str]] = {
            ns: {name: source + "." + name for source, same in groups.items() for name in same.split()}
            for ns, groups in table["aliases"].items()
        }
        self._entries: Dict[str, Optional[ApiEntry]] = {}

    def namespaces(self) -> Tuple[str, ...]:
        """The modules and classes whose names are listed in full."""
        return tuple(self._names)

    def knows(self, namespace: str) -> bool:
        """True where every public name of that module is listed, so that a missing one is really missing."""
        return namespace in self._names and self._class(namespace) is None

    def names(self, namespace: str) -> FrozenSet[str]:
        """Every public name of a module, or of a class without its bases' names."""
        listed = set(self._names.get(namespace, ())) | set(self._aliases.get(namespace, ()))
        return frozenset(listed | set(self._other.get(namespace, "").split()))

    def star_names(self, namespace: str = "mindspore") -> FrozenSet[str]:
        """What `from NAMESPACE import *` brings."""
        listed = set(self._names.get(namespace, ())) | set(self._aliases.get(namespace, ()))
        return frozenset(listed - set(self._other.get(namespace, "").split()))

    def has_module(self, path: str) -> bool:
        """Whether `import PATH` finds a module; parts with a leading underscore are not listed and count as
        found."""
        if path == "mindspore" or (path in self._names and self._class(path) is None):
            return True
        parent, _, last = path.rpartition(".")
        return last.startswith("_") or "._" in path or last in self._modules.get(parent, "").split()

    def resolve(self, name: str) -> str:
        """The own path of a name: aliases followed (`mindspore.ops.operations.MatMul` →
        `mindspore.ops.MatMul`)."""
        for _ in range(6):
            parent, _, last = name.rpartition(".")
            row = self._names.get(parent, {}).get(last)
            if isinstance(row, str) and row.startswith("="):
                name = row[1:]
            elif row is None and last in self._aliases.get(parent, {}):
                name = self._aliases[parent][last]
            elif row is None and parent and parent not in self._names:
                above = self.resolve(parent)
                if above == parent:
                    return name
                name = above + "." + last
            else:
                return name
        return name

    def _class(self, path: str) -> Optional[ApiEntry]:
        parent, _, last = path.rpartition(".")
        row = self._names.get(parent, {}).get(last)
        if row is None or row == "M" or (isinstance(row, str) and row.startswith("=")):
            return None
        return self._own(path)

    def _own(self, path: str) -> Optional[ApiEntry]:
        """The entry that stands under exactly this path."""
        if path not in self._entries:
            parent, _, last = path.rpartition(".")
            row = self._names.get(parent, {}).get(last)
            self._entries[path] = None if row is None else self._entry(path, row)
        return self._entries[path]

    def _entry(self, path: str, row: Any) -> ApiEntry:
        if isinstance(row, str):
            row = [row]
        code, signature, index, extras = (list(row) + [None, -1, {}][len(row) - 1 :])[:4]
        kind = KINDS[code]
        lists = [signature] if isinstance(signature, str) else signature or []
        deprecated = extras.get("d")
        return ApiEntry(
            path,
            kind,
            tuple(parse_parameters(text) for text in lists),
            self._platforms[index] if index >= 0 else None,
            Deprecation(*([*deprecated, None, None])[:3]) if deprecated else None,
            extras.get("dp", {}),
            bool(extras.get("f")),
            bool(extras.get("i")),
            bool(extras.get("e")),
            extras.get("b") or (_BASES.get(kind) if _BASES.get(kind) != path else None),
            parse_parameters(extras["c"]) if "c" in extras else None,
            tuple(extras.get("k", "").split()),
        )

    def get(self, name: str) -> Optional[ApiEntry]:
        """The entry of a name such as `mindspore.nn.Conv2d` or `mindspore.Tensor.add`; methods also through
        bases.

        None where the name doesn't exist or only its existence is known (see `has`).
        """
        path = self.resolve(name)
        found = self._own(path)
        if found is not None:
            return found
        parent, _, last = path.rpartition(".")
        owner = self._own(parent) if parent else None
        for _ in range(8):
            if owner is None or owner.base is None:
                return None
            found = self._own(owner.base + "." + last)
            if found is not None:
                return found
            owner = self._own(self.resolve(owner.base))
        return None

    def has(self, name: str) -> bool:
        """False only where the name is certainly missing: its module (or Tensor) is listed in full and lacks
        it."""
        path = self.resolve(name)
        parent, _, last = path.rpartition(".")
        if not parent or self.get(path) is not None or self.has_module(path):
            return True
        if last.startswith("_") or last in self._other.get(parent, "").split():
            return True
        if parent == "mindspore.Tensor" or self.knows(parent):
            return False
        return self.has(parent)

    def nearest(self, name: str) -> Optional[str]:
        """An existing name close to a missing one: the same last part elsewhere, another case, a near
        spelling."""
        parent, _, last = self.resolve(name).rpartition(".")
        here = self.names(parent)
        for candidate in sorted(here):
            if candidate.lower() == last.lower() and candidate != last:
                return parent + "." + candidate
        for space in self._names:
            row = self._names[space].get(last)
            if row is not None and space != parent and self._class(space) is None:
                return self.resolve(space + "." + last)
        listed = sorted(here - set(self._other.get(parent, "").split()))
        close = difflib.get_close_matches(last, listed, n=1, cutoff=0.75)
        return parent + "." + close[0] if close else None

    def is_cell_class(self, name: str) -> bool:
        """Whether the name is a Cell class (layers, losses, optimizers)."""
        found = self.get(name)
        return found is not None and found.is_cell

    def tensor_method(self, name: str) -> Optional[ApiEntry]:
        """The method or property `name` of a Tensor."""
        return self.get("mindspore.Tensor." + name)

    def entries(self) -> Iterator[ApiEntry]:
        """Every entry under its own path, in the table's order."""
        for space, rows in self._names.items():
            for name, row in rows.items():
                if not (isinstance(row, str) and row.startswith("=")):
                    found = self._own(space + "." + name)
                    if found is not None:
                        yield found

    def forbidden_names(self) -> FrozenSet[str]:
        """Own paths of everything that the compiler refuses by its own list."""
        return frozenset(e.name for e in self.entries() if e.forbidden)


class CompilerTables:
    """The graph compiler's own lists in one version.

    `statements` and `expressions`: AST node name → `ok`, `unwritable` (the measuring Python had no such
    node) or the refusal in the parser's words. `write_back`: methods that, called as a bare statement, write
    back to their object.
    `convert_object_map`: Python callables that become graph operations. `tensor_attributes`: attributes of a
    Tensor that the graph has itself; `tensor_fallback`: the others, left to Python under lax and refused
    under strict (2.0 has no strict level: there only what fails is listed). `exceptions`: what `raise` takes.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.mindspore: str = table["mindspore"]
        self.statements: Mapping[str, str] = table["statements"]
        self.expressions: Mapping[str, str] = table["expressions"]
        self.exceptions: FrozenSet[str] = frozenset(table["exceptions"])
        self.write_back: FrozenSet[str] = frozenset(table["write_back"])
        self.unsupported_builtin_types: FrozenSet[str] = frozenset(table["unsupported_builtin_types"])
        self.fallback_unsupported_builtins: FrozenSet[str] = frozenset(table["fallback_unsupported_builtins"])
        self.convert_object_map: Mapping[str, str] = table["convert_object_map"]
        self.constant_fold: FrozenSet[str] = frozenset(table["constant_fold"])
        self.class_to_function: FrozenSet[str] = frozenset(table["class_to_function"])
        self.binary_operators: FrozenSet[str] = frozenset(table["binary_operators"])
        self.standard_methods: FrozenSet[str] = frozenset(table["standard_methods"])
        self.tensor_attributes: FrozenSet[str] = frozenset(table["tensor_attributes"])
        self.tensor_fallback: FrozenSet[str] = frozenset(table["tensor_fallback"])
        self.forbidden_methods: FrozenSet[str] = frozenset(table["forbidden_methods"])
        self.forbidden_modules: FrozenSet[str] = frozenset(table["forbidden_modules"])
        self.third_party_modules: FrozenSet[str] = frozenset(table["third_party_modules"])
        self.third_party_side_effects: Mapping[str, List[str]] = table["third_party_side_effects"]

    @property
    def graph_builtins(self) -> FrozenSet[str]:
        """Python builtins that become graph operations (`len`, `print`, …)."""
        return frozenset(n.split(".", 1)[1] for n in self.convert_object_map if n.startswith("builtins."))

    def refuses_statement(self, node: str) -> Optional[str]:
        """The parser's refusal of a statement node, None where it takes it. An unknown node is refused."""
        return _refusal(self.statements, node, "Unsupported statement '%s'." % node)

    def refuses_expression(self, node: str) -> Optional[str]:
        """The parser's refusal of an expression node, None where it takes it."""
        return _refusal(self.expressions, node, "Unsupported expression '%s'." % node)


def _refusal(table: Mapping[str, str], node: str, words: str) -> Optional[str]:
    said = table.get(node, "unwritable")
    if said == "ok":
        return None
    return words if said == "unwritable" else said
