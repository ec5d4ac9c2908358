"""GL36x: Cells and Parameters made, or kept, where the graph can't see them."""

from __future__ import annotations

import ast
from typing import Any, Tuple

from graphlint.checkers.base import ClassContext, Context, Findings, Rule, When, always
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Instance
from graphlint.lang import Text
from graphlint.project import ClassInfo, is_cell_name
from graphlint.tree import walk

RANDOM_INIT = frozenset(
    "Dense Linear Conv1d Conv2d Conv3d Conv1dTranspose Conv2dTranspose Conv3dTranspose Embedding LSTM GRU RNN LSTMCell "
    "GRUCell RNNCell BiDense MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer EmbeddingLookup "
    "Transformer TransformerEncoder TransformerDecoder".split()
)
WITH_WEIGHTS = RANDOM_INIT | frozenset(
    "BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d "
    "SyncBatchNorm PReLU".split()
)


class CellInGraph(Rule):
    """
    What
        A Cell with weights made in graph code.

    Why
        The graph makes it once, when compiling, PyNative at every call: with random weights the two never agree, and
        the weights aren't trained.

    Example
        def construct(self, x):
            return nn.Dense(3, 2)(x)

    Instead
        self.dense = nn.Dense(3, 2)  # in __init__

    Fix safety
        Unsafe: PyNative's result changes too, from new weights at each call to one set.
    """

    code = "GL360"
    name = "cell-in-graph"
    effects = (When(Effect.DIVERGES), When(Effect.NONE, case="fixed"))
    message = Text(
        "`{name}` makes its weights here: once in the graph, at every call in PyNative, and they are never trained",
        "`{name}` 的权重在此处创建：图模式只创建一次，PyNative 每次调用都创建，且不会被训练",
    )
    help = Text("make it in `__init__`", "移到 `__init__` 中创建")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        tail = callee.rsplit(".", 1)[-1]
        if is_cell_name(callee) and tail in RANDOM_INIT and not _fixed(node, tail):
            yield self.at(node, name=tail)
        made = ctx.value(node)
        if made.kind == v.CELL and isinstance(made.target, Instance) and ctx.value(node.func).kind == v.CLASS:
            if _makes_random(made.target.cls):
                yield self.at(node, name=made.target.cls.name)


def _makes_random(cls: ClassInfo) -> bool:
    """True where the class makes layers with random weights in its `__init__`."""
    init = cls.find("__init__")
    for node in walk(init.node) if init is not None else ():
        if isinstance(node, ast.Call):
            dotted = init.module.dotted(node.func) or ""  # type: ignore[union-attr]
            tail = dotted.rsplit(".", 1)[-1]
            if is_cell_name(dotted) and tail in RANDOM_INIT and not _fixed(node, tail):
                return True
    return False


def _fixed(node: ast.Call, tail: str) -> bool:
    """True where every weight is given a deterministic initial value."""
    given = {k.arg: k.value for k in node.keywords}
    weight = given.get("weight_init") or given.get("embedding_table")
    set_by_hand = (
        isinstance(weight, ast.Call)
        and getattr(weight.func, "id", getattr(weight.func, "attr", "")) == "Tensor"
    )
    if not (set_by_hand or isinstance(weight, ast.Constant) and weight.value in ("ones", "zeros")):
        return False
    if tail == "Embedding":
        return True
    bias = given.get("has_bias") or given.get("bias")
    no_bias = isinstance(bias, ast.Constant) and bias.value is False
    init = given.get("bias_init")
    fixed_bias = isinstance(init, ast.Constant) and init.value in ("ones", "zeros")
    return no_bias or fixed_bias or (tail.startswith("Conv") and bias is None)


class ParameterInGraph(Rule):
    """
    What
        A Parameter made in graph code.

    Why
        The compiler refuses it ("creating class 'Parameter' instances is not supported in 'construct'").

    Example
        p = Parameter(Tensor(0.0), name="p")

    Instead
        self.p = Parameter(Tensor(0.0), name="p")  # in __init__

    Fix safety
        Unsafe: the Parameter then lives, and is trained, from call to call.
    """

    code = "GL361"
    name = "parameter-in-graph"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("a Parameter can't be made in the graph", "不能在图中创建 Parameter")
    help = Text("make it in `__init__`", "移到 `__init__` 中创建")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if ctx.callee(node) in ("mindspore.Parameter", "mindspore.ParameterTuple"):
            yield self.at(node)


class CellContainerInGraph(Rule):
    """
    What
        A CellList, SequentialCell or CellDict made in graph code.

    Why
        The compiler refuses it.

    Example
        return nn.SequentialCell([self.a, self.b])(x)

    Instead
        self.both = nn.SequentialCell([self.a, self.b])  # in __init__

    Fix safety
        Unsafe, as for other Cells.
    """

    code = "GL362"
    name = "cell-container-in-graph"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("`{name}` can't be made in the graph", "不能在图中创建 `{name}`")
    help = Text("make it in `__init__`", "移到 `__init__` 中创建")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        tail = ctx.callee(node).rsplit(".", 1)[-1]
        if is_cell_name(ctx.callee(node)) and tail in ("CellList", "SequentialCell", "CellDict"):
            yield self.at(node, name=tail)


class PlainContainerOfCells(Rule):
    """
    What
        Cells with weights kept in a plain list, tuple or dict.

    Why
        They aren't registered: their Parameters keep bare names, so that two alike clash in the graph ("its name
        'weight' already exists"), and none of them is trained or saved.

    Example
        self.blocks = [nn.Dense(3, 3), nn.Dense(3, 3)]

    Instead
        self.blocks = nn.CellList([nn.Dense(3, 3), nn.Dense(3, 3)])

    Fix safety
        Unsafe: the Parameters then appear in checkpoints and optimizers.
    """

    code = "GL363"
    name = "plain-container-of-cells"
    effects = (When(Effect.COMPILE_ERROR), When(Effect.PORTING, case="unregistered"))
    message = Text(
        "Cells in a plain {kind} aren't registered: their Parameters share names, and the graph refuses the second",
        "放在普通 {kind} 中的 Cell 不会被注册：参数重名，图编译会失败",
    )
    unregistered = Text(
        "Cells in a plain {kind} aren't registered: they are neither trained nor saved",
        "放在普通 {kind} 中的 Cell 不会被注册：既不会被训练也不会被保存",
    )
    help = Text("use nn.CellList or nn.CellDict", "改用 nn.CellList 或 nn.CellDict")

    def on_plain_cells(self, event: Any, ctx: Context) -> Findings:
        yield self.at(event.node, kind=event.data["container"])


class ReversedCells(Rule):
    """
    What
        `reversed` of a CellList, or an item of a CellList assigned in graph code.

    Why
        The compiler refuses both.

    Example
        for cell in reversed(self.blocks):

    Instead
        for cell in self.blocks[::-1]:

    Fix safety
        Safe: slicing gives the same Cells in the same order.
    """

    code = "GL364"
    name = "reversed-cells"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("`reversed` of a CellList can't be compiled", "图编译器不支持对 CellList 使用 `reversed`")
    assigned = Text(
        "an item of a CellList can't be assigned in the graph", "不能在图中给 CellList 的元素赋值"
    )
    help = Text("slice it: `[::-1]`", "改用切片 `[::-1]`")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if ctx.callee(node) == "builtins.reversed" and node.args and ctx.value(node.args[0]).kind == v.CELL:
            yield self.at(node)

    def on_item_write(self, event: Any, ctx: Context) -> Findings:
        if event.data["base"].kind == v.CELL:
            yield self.at(event.node, message=self.assigned)


class PlainContainerNotRegistered(Rule):
    """
    What
        A list or dict of Cells with weights assigned to an attribute in `__init__`.

    Why
        They aren't registered: not trained, not saved, not moved to another dtype.

    Example
        self.heads = [nn.Dense(8, 2)]

    Instead
        self.heads = nn.CellList([nn.Dense(8, 2)])

    Fix safety
        Unsafe: the Parameters then appear in checkpoints and optimizers.
    """

    code = "GL365"
    name = "cells-not-registered"
    effects = always(Effect.PORTING)
    message = Text(
        "Cells in a plain {kind} aren't registered: they are neither trained nor saved",
        "放在普通 {kind} 中的 Cell 不会被注册：既不会被训练也不会被保存",
    )
    help = Text("use nn.CellList or nn.CellDict", "改用 nn.CellList 或 nn.CellDict")

    def check_class(self, ctx: ClassContext) -> Findings:
        init = ctx.cls.methods.get("__init__")
        for node in walk(init.node) if init is not None else ():
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
                count, kind = _weighted(node.value, ctx)
                if count and not _kept_elsewhere(init.node, node.targets[0].attr):  # type: ignore[union-attr]
                    yield self.at(node, kind=kind, confidence=Confidence.HIGH)


def _weighted(value: ast.expr, ctx: ClassContext) -> Tuple[int, str]:
    if isinstance(value, (ast.List, ast.Tuple)):
        items, kind = value.elts, "list" if isinstance(value, ast.List) else "tuple"
    elif isinstance(value, ast.Dict):
        items, kind = value.values, "dict"
    elif isinstance(value, ast.ListComp):
        items, kind = [value.elt], "list"
    else:
        return 0, ""
    names = [ctx.module.dotted(i.func) or "" for i in items if isinstance(i, ast.Call)]
    return sum(is_cell_name(n) and n.rsplit(".", 1)[-1] in WITH_WEIGHTS for n in names), kind


def _kept_elsewhere(init: ast.AST, attr: str) -> bool:
    """True where the container is handed on in `__init__`, to a CellList for example."""
    for node in walk(init):
        if isinstance(node, ast.Call):
            for arg in node.args:
                inner = arg.value if isinstance(arg, ast.Starred) else arg
                if isinstance(inner, ast.Attribute) and inner.attr == attr:
                    return True
    return False
