"""GL53x: Python's built-in functions that the graph refuses, or answers otherwise."""

from __future__ import annotations

import ast
from typing import Any, Callable, ClassVar, Dict, List, Optional, Tuple

from graphlint.checkers.base import Context, Findings, Rule, When, always
from graphlint.checkers.strings import names_tensor
from graphlint.finding import Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.frames import local_names
from graphlint.graph_code.values import Value
from graphlint.lang import Text
from graphlint.tree import walk

_INTERPRETED = (When(Effect.FALLBACK), When(Effect.COMPILE_ERROR, level="strict"))
_STRICT_BUILTINS = frozenset(["setattr", "exec", "compile", "open", "dir", "bytearray"])


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
    effects = (*_INTERPRETED, When(Effect.DIVERGES, case="reduced", before="2.6"))
    message = Text(
        "`{name}` isn't known to the graph: the Python interpreter runs it",
        "图不支持 `{name}`：由 Python 解释器执行",
    )
    help = Text("compute it in `__init__`, or with an operator", "在 `__init__` 中计算，或改用算子")

    @property
    def tests(self) -> Dict[str, Callable[[ast.Call, Context], bool]]:
        """Which calls of a function that strict does know it refuses all the same."""
        return {
            "any": _over_tensors, "all": _over_tensors, "max": _of_late, "min": _of_late,
            "repr": names_tensor, "dict": _spreads_tensors, "reversed": _reverses_tensors,
        }  # fmt: skip

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        tail = callee[9:] if callee.startswith("builtins.") else ""
        known = _STRICT_BUILTINS if not isinstance(ctx.parent(node), ast.Subscript) else ()
        if tail in known or (tail in self.tests and self.tests[tail](node, ctx)):
            yield self.at(node, case="reduced" if tail in ("any", "all") else "", name=tail)


def _over_tensors(node: ast.Call, ctx: Context) -> bool:
    held = ctx.value(node.args[0]) if node.args else None
    return held is not None and held.kind in (v.TENSOR, *v.SEQUENCES) and held.holds(_from_tensor)


def _of_late(node: ast.Call, ctx: Context) -> bool:
    return any(_late(ctx.value(a)) for a in node.args)


def _spreads_tensors(node: ast.Call, ctx: Context) -> bool:
    return any(ctx.value(a).holds(_from_tensor) for a in (*node.args, *_spread(node)))


def _reverses_tensors(node: ast.Call, ctx: Context) -> bool:
    return any(ctx.value(a).holds(lambda x: x.kind == v.TENSOR) for a in node.args)


def _late(value: Value) -> bool:
    return value.kind == v.NUMBER and value.variable is True and value.sure


def _spread(node: ast.Call) -> List[ast.expr]:
    return [k.value for k in node.keywords if k.arg is None]


def _from_tensor(value: Value) -> bool:
    return value.kind == v.TENSOR or (value.kind == v.NUMBER and value.shape_derived)


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
        The graph has no iterators that remember their place, no view of the names around it, and a
        `defaultdict` is a plain dict to it.

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
    known: ClassVar[Dict[str, Tuple[str, str, str]]] = {
        "builtins.next": ("`next`", "index the sequence", "改用下标"),
        "builtins.globals": ("`globals()`", "read the name itself", "直接读取该名字"),
        "builtins.locals": ("`locals()`", "read the name itself", "直接读取该名字"),
        "builtins.memoryview": ("`memoryview`", "make it in `__init__`", "在 `__init__` 中创建"),
        "collections.defaultdict": ("`defaultdict`", "use a dict, set each key", "改用字典并先设置每个键"),
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
        elif callee == "collections.defaultdict":
            yield from self._found(node, *self.known[callee], end=_first_item(node, ctx))
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


def _first_item(call: ast.Call, ctx: Context) -> Optional[ast.AST]:
    """The first `name[key]` of the name that the call's result is bound to."""
    parent = ctx.parent(call)
    name = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if isinstance(name, ast.Name):
        for node in walk(ctx.node):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.value, ast.Name)
                and node.value.id == name.id
            ):
                return node
    return None


def _iterator_of(node: ast.expr, ctx: Context) -> Optional[ast.AST]:
    """The `iter(…)` that a name in `next(name)` was bound to."""
    if not isinstance(node, ast.Name):
        return None
    for stmt in walk(ctx.node):
        if (
            isinstance(stmt, ast.Assign)
            and isinstance(stmt.value, ast.Call)
            and ctx.callee(stmt.value) == "builtins.iter"
        ) and any(isinstance(t, ast.Name) and t.id == node.id for t in stmt.targets):
            return stmt
    return None


def _names(text: Any) -> frozenset:
    try:
        tree = ast.parse(text, mode="eval") if isinstance(text, str) else None
    except SyntaxError:
        return frozenset()
    found = (
        frozenset(n.id for n in walk(tree) if isinstance(n, ast.Name)) if tree is not None else frozenset()
    )
    return found - {"self"}


class LazyReturned(Rule):
    """
    What
        A `range`, an iterator or a view of a dict's keys, values or items returned as it is.

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
        parts = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else [node.value]
        for part in parts:
            made = _definition(part, ctx)
            if isinstance(made, ast.Call):
                name = self._lazy(made, ctx)
                if name:
                    yield self.at(made, name=name)

    def _lazy(self, call: ast.Call, ctx: Context) -> str:
        if ctx.callee(call) in ("builtins.range", "builtins.iter"):
            return ctx.callee(call)[9:]
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("keys", "values", "items"):
            return call.func.attr if ctx.value(call.func.value).kind == v.DICT else ""
        inner = ctx.value(call).origin == "generator" and not isinstance(ctx.parent(call), ast.Return)
        return ctx.callee(call)[9:] if inner and isinstance(ctx.parent(call), (ast.Tuple, ast.List)) else ""


def _definition(node: ast.expr, ctx: Context) -> ast.expr:
    """What a returned name was bound to, where one assignment binds it."""
    if isinstance(node, ast.Name):
        bound = [
            s.value
            for s in walk(ctx.node)
            if isinstance(s, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == node.id for t in s.targets)
        ]
        return bound[0] if len(bound) == 1 else node
    return node


class CallableReturned(Rule):
    """
    What
        A function or a Cell returned from the top of a graph.

    Why
        A graph gives back Tensors, numbers, strings and containers of these: nothing that can be called.

    Example
        return self.head, x

    Instead
        return x

    Fix safety
        No fix.
    """

    code = "GL536"
    name = "callable-returned"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("a graph can't return {what}", "图不能返回{what_zh}")
    help = Text("return the result of calling it", "返回调用它的结果")

    def visit_Return(self, node: ast.Return, ctx: Context) -> Findings:
        if len(ctx.trace.chain) > 1 or node.value is None:
            return
        value = ctx.value(node.value)
        for part in (
            [value, *(value.items or ())]
            if value.kind in (v.FUNCTION, v.CELL, v.EXTERNAL, *v.SEQUENCES)
            else []
        ):
            if (part.kind in (v.FUNCTION, v.CELL) and part.sure) or _known_function(part):
                what = ("a Cell", " Cell") if part.kind == v.CELL else ("a function", "函数")
                yield self.at(node.value, what=what[0], what_zh=what[1])
                return


def _known_function(value: Value) -> bool:
    name = (
        value.target
        if value.kind == v.EXTERNAL and isinstance(value.target, str) and not value.variable
        else ""
    )
    return name.startswith(("mindspore.ops.", "mindspore.mint.")) or name in (
        "builtins.print",
        "builtins.len",
    )


_CELL_CONTAINERS = {"CellList": ("builtins.tuple", "CellList"), "CellDict": ("builtins.dict", "CellDict")}


class TypeTest(Rule):
    """
    What
        `isinstance` of a CellList or CellDict, `isinstance(x, object)`, and `type(…)` of a Cell compared.

    Why
        The graph holds a CellList as a tuple and a CellDict as a dict, knows no `object`, and has no class
        of a Cell.

    Example
        if isinstance(self.blocks, nn.CellList):

    Instead
        if self.has_blocks:  # a flag set in __init__

    Fix safety
        No fix.
    """

    code = "GL537"
    name = "type-test"
    effects = (
        When(Effect.DIVERGES),
        When(Effect.COMPILE_ERROR, case="type"),
        When(Effect.NONE, case="type", before="2.6"),
    )
    message = Text("`{text}` has another answer in the graph", "`{text}` 在图中的结果不同")
    refused = Text("`{text}` can't be compiled", "`{text}` 无法编译")
    help = Text("set a flag in `__init__` and test that", "在 `__init__` 中设置标志并判断该标志")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if ctx.callee(node) != "builtins.isinstance" or len(node.args) != 2:
            return
        x, text = ctx.value(node.args[0]), ast.unparse(node)[:60]
        tested = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        names = [str(ctx.value(t).target) for t in tested]
        if isinstance(node.args[1], ast.BinOp) or names == ["builtins.range"]:
            yield self.at(node, case="type", message=self.refused, text=text)
        elif names == ["builtins.object"]:
            yield self.at(node, text=text)
        elif x.kind == v.CELL and x.sure and isinstance(x.target, str):
            other = _CELL_CONTAINERS.get(x.target.rsplit(".", 1)[-1], ())
            if any(name in other or name.rsplit(".", 1)[-1] in other for name in names):
                yield self.at(node, text=text)

    def visit_Compare(self, node: ast.Compare, ctx: Context) -> Findings:
        for side in (node.left, *node.comparators):
            if isinstance(side, ast.Call) and ctx.callee(side) == "builtins.type" and len(side.args) == 1:
                held = ctx.value(side.args[0])
                if held.kind == v.CELL and held.sure:
                    yield self.at(node, case="type", message=self.refused, text=ast.unparse(node)[:60])
                    return


class MapForm(Rule):
    """
    What
        `map` over a Tensor or over sequences of unlike lengths, and `zip()` of nothing.

    Why
        The graph's `map` takes lists and tuples of one length, its `zip` at least one.

    Example
        ys = list(map(self.head, x))

    Instead
        ys = [self.head(v) for v in x]

    Fix safety
        Safe.
    """

    code = "GL538"
    name = "map-form"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "the graph's `{name}` takes lists and tuples of one length",
        "图中的 `{name}` 只接受长度相同的列表或元组",
    )
    help = Text("write a comprehension", "改用推导式")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        if callee == "builtins.zip" and not node.args:
            yield self.at(node, name="zip")
        elif callee == "builtins.map":
            held = [ctx.value(a) for a in node.args[1:]]
            lengths = {len(h.items) for h in held if h.items is not None and h.kind in v.SEQUENCES}
            if len(lengths) > 1 or any(h.kind == v.TENSOR and h.sure for h in held):
                yield self.at(node, name="map")
