"""GL31x: attributes written in graph code, and state changed from outside that a compiled graph doesn't see."""

from __future__ import annotations

import ast
from typing import Any, Iterator

from graphlint.checkers.base import Context, Findings, Rule, When, always, certain
from graphlint.finding import Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.trace import Event
from graphlint.graph_code.values import Value
from graphlint.lang import Text
from graphlint.tree import walk


class AttributeWrite(Rule):
    """
    What
        An attribute of the Cell, or of a plain object, assigned in graph code.

    Why
        Only Parameters live in the graph. Lax keeps other attributes through the interpreter, at the price of
        speed and export; strict refuses the assignment.

    Example
        self.steps = self.steps + 1

    Instead
        ops.assign_add(self.steps, 1)  # self.steps = Parameter(Tensor(0), …) in __init__

    Fix safety
        Unsafe: the attribute becomes a Parameter, which shows in checkpoints.
    """

    code = "GL310"
    name = "attribute-write"
    effects = (
        When(Effect.FALLBACK),
        When(Effect.DIVERGES, case="object"),
        When(Effect.COMPILE_ERROR, level="strict"),
        When(Effect.FALLBACK, case="unread"),
        When(Effect.COMPILE_ERROR, before="2.1"),
    )
    stale = Text(
        "'{text}' starts from its value at compile time in each call of the graph",
        "图的每次调用中，`{text}` 都从编译时的值开始计算",
    )
    message = Text(
        "'{text}' is no Parameter: the graph keeps it through the Python interpreter",
        "`{text}` 不是 Parameter，图只能借助 Python 解释器保存它",
    )
    refused = Text(
        "'{text}' is no Parameter: it can't be assigned in the graph",
        "`{text}` 不是 Parameter，不能在图中赋值",
    )
    help = Text(
        "make it a Parameter and use `ops.assign`, or return the value",
        "把它改为 Parameter 并使用 `ops.assign`，或作为返回值",
    )

    def on_attribute_write(self, event: Event, ctx: Context) -> Findings:
        old, value = event.data["old"], event.data["value"]
        if old is not None and old.parameter:
            return
        if _is_callable(value) or value.parameter or value.kind == v.BOUND or _is_foreign_cell(event, ctx):
            return
        if not self.target.since("2.6") and _in_property(ctx):
            return
        held = (
            isinstance(event.node, ast.AugAssign)
            and event.data["base"].kind == v.OBJECT
            and not self.target.strict
        )
        if held and isinstance(event.data["target"].value, ast.Attribute):
            yield self.at(
                event.node, case="object", message=self.stale, text=ast.unparse(event.data["target"])
            )
            return
        unread = (
            event.data["base"].kind == v.OBJECT
            and not _is_self(event)
            and not _read_after(ctx.node, event.data["attr"], event.node)
        )
        effect = self.effect("unread" if unread else "")
        message = self.refused if effect is Effect.COMPILE_ERROR else self.message
        yield self.at(event.node, effect=effect, message=message, text=ast.unparse(event.data["target"]))

    def on_foreign_attribute_write(self, event: Event, ctx: Context) -> Findings:
        base = event.data["base"]
        if base.kind in (v.CLASS, v.OBJECT, v.EXTERNAL) and base.sure:
            effect = (
                self.effect()
                if _read_after(ctx.node, event.data["attr"], event.node)
                else self.effect("unread")
            )
            message = self.refused if effect is Effect.COMPILE_ERROR else self.message
            yield self.at(event.node, effect=effect, message=message, text=ast.unparse(event.data["target"]))


def _is_self(event: Event) -> bool:
    value = event.data["target"].value
    return isinstance(value, ast.Name) and value.id == "self"


def _is_foreign_cell(event: Event, ctx: Context) -> bool:
    target = event.data["target"]
    return event.data["base"].kind == v.CELL and isinstance(target.value, ast.Attribute)


class BakedInFlag(Rule):
    """
    What
        A branch on an attribute that the same branch changes: a first-call flag, a mode, a lazy cache.

    Why
        The branch is decided once, when the graph is compiled. Later calls take the same path again.

    Example
        if self.first:
            self.first = False
            return x * 100

    Instead
        if self.first > 0:  # a Parameter
            ops.assign(self.first, 0)

    Fix safety
        No fix.
    """

    code = "GL311"
    name = "baked-in-flag"
    effects = (
        When(Effect.DIVERGES),
        When(Effect.COMPILE_ERROR, level="strict"),
        When(Effect.COMPILE_ERROR, before="2.1"),
    )
    message = Text(
        "the branch on '{text}' is decided once, when compiling: changing it here has no effect on later calls",
        "对 `{text}` 的判断在编译时就已确定，此处修改它不会影响之后的调用",
    )
    help = Text(
        "keep the flag in a Parameter, or decide outside the Cell", "把标志存为 Parameter，或在 Cell 之外判断"
    )

    def on_attribute_write(self, event: Event, ctx: Context) -> Findings:
        old = event.data["old"]
        attr, test = event.data["attr"], event.data["branched"]
        if old is None or old.parameter or test is None or not _decides(test, attr):
            return
        if not _only_fills(event.node, test, ctx):
            yield self.at(event.node, text=f"self.{attr}")


def _only_fills(write: ast.AST, test: ast.expr, ctx: Context) -> bool:
    """True for a lazy cache: the branch does nothing but set the attribute, which is then read either way."""
    branch = ctx.parent(write)
    return (
        isinstance(branch, ast.If) and branch.test is test and not branch.orelse
        and all(isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Attribute) for s in branch.body)
        and any(_read_after(ctx.node, s.targets[0].attr, branch) for s in branch.body)  # type: ignore[attr-defined]
    )  # fmt: skip


def _decides(test: ast.expr, attr: str) -> bool:
    """True where the test is the attribute, its negation, or a comparison of it with a constant."""
    if isinstance(test, ast.UnaryOp):
        return _decides(test.operand, attr)
    if isinstance(test, ast.BoolOp):
        return any(_decides(part, attr) for part in test.values)
    if isinstance(test, ast.Compare):
        return _decides(test.left, attr) and all(isinstance(c, ast.Constant) for c in test.comparators)
    return isinstance(test, ast.Attribute) and test.attr == attr


def _reads(node: ast.AST, attr: str) -> Iterator[ast.Attribute]:
    for inner in walk(node):
        if isinstance(inner, ast.Attribute) and inner.attr == attr and isinstance(inner.ctx, ast.Load):
            yield inner


def _read_after(function: ast.AST, attr: str, write: Any) -> bool:
    return any(read.lineno > write.end_lineno for read in _reads(function, attr))


class StaleAttribute(Rule):
    """
    What
        An attribute that a helper, a property or a sub-Cell sets, read afterwards by its caller.

    Why
        The caller's read was resolved to the old constant when compiling.

    Example
        self.bump()  # sets self.n
        return x * self.n

    Instead
        self.n = self.bump()

    Fix safety
        No fix.
    """

    code = "GL312"
    name = "stale-attribute"
    effects = (When(Effect.DIVERGES), When(Effect.COMPILE_ERROR, level="strict"))
    message = Text(
        "'{text}' is set here and read afterwards in '{reader}', which still sees the old value in the graph",
        "`{text}` 在此处被修改，但调用方 `{reader}` 在图中读到的仍是旧值",
    )
    help = Text(
        "return the new value from the helper and assign it in the caller", "由辅助函数返回新值，在调用方赋值"
    )

    def on_stale_attribute(self, event: Event, ctx: Context) -> Findings:
        yield self.at(
            event.node, confidence=certain(event), text=event.data["text"], reader=event.data["reader"]
        )


class PropertyWrite(Rule):
    """
    What
        A property whose getter changes the object.

    Why
        The getter runs when compiling; the change is lost or refused.

    Example
        @property
        def k(self):
            self.n = self.n + 1
            return self.n

    Instead
        def next_k(self): ...  # a method that returns the value

    Fix safety
        No fix.
    """

    code = "GL313"
    name = "property-write"
    effects = (When(Effect.DIVERGES), When(Effect.COMPILE_ERROR, level="strict", since="2.6"))
    message = Text(
        "this property changes '{text}' when it is read: the graph loses the change",
        "读取该 property 会修改 `{text}`，图会丢失该修改",
    )
    help = Text(
        "make it a method that returns the value, and keep state in a Parameter",
        "改为返回值的方法，并把状态存为 Parameter",
    )

    def on_attribute_write(self, event: Event, ctx: Context) -> Findings:
        if _in_property(ctx):
            yield self.at(event.node, text=f"self.{event.data['attr']}")


class CallableAttributeWrite(Rule):
    """
    What
        A Cell or a function assigned to an attribute in graph code, or an attribute of a sub-Cell set from outside.

    Why
        The graph can't replace what an attribute calls.

    Example
        self.act = nn.ReLU()

    Instead
        self.act = nn.ReLU()  # in __init__

    Fix safety
        No fix.
    """

    code = "GL314"
    name = "callable-attribute-write"
    effects = (
        When(Effect.COMPILE_ERROR),
        When(Effect.DIVERGES, case="unread", level="lax"),
    )
    message = Text("'{text}' can't be replaced in the graph", "不能在图中替换 `{text}`")
    help = Text("assign it in `__init__`", "在 `__init__` 中赋值")

    def on_attribute_write(self, event: Event, ctx: Context) -> Findings:
        value, target = event.data["value"], event.data["target"]
        if _is_foreign_cell(event, ctx):
            yield self.at(event.node, text=ast.unparse(target))
        elif event.data["old"] is not None and event.data["old"].parameter:
            return
        elif _is_callable(value) or value.parameter:
            old = event.data["old"]
            called = old is not None and old.kind == v.CELL
            read = not value.parameter and (called or any(_reads(ctx.node, event.data["attr"])))
            yield self.at(event.node, case="" if read else "unread", text=ast.unparse(target))


def _in_property(ctx: Context) -> bool:
    """True for a write by a property's getter, which is GL313's."""
    return any(isinstance(d, ast.Name) and d.id == "property" for d in ctx.trace.info.decorators)


def _is_callable(value: Value) -> bool:
    if value.kind == v.EXTERNAL:
        return isinstance(value.target, str) and value.target.startswith("mindspore.") and not value.variable
    return value.kind in (v.CELL, v.FUNCTION) and value.sure


class ParameterAttributeWrite(Rule):
    """
    What
        An attribute of a Parameter assigned in graph code.

    Why
        The compiler refuses it ("Do not support to set attribute for a parameter").

    Example
        self.p.requires_grad = False

    Instead
        self.p.requires_grad = False  # in __init__

    Fix safety
        No fix.
    """

    code = "GL315"
    name = "parameter-attribute-write"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "an attribute of a Parameter can't be assigned in the graph", "不能在图中给 Parameter 的属性赋值"
    )
    help = Text("set it in `__init__`, or before the Cell is called", "在 `__init__` 中或调用 Cell 之前设置")

    def on_foreign_attribute_write(self, event: Event, ctx: Context) -> Findings:
        if event.data["base"].parameter:
            yield self.at(event.node)


class GlobalWrite(Rule):
    """
    What
        A module variable rebound in graph code.

    Why
        The graph writes to a variable of its own: the module's keeps its value, and each run starts from the value
        at compile time. A Tensor stored over a None is refused.

    Example
        global COUNT
        COUNT = COUNT + 1

    Instead
        ops.assign_add(self.count, 1)  # a Parameter

    Fix safety
        No fix.
    """

    code = "GL316"
    name = "global-write"
    effects = (When(Effect.DIVERGES), When(Effect.COMPILE_ERROR, case="tensor"))
    message = Text(
        "the graph writes to a copy of '{name}': the module's variable keeps its value",
        "图只修改 `{name}` 的副本，模块变量保持不变",
    )
    refused = Text(
        "a Tensor can't be stored in the module variable '{name}' from the graph",
        "不能在图中把 Tensor 存入模块变量 `{name}`",
    )
    help = Text("keep the state in a Parameter, or return it", "把状态存为 Parameter，或作为返回值")

    def on_global_write(self, event: Event, ctx: Context) -> Findings:
        value, old = event.data["value"], event.data["old"]
        tensor = value.kind == v.TENSOR and old.kind == v.NONE
        yield self.at(
            _declaration(event, ctx),
            end=event.node,
            case="tensor" if tensor else "",
            message=self.refused if tensor else self.message,
            name=event.data["name"],
        )


def _declaration(event: Event, ctx: Context) -> ast.AST:
    """The `global` statement that makes the write one to the module's variable."""
    for node in walk(ctx.node):
        if isinstance(node, ast.Global) and event.data["name"] in node.names:
            return node
    return event.node
