"""Names that the parser finds unbound on a path, whatever the condition turns out to be.

The parser makes a function of each branch and of what follows it; a name that only one branch binds, or only the body
of a loop, has no value in the other ("The local variable 'y' is not defined in false branch"). That holds for any
condition but those that the parser decides itself (measured on 2.7.0 and 2.10.0).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, Optional, Sequence, Set

from graphlint.graph_code.frames import local_names
from graphlint.tree import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(eq=False)
class Unbound:
    """A name read where one path left it without a value: where it parts, and the read."""

    name: str
    node: ast.stmt
    read: ast.AST
    loop: bool


@dataclass
class _State:
    bound: Set[str]
    maybe: Dict[str, ast.stmt]

    def copy(self) -> _State:
        return _State(set(self.bound), dict(self.maybe))


class Binding:
    """Walks one function; `decide` says what the parser makes of a condition (None: it parses both branches;
    another word: one of them, we can't say which)."""

    def __init__(self, function: ast.AST, decide: Callable[[ast.expr], Any]) -> None:
        self.function = function
        self.decide = decide
        self.locals: FrozenSet[str] = local_names(function)
        self.found: List[Unbound] = []
        self._told: Set[str] = set()

    def run(self) -> List[Unbound]:
        """All such reads, the first of each name."""
        body = getattr(self.function, "body", None)
        if isinstance(body, list):
            spec = self.function.args  # type: ignore[attr-defined]
            names = {a.arg for a in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]}
            names.update(a.arg for a in (spec.vararg, spec.kwarg) if a is not None)
            self._block(body, _State(names, {}))
        return self.found

    def _block(self, body: Sequence[ast.stmt], state: Optional[_State]) -> Optional[_State]:
        for stmt in body:
            if state is None:
                return None
            state = self._stmt(stmt, state)
        return state

    def _stmt(self, stmt: ast.stmt, state: _State) -> Optional[_State]:
        if isinstance(stmt, ast.If):
            return self._if(stmt, state)
        if isinstance(stmt, (ast.For, ast.AsyncFor)):
            self._reads([stmt.iter], state)
            return self._loop(stmt, state, _targets(stmt.target))
        if isinstance(stmt, ast.While):
            self._reads([stmt.test], state)
            return self._loop(stmt, state, set())
        if isinstance(stmt, (ast.With, ast.AsyncWith)):
            for item in stmt.items:
                self._reads([item.context_expr], state)
                if item.optional_vars is not None:
                    self._bind(_targets(item.optional_vars), state)
            return self._block(stmt.body, state)
        if isinstance(stmt, (ast.Return, ast.Raise)):
            self._reads([stmt], state)
            return None
        if isinstance(stmt, (ast.Break, ast.Continue)):
            return None
        if isinstance(stmt, (ast.Try, ast.ClassDef)) or type(stmt).__name__ in ("Match", "TryStar"):
            self._bind(
                {n.id for n in walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}, state
            )
            return state
        self._reads([stmt], state)
        self._bind(_bound_by(stmt), state)
        return state

    def _if(self, stmt: ast.If, state: _State) -> Optional[_State]:
        self._reads([stmt.test], state)
        decided = self.decide(stmt.test)
        if isinstance(decided, bool):
            return self._block(stmt.body if decided else stmt.orelse, state)
        then = self._block(stmt.body, state.copy())
        other = self._block(stmt.orelse, state.copy())
        if then is None or other is None:
            return other if then is None else then
        if decided is not None:
            return _State(then.bound | other.bound, {**then.maybe, **other.maybe})
        merged = _State(then.bound & other.bound, {**then.maybe, **other.maybe})
        for name in then.bound ^ other.bound:
            merged.maybe.setdefault(name, stmt)
        return merged

    def _loop(self, stmt: ast.stmt, state: _State, targets: Set[str]) -> _State:
        inside = state.copy()
        self._bind(targets, inside)
        after = self._block(stmt.body, inside)  # type: ignore[attr-defined]
        for name in (after.bound if after is not None else inside.bound) - state.bound:
            state.maybe.setdefault(name, stmt)
        return state

    def _bind(self, names: Iterable[str], state: _State) -> None:
        for name in names:
            state.bound.add(name)
            state.maybe.pop(name, None)

    def _reads(self, nodes: Iterable[ast.AST], state: _State) -> None:
        todo: List[ast.AST] = list(nodes)
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    self._read(node.id, node, state)
                continue
            if isinstance(node, _FUNCTIONS):
                own = local_names(node)
                free = {
                    n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
                } - own
                for name in sorted(free):
                    self._read(name, node, state)
                continue
            if isinstance(node, _COMPREHENSIONS):
                own_names = {t for g in node.generators for t in _targets(g.target)}
                free = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
                for name in sorted(free - own_names):
                    self._read(name, node, state)
                continue
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self._read(node.target.id, node, state)
            todo.extend(ast.iter_child_nodes(node))

    def _read(self, name: str, node: ast.AST, state: _State) -> None:
        where = state.maybe.get(name)
        if where is not None and name not in state.bound and name in self.locals and name not in self._told:
            self._told.add(name)
            self.found.append(Unbound(name, where, node, not isinstance(where, ast.If)))


def _targets(node: ast.AST) -> Set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _bound_by(stmt: ast.stmt) -> Set[str]:
    if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {stmt.name}
    if isinstance(stmt, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in stmt.names}
    if isinstance(stmt, ast.AnnAssign) and stmt.value is None:
        return set()
    return {n.id for n in walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
