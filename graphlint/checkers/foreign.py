"""GL521 to GL526: Python's own machinery around Tensors, which the interpreter runs (lax) and strict refuses."""

from __future__ import annotations

import ast
from typing import Any

from graphlint.checkers.base import Context, Findings, Rule, When, always, confidence_of
from graphlint.checkers.host import INTERPRETED
from graphlint.finding import Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Instance, local_names
from graphlint.graph_code.values import Value
from graphlint.lang import Text


class PartialFromOutside(Rule):
    """
    What
        A `functools.partial` made outside the graph (held by the Cell or the module) and called in it.

    Why
        The compiler sees a Python object: the interpreter calls it (lax), strict refuses it, and one around a Cell is
        refused at both levels. A partial made in graph code is compiled.

    Example
        self.act = functools.partial(ops.softmax, axis=0)  # in __init__

    Instead
        def act(self, x):
            return ops.softmax(x, axis=0)

    Fix safety
        No fix.
    """

    code = "GL521"
    name = "partial-from-outside"
    effects = (
        *INTERPRETED,
        When(Effect.FALLBACK, before="2.6"),
        When(Effect.COMPILE_ERROR, case="cell"),
    )
    message = Text(
        "`{name}` is a partial made outside the graph: the Python interpreter calls it",
        "`{name}` 是在图外创建的 partial，由 Python 解释器调用",
    )
    cell = Text(
        "`{name}` is a partial of a Cell: the graph can't call it",
        "`{name}` 是对 Cell 的 partial，图无法调用",
    )
    help = Text(
        "write a method, or make the partial where it is called", "改写为方法，或在调用处创建 partial"
    )

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        func = ctx.value(node.func)
        if func.kind != v.FUNCTION or not isinstance(func.target, tuple) or func.target[0] != "partial":
            return
        inside = isinstance(node.func, ast.Name) and node.func.id in local_names(ctx.node)
        if inside or not any(ctx.value(a).runtime for a in node.args):
            return
        cell = func.target[1].kind == v.CELL
        name = ast.unparse(node.func)[:40]
        yield self.at(
            node, case="cell" if cell else "", message=self.cell if cell else self.message, name=name
        )


class ReduceInGraph(Rule):
    """
    What
        `functools.reduce` over Tensors, or of a function of `operator` over a shape.

    Why
        The interpreter runs it when the graph runs (lax), strict refuses it; over a shape the generated call fails.

    Example
        return functools.reduce(ops.add, [x, y, z])

    Instead
        return x + y + z

    Fix safety
        Safe where the items are written out.
    """

    code = "GL522"
    name = "reduce-in-graph"
    effects = (
        *INTERPRETED,
        When(Effect.COMPILE_ERROR, before="2.6"),
        When(Effect.COMPILE_ERROR, case="shape"),
    )
    message = Text(
        "`reduce` over Tensors: the Python interpreter runs it",
        "对 Tensor 使用 `reduce`：由 Python 解释器执行",
    )
    shape = Text(
        "`reduce` with a function of `operator` over a shape can't be compiled",
        "图编译器不支持用 `operator` 的函数对形状做 `reduce`",
    )
    help = Text("write a loop", "改写为循环")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if ctx.callee(node) != "functools.reduce" or len(node.args) < 2:
            return
        function, held = ctx.value(node.args[0]), ctx.value(node.args[1])
        if held.holds(lambda part: part.kind == v.TENSOR):
            yield self.at(node, confidence=confidence_of(held))
        elif held.shape_derived and str(function.target).startswith("operator."):
            yield self.at(node, case="shape", message=self.shape)


class ListComparedWithTensor(Rule):
    """
    What
        A Tensor compared with a list or tuple.

    Why
        From 2.8 on the interpreter compares them (lax); strict refuses it.

    Example
        mask = x == [1.0, 2.0]

    Instead
        mask = x == Tensor([1.0, 2.0])

    Fix safety
        Safe where the list is constant.
    """

    code = "GL523"
    name = "list-compared-with-tensor"
    effects = (
        *INTERPRETED,
        When(Effect.NONE, before="2.8", level="lax"),
        When(Effect.COMPILE_ERROR, before="2.6"),
    )
    message = Text(
        "a Tensor is compared with a {kind}: the Python interpreter does it",
        "Tensor 与 {kind} 比较：由 Python 解释器执行",
    )
    help = Text("make it a Tensor first", "先转换为 Tensor")

    def visit_Compare(self, node: ast.Compare, ctx: Context) -> Findings:
        if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            return
        a, b = ctx.value(node.left), ctx.value(node.comparators[0])
        for one, other in ((a, b), (b, a)):
            if one.kind == v.TENSOR and other.kind in v.SEQUENCES:
                yield self.at(node, kind=other.kind, confidence=confidence_of(one, other))


class ObjectOperator(Rule):
    """
    What
        An operator, or an index, of a plain object where the other operand is a Tensor.

    Why
        The interpreter calls the object's method when the graph runs (lax); strict refuses it.

    Example
        return self.scaler * x  # Scaler defines __mul__

    Instead
        return self.scaler.apply(x)

    Fix safety
        No fix.
    """

    code = "GL524"
    name = "object-operator"
    effects = (*INTERPRETED, When(Effect.COMPILE_ERROR, before="2.6"))
    message = Text(
        "an operator of a plain object meets a Tensor: the Python interpreter runs it",
        "普通对象与 Tensor 做运算：由 Python 解释器执行",
    )
    help = Text("call a method of the object", "改为调用对象的方法")

    def visit_BinOp(self, node: ast.BinOp, ctx: Context) -> Findings:
        yield from self._check(node, ctx.value(node.left), ctx.value(node.right))

    def visit_AugAssign(self, node: ast.AugAssign, ctx: Context) -> Findings:
        yield from self._check(node, ctx.value(node.target), ctx.value(node.value))

    def visit_Subscript(self, node: ast.Subscript, ctx: Context) -> Findings:
        if isinstance(node.ctx, ast.Load):
            yield from self._check(node, ctx.value(node.value), ctx.value(node.slice))

    def _check(self, node: ast.AST, left: Value, right: Value) -> Findings:
        for one, other in ((left, right), (right, left)):
            if one.kind == v.OBJECT and isinstance(one.target, Instance) and other.kind == v.TENSOR:
                yield self.at(node, confidence=confidence_of(one, other))


class CellSetting(Rule):
    """
    What
        A method of a Cell that changes its settings (`set_train`, `set_grad`, `add_flags`, `apply`, `to_float`).

    Why
        It sets Python attributes, which the interpreter does (lax) and strict refuses; the graph that is being
        compiled doesn't change.

    Example
        self.backbone.set_train(False)

    Instead
        net.backbone.set_train(False)  # before net is called

    Fix safety
        No fix.
    """

    code = "GL525"
    name = "cell-setting"
    effects = (*INTERPRETED, When(Effect.COMPILE_ERROR, before="2.6"))
    message = Text(
        "`.{name}()` changes a Cell's settings while it is compiled: it belongs outside the graph",
        "`.{name}()` 在编译过程中修改 Cell 的设置，应放在图之外",
    )
    help = Text("call it before the Cell is called", "在调用 Cell 之前执行")
    _methods = frozenset(
        "set_train set_grad add_flags add_flags_recursive apply to_float set_comm_fusion".split()
    )

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if isinstance(node.func, ast.Attribute) and node.func.attr in self._methods:
            if ctx.value(node.func.value).kind == v.CELL and ctx.value(node.func).kind == v.BOUND:
                yield self.at(node, name=node.func.attr)


class MaskedWrite(Rule):
    """
    What
        A Tensor with dimensions of its own assigned through a boolean mask: `y[mask] = values`.

    Why
        PyNative puts the values into the places that the mask picks, one after the other; the graph broadcasts them over
        the whole tensor and then picks. A number, or a Tensor without dimensions, is the same in both.

    Example
        y[y > 2] = y[y > 2] * 2

    Instead
        y = ops.where(y > 2, y * 2, y)

    Fix safety
        Safe where the right side applies one operation to the masked tensor itself.
    """

    code = "GL407"
    name = "masked-write"
    effects = always(Effect.DIVERGES)
    message = Text(
        "the graph broadcasts the values over '{text}' before it applies the mask: another result than PyNative's",
        "图会先把右侧的值广播到 `{text}` 再应用掩码，结果与 PyNative 不同",
    )
    help = Text("use `ops.where` or `ops.masked_scatter`", "改用 `ops.where` 或 `ops.masked_scatter`")

    def on_item_write(self, event: Any, ctx: Context) -> Findings:
        base, key, value = event.data["base"], event.data["key"], event.data["value"]
        if base.kind != v.TENSOR or key.kind != v.TENSOR or key.dtype != "bool" or value.kind != v.TENSOR:
            return
        if value.rank or value.dynamic:
            text = ast.unparse(event.data["target"].value)
            yield self.at(event.node, confidence=confidence_of(base, key, value), text=text)
