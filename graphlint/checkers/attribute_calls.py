"""GL318, GL319, GL330, GL349, GL350, GL366: attributes deleted or set by name, Parameters replaced, Cells called oddly."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Tuple

from graphlint.checkers.base import Context, Findings, Rule, When, always, certain
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Instance
from graphlint.graph_code.trace import Event
from graphlint.lang import Text
from graphlint.project import ClassInfo
from graphlint.tree import walk


class DeleteAttribute(Rule):
    """
    What
        `delattr` in graph code.

    Why
        It runs when compiling and again when the graph runs, where the attribute is gone (AttributeError).

    Example
        delattr(self, "cache")

    Instead
        self.cache = None  # outside the graph

    Fix safety
        No fix.
    """

    code = "GL318"
    name = "delete-attribute"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("an attribute can't be deleted in the graph", "不能在图中删除属性")
    help = Text("delete it before the Cell is called", "在调用 Cell 之前删除")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if ctx.callee(node) == "builtins.delattr":
            yield self.at(node)


class ParameterReplaced(Rule):
    """
    What
        None, or a tensor of another shape, assigned to an attribute that holds a Parameter.

    Why
        In the graph the assignment is `ops.assign`, which needs a tensor of the Parameter's shape.

    Example
        self.state = None

    Instead
        self.state = ops.zeros_like(self.state)

    Fix safety
        No fix.
    """

    code = "GL319"
    name = "parameter-replaced"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "'{text}' is a Parameter: {what} can't be assigned to it in the graph",
        "`{text}` 是 Parameter，图中不能赋给它{what_zh}",
    )
    help = Text("assign a tensor of the same shape", "赋给它相同形状的 Tensor")

    def on_attribute_write(self, event: Event, ctx: Context) -> Findings:
        old, value = event.data["old"], event.data["value"]
        if old is None or not old.parameter:
            return
        what: Tuple[str, ...] = ()
        if value.kind == v.NONE:
            what = ("None", " None")
        elif value.kind == v.TENSOR and _other_shape(old.shape, value.shape):
            what = ("a tensor of another shape", "其他形状的 Tensor")
        if what:
            text = ast.unparse(event.data["target"])
            yield self.at(event.node, confidence=certain(event), text=text, what=what[0], what_zh=what[1])


def _other_shape(old: object, new: object) -> bool:
    if not (isinstance(old, tuple) and isinstance(new, tuple)):
        return False
    return len(old) != len(new) or any(a is not None and b is not None and a != b for a, b in zip(old, new))


class SetattrInGraph(Rule):
    """
    What
        `setattr` in graph code on a Parameter, or with a Tensor that is read afterwards.

    Why
        The interpreter sets the attribute when the graph runs; reads of it were resolved when compiling, and a
        Parameter isn't written.

    Example
        setattr(self, "state", x)
        return x + self.state

    Instead
        self.state = x  # a Parameter

    Fix safety
        Unsafe: `setattr` with a constant name becomes an assignment.
    """

    code = "GL330"
    name = "setattr-in-graph"
    effects = (When(Effect.DIVERGES), When(Effect.COMPILE_ERROR, case="none"))
    message = Text(
        "`setattr` doesn't change what the graph reads as '{text}'", "`setattr` 不会改变图中读到的 `{text}`"
    )
    help = Text("assign the attribute: `{text} = …`", "直接给属性赋值：`{text} = ...`")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if self.target.strict or ctx.callee(node) != "builtins.setattr" or len(node.args) != 3:
            return
        base, name = ctx.value(node.args[0]), node.args[1]
        if not (isinstance(base.target, Instance) and isinstance(name, ast.Constant)):
            return
        old = base.target.attrs.get(str(name.value))
        read = any(
            isinstance(n, ast.Attribute) and n.attr == name.value and n.lineno > node.lineno
            for n in walk(ctx.node)
        )
        text = f"{ast.unparse(node.args[0])}.{name.value!s}"
        if old is not None and old.parameter:
            yield self.at(node, text=text)
        elif read and old is not None and old.kind == v.NONE and ctx.value(node.args[2]).kind == v.TENSOR:
            yield self.at(node, case="none", text=text)


class CallOverride(Rule):
    """
    What
        A Cell that overrides `__call__`, called in graph code.

    Why
        The graph calls its `construct`, whatever `__call__` does; without a `construct` it is refused.

    Example
        class Scaled(nn.Cell):
            def __call__(self, x):
                return super().__call__(x) * 10

    Instead
        class Scaled(nn.Cell):
            def construct(self, x):
                return self.inner(x) * 10

    Fix safety
        No fix.
    """

    code = "GL349"
    name = "call-override"
    effects = (When(Effect.DIVERGES), When(Effect.COMPILE_ERROR, case="no-construct"))
    message = Text(
        "the graph calls `construct` and skips '{name}'", "图会直接调用 `construct`，跳过 `{name}`"
    )
    refused = Text(
        "this Cell has '{name}' and no `construct`: the graph can't call it",
        "该 Cell 只有 `{name}` 而没有 `construct`，图无法调用",
    )
    help = Text("move the work into `construct`", "把逻辑移到 `construct` 中")

    def on_call_override(self, event: Event, ctx: Context) -> Findings:
        info, plain = event.data["info"], event.data["plain"]
        found = self.at(
            event.node, case="no-construct" if plain else "", message=self.refused if plain else self.message,
            confidence=certain(event), name=info.qualname,
        )  # fmt: skip
        yield replace(found, via=((info.module.path, info.node.lineno),))


class CellCallsItself(Rule):
    """
    What
        A Cell that calls itself: `self(x)`.

    Why
        In the graph `self` isn't callable ("The object is not callable"); `self.construct(x)` is.

    Example
        return self(x, n - 1)

    Instead
        return self.construct(x, n - 1)

    Fix safety
        Safe where no hook is registered.
    """

    code = "GL350"
    name = "cell-calls-itself"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("`self(…)` can't be called in the graph", "图中不能调用 `self(...)`")
    help = Text("call `self.construct(…)`", "改为调用 `self.construct(...)`")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if isinstance(node.func, ast.Name) and node.func.id == "self" and ctx.value(node.func).kind == v.CELL:
            yield self.at(node)


class CellFromTensor(Rule):
    """
    What
        A Cell or a jit_class made in graph code from a Tensor.

    Why
        All arguments of its constructor have to be constants ("When creating an instance …, all arguments are
        required to be constants").

    Example
        return Scale(x.mean())(x)

    Instead
        return self.scale(x, x.mean())  # made in __init__, the Tensor as an argument

    Fix safety
        No fix.
    """

    code = "GL366"
    name = "cell-from-tensor"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "`{name}` is made from a Tensor: its arguments must be constants of the graph",
        "`{name}` 由 Tensor 构造：其参数必须是图中的常量",
    )
    help = Text(
        "make it in `__init__` and pass the Tensor when calling it",
        "在 `__init__` 中创建，调用时再传入 Tensor",
    )

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        cls = ctx.value(node.func).target
        if ctx.value(node.func).kind != v.CLASS or not isinstance(cls, ClassInfo):
            return
        jit_class = any((cls.module.dotted(d) or "").endswith("jit_class") for d in cls.node.decorator_list)
        given = [ctx.value(a) for a in [*node.args, *(k.value for k in node.keywords)]]
        if (jit_class or cls.is_cell) and any(g.kind == v.TENSOR and not g.parameter for g in given):
            sure = all(g.sure for g in given)
            yield self.at(node, name=cls.name, confidence=Confidence.HIGH if sure else Confidence.MEDIUM)
