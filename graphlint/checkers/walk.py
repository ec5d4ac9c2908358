"""Runs rules over the traces of graph code: one walk a function, handlers looked up by node class."""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, Iterable, Iterator, List, Sequence, Tuple

from graphlint.checkers.base import ClassContext, Context, Found, ModuleContext, Rule
from graphlint.tree import walk

Handler = Callable[[Any, Any], Iterable[Found]]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Dispatcher:
    """The handlers of a set of rules, by node class name and by event."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.visitors: Dict[str, List[Tuple[bool, Handler]]] = {}
        self.events: Dict[str, List[Handler]] = {}
        self.enters: List[Callable[[Context], Iterable[Found]]] = []
        self.classes: List[Callable[[ClassContext], Iterable[Found]]] = []
        self.modules: List[Callable[[ModuleContext], Iterable[Found]]] = []
        for rule in rules:
            for name in dir(rule):
                if name.startswith("visit_"):
                    self.visitors.setdefault(name[6:], []).append((rule.parsed, getattr(rule, name)))
                elif name.startswith("on_"):
                    self.events.setdefault(name[3:], []).append(getattr(rule, name))
                elif name == "enter":
                    self.enters.append(getattr(rule, name))
                elif name == "check_class":
                    self.classes.append(getattr(rule, name))
                elif name == "check_module":
                    self.modules.append(getattr(rule, name))

    def function(self, ctx: Context) -> Iterator[Found]:
        """All that the rules find in one function."""
        for enter in self.enters:
            yield from enter(ctx)
        body = ctx.node.body if isinstance(ctx.node.body, list) else [ctx.node.body]
        for node in body:
            yield from self._visit(node, ctx, True)
        for event in ctx.trace.events:
            for handler in self.events.get(event.kind, ()):
                yield from handler(event, ctx)

    def cell(self, ctx: ClassContext) -> Iterator[Found]:
        for check in self.classes:
            yield from check(ctx)

    def module(self, ctx: ModuleContext) -> Iterator[Found]:
        for check in self.modules:
            yield from check(ctx)

    def _uncalled(self, function: ast.AST, ctx: Context) -> Iterator[Found]:
        """A nested function that nothing calls: it is parsed all the same."""
        for node in walk(function):
            for parsed, handler in self.visitors.get(type(node).__name__, ()) if node is not function else ():
                if parsed:
                    yield from handler(node, ctx)

    def _visit(self, node: ast.AST, ctx: Context, live: bool) -> Iterator[Found]:
        if isinstance(node, ast.stmt):
            live = node in ctx.trace.live
            if not live and node not in ctx.trace.parsed:
                return
        for parsed, handler in self.visitors.get(type(node).__name__, ()):
            if live or parsed:
                yield from handler(node, ctx)
        if isinstance(node, ast.ClassDef):
            return
        if isinstance(node, _FUNCTIONS):
            if not ctx.traced(node):
                yield from self._uncalled(node, ctx)
            return
        for child in ast.iter_child_nodes(node):
            yield from self._visit(child, ctx, live)
