"""Walks over syntax trees, faster than the standard library's, and facts about a function that one walk gives."""

from __future__ import annotations

import ast
from typing import Dict, FrozenSet, List, Optional, Set, Tuple

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FACTS = "_graphlint_facts"


_PLAIN = frozenset(
    "ctx op ops kind type_comment id attr arg asname names level module kwd_attrs rest conversion "
    "is_async simple".split()
)
"""Fields that hold operators, words and numbers. (`names` of an import is the one exception.)"""


def _fields() -> Dict[type, Tuple[str, ...]]:
    """For each node class, the fields that hold nodes."""
    found: Dict[type, Tuple[str, ...]] = {
        kind: tuple(name for name in kind._fields if name not in _PLAIN)
        for kind in vars(ast).values()
        if isinstance(kind, type) and issubclass(kind, ast.AST)
    }
    found[ast.Constant] = ()
    found[ast.Import] = found[ast.ImportFrom] = ("names",)
    return found


FIELDS = _fields()


def children(node: ast.AST) -> List[ast.AST]:
    """The nodes directly within a node, operators and `ctx` aside."""
    found: List[ast.AST] = []
    for name in FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            for item in value:
                if isinstance(item, ast.AST):
                    found.append(item)
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> List[ast.AST]:
    """The node and all nodes within it but operators, each before its own; the order of `ast.walk`."""
    nodes = [node]
    append = nodes.append
    fields = FIELDS
    for current in nodes:
        for name in fields[current.__class__]:
            value = getattr(current, name, None)
            if value.__class__ is list:
                for item in value:
                    if isinstance(item, ast.AST):
                        append(item)
            elif isinstance(value, ast.AST):
                append(value)
    return nodes


class Syntax:
    """One parsed file, whatever project reads it: its tree, all its nodes and what stands around each."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._nodes: Optional[List[ast.AST]] = None
        self._parents: Dict[ast.AST, ast.AST] = {}
        self._alone: Optional[Set[ast.AST]] = None

    @property
    def nodes(self) -> List[ast.AST]:
        """All nodes but operators, each before the ones within it; walked once."""
        if self._nodes is None:
            nodes: List[ast.AST] = [self.tree]
            self._nodes = nodes
            append, parents, fields = nodes.append, self._parents, FIELDS
            for node in nodes:
                for name in fields[node.__class__]:
                    value = getattr(node, name, None)
                    if value.__class__ is list:
                        for item in value:
                            if isinstance(item, ast.AST):
                                append(item)
                                parents[item] = node
                    elif isinstance(value, ast.AST):
                        append(value)
                        parents[value] = node
        return self._nodes

    @property
    def parents(self) -> Dict[ast.AST, ast.AST]:
        """The node around each node."""
        self.nodes  # noqa: B018
        return self._parents

    def alone(self, node: ast.Lambda) -> bool:
        """True for a lambda that is all of the right side of an assignment, the only one on its lines."""
        if self._alone is None:
            self._alone = set()
            for stmt in self.nodes:
                if isinstance(stmt, (ast.Assign, ast.AnnAssign)) and isinstance(stmt.value, ast.Lambda):
                    self._alone.add(stmt.value)
        return node in self._alone


class FunctionFacts:
    """What one walk over a function tells.

    `local_names`: the names it binds itself; `reads`: those that it or a function within it reads; `generator`: True
    where its own body yields; `attributes`: for each name, the attributes read from it; `stores`: names stored
    anywhere within.
    """

    __slots__ = ("attributes", "generator", "local_names", "reads", "stores")

    def __init__(self, node: ast.AST) -> None:
        reads: Set[str] = set()
        stores: Set[str] = set()
        self.attributes: dict = {}
        for inner in walk(node):
            if isinstance(inner, ast.Name):
                (reads if isinstance(inner.ctx, ast.Load) else stores).add(inner.id)
            elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                self.attributes.setdefault(inner.value.id, set()).add(inner.attr)
        self.reads: FrozenSet[str] = frozenset(reads)
        self.stores: FrozenSet[str] = frozenset(stores)
        self.generator = False
        self.local_names: FrozenSet[str] = self._own(node)

    def _own(self, function: ast.AST) -> FrozenSet[str]:
        names: Set[str] = set()
        outer: Set[str] = set()
        spec = getattr(function, "args", None)
        if isinstance(spec, ast.arguments):
            names.update(a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))
            names.update(a.arg for a in (spec.vararg, spec.kwarg) if a is not None)
        body = getattr(function, "body", None)
        todo: List[ast.AST] = list(body) if isinstance(body, list) else []
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    names.add(node.id)
                continue
            if isinstance(node, _SCOPES):
                if not isinstance(node, ast.Lambda):
                    names.add(node.name)
                continue
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                self.generator = True
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                outer.update(node.names)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names.update((a.asname or a.name).split(".")[0] for a in node.names)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                names.add(node.name)
            elif isinstance(node, _COMPREHENSIONS):
                todo.append(node.generators[0].iter)
                continue
            todo.extend(children(node))
        return frozenset(names - outer)


def facts(node: ast.AST) -> FunctionFacts:
    """The facts of a function, kept with its node."""
    found = getattr(node, _FACTS, None)
    if found is None:
        found = FunctionFacts(node)
        setattr(node, _FACTS, found)
    return found
