"""GL53x: Python's built-in functions that the graph refuses, or answers otherwise."""

from __future__ import annotations

import ast
from typing import Any, Optional

from graphlint.checkers.base import Context, Findings, Rule, When, always
from graphlint.finding import Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.frames import local_names
from graphlint.lang import Text

_INTERPRETED = (When(Effect.FALLBACK), When(Effect.COMPILE_ERROR, level="strict"))
_STRICT_BUILTINS = frozenset("setattr exec compile open dir bytearray slice".split())


class StrictBuiltins(Rule):
    """
    What
        Built-in functions that the strict level doesn't know.

    Why
        Lax runs them when compiling or through the interpreter; strict refuses them.

    Example
        if any(t > 0 for t in x):

    Instead
        if (x > 0).any():

    Fix safety
        No fix.
    """

    code = "GL531"
    name = "strict-builtins"
    effects = _INTERPRETED
    message = Text(
        "`{name}` isn't known to the graph: the Python interpreter runs it",
        "图不支持 `{name}`：由 Python 解释器执行",
    )
    help = Text("compute it in `__init__`, or with an operator", "在 `__init__` 中计算，或改用算子")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        tail = callee[9:] if callee.startswith("builtins.") else ""
        if tail in _STRICT_BUILTINS and not isinstance(ctx.parent(node), ast.Subscript):
            yield self.at(node, name=tail)
        elif tail in ("any", "all") and node.args:
            held = ctx.value(node.args[0])
            if held.kind == v.TENSOR or held.kind in v.SEQUENCES and held.holds(lambda x: x.kind == v.TENSOR):
                yield self.at(node, name=tail)
        elif tail == "reversed" and node.args and ctx.value(node.args[0]).holds(lambda x: x.kind == v.TENSOR):
            yield self.at(node, name=tail)


_KEYWORDS = {
    "max": ("default", "key"), "min": ("default", "key"), "sum": ("start",), "int": ("base",), "print": (),
    "round": ("ndigits",), "pow": ("mod", "base", "exp"), "zip": ("strict",),
}  # fmt: skip


class BuiltinKeyword(Rule):
    """
    What
        A keyword argument of a built-in function that the graph's own form of it doesn't take.

    Why
        The graph has its own `max`, `min`, `sum` and `int`: they take positional arguments alone.

    Example
        n = max(sizes, default=0)

    Instead
        n = max(sizes) if sizes else 0

    Fix safety
        No fix.
    """

    code = "GL533"
    name = "builtin-keyword"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "the graph's `{name}` takes no keyword `{keyword}`", "图中的 `{name}` 不接受关键字参数 `{keyword}`"
    )
    help = Text("pass it as a positional argument, or write the case out", "改用位置参数，或把该情况写出来")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        known = _KEYWORDS.get(callee[9:], ()) if callee.startswith("builtins.") else ()
        for keyword in node.keywords:
            if keyword.arg in known:
                yield self.at(node, name=callee[9:], keyword=keyword.arg)
                return


class RefusedBuiltin(Rule):
    """
    What
        `next`, `globals`, `locals`, `filter(None, …)`, `memoryview`, `eval` of local names, `defaultdict`.

    Why
        The graph has no iterators that remember their place, no view of the names around it, and a `defaultdict` is a
        plain dict to it.

    Example
        it = iter(self.sizes)
        first = next(it)

    Instead
        first = self.sizes[0]

    Fix safety
        No fix.
    """

    code = "GL534"
    name = "refused-builtin"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("{what} doesn't work in the graph", "{what} 在图中不起作用")
    help = Text("{how}", "{how_zh}")
    known = {
        "builtins.next": ("`next`", "index the sequence", "改用下标"),
        "builtins.globals": ("`globals()`", "read the name itself", "直接读取该名字"),
        "builtins.locals": ("`locals()`", "read the name itself", "直接读取该名字"),
        "builtins.memoryview": ("`memoryview`", "make it in `__init__`", "在 `__init__` 中创建"),
        "collections.defaultdict": ("`defaultdict`", "use a dict and set each key first", "改用普通字典并先设置每个键"),
    }  # fmt: skip

    def _found(
        self, node: ast.AST, what: str, how: str, how_zh: str, end: Optional[ast.AST] = None
    ) -> Findings:
        yield self.at(node, end=end, what=what, how=how, how_zh=how_zh)

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        if callee == "builtins.next" and node.args:
            start = _iterator_of(node.args[0], ctx)
            yield from self._found(
                start or node, *self.known[callee], end=node if start is not None else None
            )
        elif callee in self.known:
            yield from self._found(node, *self.known[callee])
        elif callee == "builtins.filter" and node.args and ctx.value(node.args[0]).kind == v.NONE:
            yield from self._found(node, "`filter(None, …)`", "give it a function", "传入一个函数")
        elif (
            callee == "builtins.eval"
            and node.args
            and _names(ctx.value(node.args[0]).const) & local_names(ctx.node)
        ):
            yield from self._found(
                node, "`eval` of local names", "write the expression itself", "直接写出表达式"
            )


def _iterator_of(node: ast.expr, ctx: Context) -> Optional[ast.AST]:
    """The `iter(…)` that a name in `next(name)` was bound to."""
    if not isinstance(node, ast.Name):
        return None
    for stmt in ast.walk(ctx.node):
        if (
            isinstance(stmt, ast.Assign)
            and isinstance(stmt.value, ast.Call)
            and ctx.callee(stmt.value) == "builtins.iter"
        ):
            if any(isinstance(t, ast.Name) and t.id == node.id for t in stmt.targets):
                return stmt
    return None


def _names(text: Any) -> frozenset:
    try:
        tree = ast.parse(text, mode="eval") if isinstance(text, str) else None
    except SyntaxError:
        return frozenset()
    found = (
        frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))
        if tree is not None
        else frozenset()
    )
    return found - {"self"}


_LAZY = ("iter", "enumerate", "zip", "map", "range")


class LazyReturned(Rule):
    """
    What
        `range`, `zip`, `enumerate`, `map` or `iter` returned as it is, or `'name' in globals()`.

    Why
        The graph makes a tuple or a list of it: the caller gets another kind of object.

    Example
        return range(x.shape[0])

    Instead
        return list(range(x.shape[0]))

    Fix safety
        Unsafe: the caller gets a list in PyNative too.
    """

    code = "GL535"
    name = "lazy-returned"
    effects = always(Effect.DIVERGES)
    message = Text(
        "`{name}(…)` is returned: the graph gives a tuple or list instead",
        "返回了 `{name}(...)`：图中得到的是元组或列表",
    )
    help = Text("make a list or tuple of it", "先转换为列表或元组")

    def visit_Return(self, node: ast.Return, ctx: Context) -> Findings:
        if len(ctx.trace.chain) > 1 or node.value is None:
            return
        made = _definition(node.value, ctx)
        if (
            isinstance(made, ast.Call)
            and ctx.callee(made)[9:] in _LAZY
            and ctx.callee(made).startswith("builtins.")
        ):
            yield self.at(made, name=ctx.callee(made)[9:])
        elif isinstance(made, ast.GeneratorExp):
            yield self.at(made, name="generator")


def _definition(node: ast.expr, ctx: Context) -> ast.expr:
    """What a returned name was bound to, where one assignment binds it."""
    if isinstance(node, ast.Name):
        bound = [
            s.value
            for s in ast.walk(ctx.node)
            if isinstance(s, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == node.id for t in s.targets)
        ]
        return bound[0] if len(bound) == 1 else node
    return node
