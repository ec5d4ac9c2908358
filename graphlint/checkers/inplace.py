"""GL4xx: tensors written in place, and who else sees it."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, ClassVar, Dict

from graphlint.checkers.base import Context, Findings, Found, Rule, When, always, certain
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.tensors import INTS
from graphlint.graph_code.trace import Event
from graphlint.graph_code.values import Value
from graphlint.lang import Text


class ItemWriteThroughView(Rule):
    """
    What
        An item of a tensor assigned through another name or a view, where the first is read later.

    Why
        In the graph the assignment makes a new tensor for the name used; in PyNative all views share the data.

    Example
        y = x
        y[0] = 9
        return x

    Instead
        x[0] = 9
        return x

    Fix safety
        Unsafe: makes the write explicit under the name that is read.
    """

    code = "GL401"
    name = "item-write-through-view"
    effects = always(Effect.DIVERGES)
    message = Text(
        "this writes into data that '{through}' shares, and '{through}' is read later: it keeps the old data in the graph",
        "此处写入的数据与 `{through}` 共享，之后会读取 `{through}`：图中它仍是旧数据",
    )
    help = Text(
        "write under the name that is read, or copy first and say so", "用之后读取的名字来写入，或先显式拷贝"
    )

    def on_alias_write(self, event: Event, ctx: Context) -> Findings:
        if event.data.get("tensor") and event.data["how"] == "item":
            yield self.at(event.node, confidence=certain(event), through=event.data["through"])


class AugmentedAlias(Rule):
    """
    What
        `+=`, `-=`, `*=`, `/=` or `//=` on a tensor that another name, the Cell or the caller holds too.

    Why
        From 2.8 on the graph writes in place: every holder sees it. PyNative on a CPU doesn't write; what it does on
        Ascend was not run. Before, the graph made a new tensor.

    Example
        y = x
        y += 1

    Instead
        y = x + 1

    Fix safety
        Safe where nobody else may see the write: it makes the new tensor explicit.
    """

    code = "GL402"
    name = "augmented-alias"
    effects = (When(Effect.DIVERGES, since="2.8"),)
    message = Text(
        "the graph writes '{text}' in place, and {who} sees it; measure on Ascend whether PyNative does too",
        "图会就地写入 `{text}`，{who_zh}也会看到；PyNative 是否如此请在 Ascend 上实测",
    )
    help = Text(
        "write `{text} = {text} {op} …` for a new tensor", "写成 `{text} = {text} {op} ...` 以得到新的 Tensor"
    )
    _ops: ClassVar = {
        ast.Add: "+",
        ast.Sub: "-",
        ast.Mult: "*",
        ast.Div: "/",
        ast.FloorDiv: "//",
        ast.Mod: "%",
    }

    def on_augmented(self, event: Event, ctx: Context) -> Findings:
        old: Value = event.data["old"]
        node: Any = event.node
        if old.kind != v.TENSOR or type(node.op) not in self._ops or self.effect() is Effect.NONE:
            return
        if isinstance(event.data["target"], ast.Subscript) or old.ref is None:
            return
        origin = old.ref.root_for("aug").origin
        if origin in ("input", "self", "global"):
            if isinstance(event.data["target"], ast.Attribute):
                return
            who = {
                "input": ("the caller", "调用方"),
                "self": ("the Cell", "Cell"),
                "global": ("the module", "模块"),
            }[origin]
            yield self._found(node, event, who, ctx)

    def on_alias_write(self, event: Event, ctx: Context) -> Findings:
        if event.data["how"] == "aug" and event.data.get("tensor"):
            through = event.data["through"]
            yield self._found(event.node, event, (f"'{through}'", f" `{through}` "), ctx)

    def _found(self, node: Any, event: Event, who: Any, ctx: Context) -> Found:
        made = event.data.get("made")
        found = self.at(
            node, confidence=Confidence.MEDIUM, text=ast.unparse(node.target), op=self._ops[type(node.op)], who=who[0],
            who_zh=who[1],
        )  # fmt: skip
        return replace(found, via=((ctx.module.path, made.lineno),)) if made is not None else found


class AugmentedConstant(Rule):
    """
    What
        `+=`, `-=`, `*=`, `/=` or `//=` on a tensor that the function makes from constants.

    Why
        From 2.8 on the graph writes in place, into the constant that it holds: the next call starts from what this
        one left. Measured on a CPU with 2.10.0; PyNative makes a new tensor at each call on every device.

    Example
        i = Tensor(0)
        i += 1

    Instead
        i = Tensor(0)
        i = i + 1

    Fix safety
        Safe: it makes the new tensor explicit.
    """

    code = "GL406"
    name = "augmented-constant"
    effects = (When(Effect.DIVERGES, since="2.8"),)
    message = Text(
        "the graph adds into the constant behind '{text}': the next call starts from what this one left",
        "图会就地修改 `{text}` 所指的常量：下一次调用会从本次的结果开始",
    )
    help = Text("write `{text} = {text} {op} …`", "写成 `{text} = {text} {op} ...`")

    def on_augmented(self, event: Event, ctx: Context) -> Findings:
        old: Value = event.data["old"]
        node: Any = event.node
        op = AugmentedAlias._ops.get(type(node.op))
        if (
            self.effect() is Effect.NONE
            or op is None
            or old.kind != v.TENSOR
            or not isinstance(node.target, ast.Name)
        ):
            return
        if old.ref is not None and old.ref.literal and old.ref.origin == "local":
            yield self.at(node, confidence=certain(event), text=node.target.id, op=op)


class AugmentedGrowth(Rule):
    """
    What
        An augmented assignment whose right side is larger, or of a wider dtype, than the tensor on the left.

    Why
        From 2.8 on it is a write in place: the result must fit the tensor that is there.

    Example
        a = x.sum()
        a += x

    Instead
        a = a + x

    Fix safety
        Safe: `a = a + x` is what PyNative does.
    """

    code = "GL403"
    name = "augmented-growth"
    effects = (
        When(Effect.COMPILE_ERROR, since="2.8"),
        When(Effect.NONE, case="dtype"),
        When(Effect.DIVERGES, case="dtype", since="2.8"),
    )
    message = Text(
        "the graph writes '{text}' in place, and the result has another shape",
        "图会就地写入 `{text}`，但结果的形状不同",
    )
    dtype = Text(
        "the graph writes '{text}' in place: it stays {old}, where PyNative gives {new}",
        "图会就地写入 `{text}`：结果仍为 {old}，PyNative 则为 {new}",
    )
    of_bool = Text(
        "the graph writes '{text}' in place, and a bool can't hold the result",
        "图会就地写入 `{text}`，bool 无法保存结果",
    )
    help = Text("write `{text} = {text} {op} …`", "写成 `{text} = {text} {op} ...`")

    def on_augmented(self, event: Event, ctx: Context) -> Findings:
        old, right, node = event.data["old"], event.data["right"], event.node
        if self.effect() is Effect.NONE or type(node.op) not in AugmentedAlias._ops:  # type: ignore[attr-defined]
            return
        if (
            old.kind == v.TENSOR
            and right.kind == v.TENSOR
            and old.shape is not None
            and right.shape is not None
        ):
            if len(right.shape) > len(old.shape) or _wider(old.shape, right.shape):
                op = AugmentedAlias._ops[type(node.op)]  # type: ignore[attr-defined]
                yield self.at(node, confidence=certain(event), text=ast.unparse(event.data["target"]), op=op)
        elif old.kind == v.TENSOR and right.kind == v.NUMBER and not isinstance(node.op, ast.FloorDiv):  # type: ignore[attr-defined]
            yield from self._dtype(event, old, right)

    def _dtype(self, event: Event, old: Value, right: Value) -> Findings:
        node: Any = event.node
        values: Dict[str, Any] = {"text": ast.unparse(node.target), "op": AugmentedAlias._ops[type(node.op)]}
        if old.dtype == "bool" and right.dtype in ("int", "float"):
            yield self.at(node, message=self.of_bool, confidence=certain(event), **values)
        elif old.dtype in INTS and right.dtype == "float":
            yield self.at(
                node,
                case="dtype",
                message=self.dtype,
                confidence=certain(event),
                old=old.dtype,
                new="float32",
                **values,
            )


def _wider(old: Any, right: Any) -> bool:
    return any(a == 1 and isinstance(b, int) and b > 1 for a, b in zip(reversed(old), reversed(right)))


class ItemWriteOutside(Rule):
    """
    What
        An item assigned to a tensor of the caller, the Cell or the module.

    Why
        The graph assigns into a tensor of its own: the caller's stays as it was, while PyNative writes into it.

    Example
        x[0] = 9.0

    Instead
        x = x.copy()
        x[0] = 9.0

    Fix safety
        Unsafe: PyNative then leaves the caller's tensor alone too.
    """

    code = "GL404"
    name = "item-write-outside"
    effects = (
        When(Effect.DIVERGES),
        When(Effect.COMPILE_ERROR, case="self", level="strict"),
        When(Effect.COMPILE_ERROR, case="self", before="2.6"),
    )
    message = Text(
        "'{path}' belongs to {owner}: PyNative writes into it, the graph into a copy",
        "`{path}` 属于{owner_zh}：PyNative 会直接写入，图只写入副本",
    )
    help = Text("copy it first, or make it a Parameter", "先拷贝，或改为 Parameter")
    owners: ClassVar = {
        "self": ("the Cell", "Cell"),
        "global": ("the module", "模块"),
        "input": ("the caller", "调用方"),
    }

    def on_outside_write(self, event: Event, ctx: Context) -> Findings:
        value, origin = event.data["value"], event.data["origin"]
        if (
            value.kind != v.TENSOR
            or value.parameter
            or event.data["how"] != "item"
            or origin not in self.owners
        ):
            return
        owner, owner_zh = self.owners[origin]
        strict_self = self.target.strict and origin == "self"
        yield self.at(
            event.node, case="self" if origin == "self" else "",
            confidence=Confidence.HIGH if value.sure and strict_self else Confidence.MEDIUM,
            path=event.data["path"], owner=owner, owner_zh=owner_zh,
        )  # fmt: skip
