"""GL51x: numbers of Python in the graph: float32 and int64, folded when compiling."""

from __future__ import annotations

import ast
import math
from typing import Any, Iterator

from graphlint.checkers.base import Context, Findings, Found, Rule, always
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.numbers import FLOAT32_MAX, differs, refusal
from graphlint.graph_code.values import Value
from graphlint.lang import Text
from graphlint.tree import walk


class FloatArithmetic(Rule):
    """
    What
        Constant arithmetic whose result in the graph is another number or bool than Python's.

    Why
        The graph computes with float32 and int64: `int(100 * 0.57)` is 57 there and 56 in Python,
        `0.1 + 0.2 == 0.3` is true, `1.0 // 0.1` is 10, `2 ** -1` is 0, `10 ** 20` doesn't fit.

    Example
        n = int(100 * 0.57)

    Instead
        self.n = int(100 * 0.57)  # in __init__, where Python computes it

    Fix safety
        Safe: the number that Python computes is written in its place.
    """

    code = "GL510"
    name = "float32-arithmetic"
    effects = always(Effect.DIVERGES)
    message = Text(
        "the graph computes {graph} here, Python {python}: its scalars are float32 and int64",
        "此处图的计算结果为 {graph}，Python 为 {python}：图中的标量是 float32 和 int64",
    )
    text = Text(
        "the graph writes {graph} here, Python {python}: its scalars are float32",
        "此处图中得到文本 {graph}，Python 得到 {python}：图中的标量是 float32",
    )
    unknown = Text(
        "the graph gives 0 for an int to a negative power, Python a float",
        "图中整数的负数次幂得到 0，Python 得到浮点数",
    )
    help = Text(
        "compute it in `__init__`, or in a function under `@ms.ops.constexpr`",
        "在 `__init__` 中计算，或放入 `@constexpr` 函数",
    )

    def _check(self, node: Any, ctx: Context) -> Findings:
        value = ctx.value(node)
        if not differs(value) or any(differs(ctx.value(part)) for part in _parts(node)):
            return
        message = self.text if value.kind == v.STR else self.message
        yield self.at(node, message=message, python=repr(value.const), graph=repr(value.graph))

    visit_Compare = visit_Call = visit_UnaryOp = _check

    def visit_BinOp(self, node: ast.BinOp, ctx: Context) -> Findings:
        yield from self._check(node, ctx)
        left, right = ctx.value(node.left), ctx.value(node.right)
        if (
            isinstance(node.op, ast.Pow)
            and left.dtype == right.dtype == "int"
            and _negative(node.right, right)
        ) and not ctx.value(node).known:
            yield self.at(node, message=self.unknown, confidence=Confidence.MEDIUM)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    return (part for part in walk(node) if part is not node)


def _negative(node: ast.expr, value: Value) -> bool:
    if value.known:
        return bool(value.const < 0)
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


class FloatBeyondRange(Rule):
    """
    What
        A float literal beyond the range of float32, used with other numbers.

    Why
        The graph's scalars are float32: `1e300` is infinite there, `1e-50` is 0.

    Example
        best = 1e300

    Instead
        best = 3e38

    Fix safety
        No fix.
    """

    code = "GL515"
    name = "float-beyond-range"
    effects = always(Effect.DIVERGES)
    message = Text(
        "{text} doesn't fit a float32: the graph sees infinity", "{text} 超出 float32 的范围：图中为无穷大"
    )
    help = Text('use a number below 3.4e38, or `float("inf")`', '使用小于 3.4e38 的数，或 `float("inf")`')

    def visit_Constant(self, node: Any, ctx: Context) -> Findings:
        const = ctx.value(node).const
        beyond = isinstance(const, float) and math.isfinite(const) and abs(const) > FLOAT32_MAX
        if beyond and not self._meets_tensor(node, ctx):
            yield self.at(node, confidence=Confidence.MEDIUM, text=repr(const))

    visit_Attribute = visit_Constant

    def _meets_tensor(self, node: ast.AST, ctx: Context) -> bool:
        parent = ctx.parent(node)
        while isinstance(parent, ast.UnaryOp):
            parent = ctx.parent(parent)
        if isinstance(parent, ast.BinOp):
            return v.TENSOR in (ctx.value(parent.left).kind, ctx.value(parent.right).kind)
        return isinstance(parent, (ast.Call, ast.keyword, ast.Compare))


class RefusedArithmetic(Rule):
    """
    What
        Arithmetic that the graph's constant folding refuses: ints beyond 64 bits, minus or `^` of bools,
        `abs`, `round` and shifts of a number that is known at run time only.

    Why
        The graph's ints have 64 bits, its bools aren't ints everywhere, and these operators take constants
        or Tensors.

    Example
        mask = 1 << 64

    Instead
        self.mask = …  # as a Tensor, or in smaller parts

    Fix safety
        No fix.
    """

    code = "GL516"
    name = "refused-arithmetic"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "the result doesn't fit 64 bits: the compiler refuses it", "结果超出 64 位整数范围：编译失败"
    )
    bools = Text("the graph can't compute `{op}` of a bool", "图不支持对 bool 做 `{op}` 运算")
    late = Text(
        "`{op}` of a number that is known at run time only is refused: it takes constants and Tensors",
        "`{op}` 不支持运行时才确定的数值，只支持常量和 Tensor",
    )
    rounded = Text(
        "what `round` gives is an int typed as a float in the graph: the compiler refuses it here",
        "`round` 的结果在图中类型为 float、值为 int：此处编译失败",
    )
    sizes = frozenset(["reshape", "view", "expand", "tile", "repeat"])
    help_rounded = Text("write `int(round(…))`", "写成 `int(round(...))`")
    help = Text("keep to 64 bits, or compute with Tensors", "保持在 64 位以内，或改用 Tensor 计算")
    help_bools = Text("write `not`, `!=` or `int(…)`", "改用 `not`、`!=` 或 `int(...)`")
    help_late = Text(
        "use the operator of `mindspore.ops`, on a Tensor", "对 Tensor 使用 `mindspore.ops` 的算子"
    )

    def visit_BinOp(self, node: ast.BinOp, ctx: Context) -> Findings:
        left, right = ctx.value(node.left), ctx.value(node.right)
        if left.kind != v.NUMBER or right.kind != v.NUMBER:
            yield from self._rounded_beside_tensor(node, left, right, ctx)
            return
        why = refusal(node.op, left, right) if left.known and right.known else ""
        if why == "bool":
            yield self.at(node, message=self.bools, help=self.help_bools, op="^")
        elif why:
            yield self.at(node)
        elif isinstance(node.op, (ast.LShift, ast.RShift)) and (_late(left) or _late(right)):
            yield self.at(
                node,
                message=self.late,
                help=self.help_late,
                op="<<" if isinstance(node.op, ast.LShift) else ">>",
            )

    def _rounded_beside_tensor(self, node: ast.BinOp, left: Value, right: Value, ctx: Context) -> Findings:
        summed = isinstance(node.op, (ast.Add, ast.Sub)) and v.TENSOR in (left.kind, right.kind)
        if summed and "rounded" in (left.origin, right.origin):
            yield self._rounded(node.left if left.origin == "rounded" else node.right, node, ctx)

    def _rounded(self, used: ast.expr, end: ast.AST, ctx: Context) -> Found:
        """Tells it where `round` is called: that is the line that the compiler names."""
        start: ast.AST = used
        for stmt in ast.walk(ctx.node) if isinstance(used, ast.Name) else ():
            if isinstance(stmt, ast.Assign) and ctx.value(stmt.value).origin == "rounded":
                names = {t.id for t in stmt.targets if isinstance(t, ast.Name)}
                start = stmt if used.id in names else start  # type: ignore[attr-defined]
        return self.at(start, end=end, message=self.rounded, help=self.help_rounded)

    def visit_Slice(self, node: ast.Slice, ctx: Context) -> Findings:
        for part in (node.lower, node.upper, node.step):
            if part is not None and ctx.value(part).origin == "rounded":
                yield self._rounded(part, part, ctx)

    def visit_UnaryOp(self, node: ast.UnaryOp, ctx: Context) -> Findings:
        value = ctx.value(node.operand)
        if value.kind == v.NUMBER and value.known and refusal(node.op, value, value):
            yield self.at(node, message=self.bools, help=self.help_bools, op="-")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        sized = isinstance(node.func, ast.Attribute) and node.func.attr in self.sizes
        for arg in node.args if sized or callee == "builtins.range" else ():
            if ctx.value(arg).origin == "rounded":
                yield self._rounded(arg, node, ctx)
        whole = callee in ("builtins.abs", "builtins.round") and node.args
        if whole and _late(ctx.value(node.args[0])):
            yield self.at(node, message=self.late, help=self.help_late, op=callee[9:])


def _late(value: Value) -> bool:
    """True for a number that the graph computes when it runs: `.item()`, `int(tensor)`, `mutable(…)`."""
    return value.kind == v.NUMBER and value.variable is True and value.sure and value.dtype != "bool"
