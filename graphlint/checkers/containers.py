"""GL32x: lists and dicts with other holders, membership, merging."""

from __future__ import annotations

import ast
from typing import ClassVar, Dict, Tuple

from graphlint.checkers.base import Context, Findings, Rule, When, always, certain, confidence_of
from graphlint.checkers.container_methods import read_after
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.trace import Event
from graphlint.graph_code.values import NOCONST, to_python
from graphlint.lang import Text
from graphlint.tree import walk

_HELD = (v.LIST, v.DICT, v.SET)


class WriteThroughAlias(Rule):
    """
    What
        A list or dict changed through one of two names for it, or by a function that got it as an argument.

    Why
        In the graph a change makes a new value and binds it to the name used; the other name keeps the old
        one.

    Example
        b = a
        b.append(2)
        return len(a)

    Instead
        a.append(2)
        return len(a)

    Fix safety
        Unsafe: the other name has to be bound anew.
    """

    code = "GL322"
    name = "write-through-alias"
    effects = always(Effect.DIVERGES)
    message = Text(
        "this changes an object that '{through}' also names: read later, it keeps the old value",
        "此处修改的对象还被 `{through}` 引用，之后会读取 `{through}`：图中它仍是旧值",
    )
    help = Text(
        "change it under the name that is read, or return the new value", "用之后读取的名字来修改，或返回新值"
    )

    def on_alias_write(self, event: Event, ctx: Context) -> Findings:
        if event.data["how"] in ("aug", "inplace") or event.data.get("tensor"):
            return
        yield self.at(event.node, confidence=certain(event), through=event.data["through"])


class OutsideContainerWrite(Rule):
    """
    What
        A list or dict of the Cell, of the module, of the caller or of a default argument changed in graph
        code.

    Why
        The graph works on a copy: `append` and item assignment are lost. Some methods go through the
        interpreter (lax): they work and cost speed.

    Example
        self.seen.append(x)

    Instead
        return x, seen + [x]

    Fix safety
        No fix: what should hold the state is yours to say.
    """

    code = "GL323"
    name = "outside-container-write"
    effects = (
        When(Effect.DIVERGES),
        When(Effect.FALLBACK, case="kept"),
        When(Effect.DIVERGES, case="kept", level="strict"),
        When(Effect.DIVERGES, case="popped"),
        When(Effect.COMPILE_ERROR, case="item", level="strict"),
        When(Effect.DIVERGES, case="item", level="lax"),
        When(Effect.FALLBACK, case="dict-item", level="lax"),
        When(Effect.COMPILE_ERROR, case="dict-item", level="strict"),
        When(Effect.DIVERGES, case="kept", before="2.6"),
        When(Effect.COMPILE_ERROR, case="item", before="2.6"),
        When(Effect.COMPILE_ERROR, case="dict-item", before="2.6"),
        When(Effect.NONE, case="input-dict"),
        When(Effect.DIVERGES, case="input-dict", level="strict"),
        When(Effect.DIVERGES, case="input-dict", before="2.6"),
    )
    message = Text(
        "'{path}' belongs to {owner}: this change is lost in the graph",
        "`{path}` 属于{owner_zh}：此处的修改在图中会丢失",
    )
    kept = Text(
        "'{path}' belongs to {owner}: the interpreter changes it at run time",
        "`{path}` 属于{owner_zh}：运行时由 Python 解释器修改",
    )
    help = Text("return the new value, or keep it in a Parameter", "返回新值，或存为 Parameter")
    owners: ClassVar[Dict[str, Tuple[str, str]]] = {
        "self": ("the Cell", "Cell"), "global": ("the module", "模块"), "input": ("the caller", "调用方"),
        "default": ("the function's default argument", "函数的默认参数"),
    }  # fmt: skip

    def on_outside_write(self, event: Event, ctx: Context) -> Findings:
        value, how, origin = event.data["value"], event.data["how"], event.data["origin"]
        if value.kind not in (v.LIST, v.DICT) or origin not in self.owners:
            return
        if how == "+=" and origin == "self" and isinstance(event.data["target"], ast.Attribute):
            return
        case = self._case(event, value.kind, how, origin)
        if how == ".pop()" and value.kind == v.LIST and isinstance(ctx.parent(event.node), ast.Expr):
            case = "popped" if read_after(event.node, ctx) and origin == "self" else case
        effect = self.effect(case)
        owner, owner_zh = self.owners[origin]
        message = self.kept if effect in (Effect.FALLBACK, Effect.NONE) else self.message
        if effect is Effect.NONE:
            return
        sure = Confidence.MEDIUM if origin == "input" else certain(event)
        yield self.at(event.node, case=case, message=message, confidence=sure, path=event.data["path"],
                      owner=owner, owner_zh=owner_zh)  # fmt: skip

    def _case(self, event: Event, kind: str, how: str, origin: str) -> str:
        if how == "item" and kind == v.DICT:
            if origin == "input":
                return "" if to_python(event.data["value"]) is not NOCONST else "input-dict"
            own = origin in ("self", "global")
            empty = event.data["value"].items == () and origin == "self"
            return (
                "item" if not own or empty or _reads_itself(event.node, event.data["path"]) else "dict-item"
            )
        if how == "item":
            return "item" if origin == "self" else ""
        if (
            kind == v.LIST
            and how in (".extend()", ".insert()", ".pop()", ".reverse()")
            and origin != "default"
        ):
            return "kept"
        return "item" if how in (".sort()", ".remove()", ".setdefault()") else ""


def _reads_itself(node: ast.AST, path: str) -> bool:
    """True for `d[k] += …` and `d[k] = … d …`."""
    if isinstance(node, ast.AugAssign):
        return True
    value = getattr(node, "value", None)
    return value is not None and any(
        isinstance(n, (ast.Name, ast.Attribute)) and ast.unparse(n) == path for n in walk(value)
    )


class TensorMembership(Rule):
    """
    What
        `in` between a Tensor and a list or tuple, or a Tensor as a dict key.

    Why
        The graph compares identity or falls back: the answer differs from PyNative's.

    Example
        if x in [a, b]:

    Instead
        if (x == a).all() or (x == b).all():

    Fix safety
        Unsafe: states what equality is meant.
    """

    code = "GL324"
    name = "tensor-membership"
    effects = (
        When(Effect.DIVERGES),
        When(Effect.COMPILE_ERROR, case="key"),
        When(Effect.FALLBACK, case="scalar", level="lax"),
        When(Effect.COMPILE_ERROR, case="scalar", level="strict"),
        When(Effect.COMPILE_ERROR, case="scalar", before="2.6"),
    )
    message = Text(
        "`in` over Tensors gives another answer in the graph",
        "图中对 Tensor 使用 `in` 的结果与 PyNative 不同",
    )
    scalar = Text(
        "`in` on a Tensor goes through the interpreter", "对 Tensor 使用 `in` 会回退到 Python 解释器"
    )
    key = Text("a Tensor can't be a key of a dict in the graph", "图中 Tensor 不能作为字典的键")
    index = Text("`index` of a Tensor can't be compiled", "对 Tensor 使用 `index` 无法编译")
    item = Text("`in` of what `.item()` gives can't be compiled", "对 `.item()` 的结果使用 `in` 无法编译")
    help = Text("compare with `==` and reduce with `ops.any`", "用 `==` 比较，再用 `ops.any` 归约")

    def visit_Compare(self, node: ast.Compare, ctx: Context) -> Findings:
        left = node.left
        for op, right in zip(node.ops, node.comparators):
            if isinstance(op, (ast.In, ast.NotIn)):
                a, b = ctx.value(left), ctx.value(right)
                if a.kind == v.TENSOR and b.kind in v.SEQUENCES and not b.holds(lambda x: x.kind == v.TENSOR):
                    yield self.at(node, confidence=confidence_of(a, b))
                elif a.origin == "item" and b.kind in v.SEQUENCES:
                    yield self.at(node, case="key", message=self.item, confidence=confidence_of(a, b))
                elif b.kind == v.TENSOR:
                    yield self.at(node, case="scalar", message=self.scalar)
            left = right

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "index" and node.args:
            sought = ctx.value(node.args[0])
            if ctx.value(node.func.value).kind in v.SEQUENCES and sought.kind == v.TENSOR and sought.rank:
                yield self.at(node, case="key", message=self.index, confidence=confidence_of(sought))

    def visit_Dict(self, node: ast.Dict, ctx: Context) -> Findings:
        if any(k is not None and ctx.value(k).kind == v.TENSOR for k in node.keys):
            yield self.at(node, case="key", message=self.key)


class DictMerge(Rule):
    """
    What
        `|` between dicts.

    Why
        The compiler refuses it.

    Example
        d = a | b

    Instead
        d = {**a, **b}

    Fix safety
        Safe: both make the same dict.
    """

    code = "GL325"
    name = "dict-merge"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("`|` between dicts can't be compiled", "图编译器不支持字典之间的 `|`")
    help = Text("write `{{**a, **b}}`", "写成 `{{**a, **b}}`")

    def visit_BinOp(self, node: ast.BinOp, ctx: Context) -> Findings:
        if isinstance(node.op, ast.BitOr) and v.DICT in (
            ctx.value(node.left).kind,
            ctx.value(node.right).kind,
        ):
            yield self.at(node)


class LocalListAppend(Rule):
    """
    What
        `append` to a list that the function made itself.

    Why
        It compiles: the graph unrolls it into a new list at each step.

    Example
        outs.append(x)

    Instead
        outs.append(x)

    Fix safety
        Nothing to fix.
    """

    code = "GL326"
    name = "local-list-append"
    effects = always(Effect.NONE)
    message = Text(
        "`append` to a local list compiles: the list is unrolled when compiling",
        "对局部列表使用 `append` 可以编译：列表在编译期展开",
    )
    help = Text("nothing to do", "无需处理")

    def enter(self, ctx: Context) -> Findings:
        for event in ctx.trace.events:
            if event.kind == "container_call" and event.data["method"] == "append":
                receiver = event.data["receiver"]
                if (
                    receiver.kind == v.LIST
                    and receiver.ref is not None
                    and receiver.ref.root.origin == "local"
                ):
                    yield self.at(event.node)
                    return


class DictStar(Rule):
    """
    What
        `**d` in a dict display where `d` holds Tensors, and the new dict's items read.

    Why
        The graph mixes the items up: a key gives another item's value, or the compiler refuses it.

    Example
        e = {**d, "c": x}
        return e["a"]

    Instead
        e = {"a": d["a"], "c": x}

    Fix safety
        Safe where the keys of `d` are known.
    """

    code = "GL336"
    name = "dict-star"
    effects = (When(Effect.DIVERGES), When(Effect.COMPILE_ERROR, case="own"))
    own = Text(
        "`**` of a dict of the Cell beside Tensors can't be compiled",
        "Cell 的字典与 Tensor 一起使用 `**` 无法编译",
    )
    message = Text(
        "`**` of a dict with Tensors mixes its items up in the graph",
        "图中对含 Tensor 的字典使用 `**` 会使各项错位",
    )
    help = Text("write the keys out, or copy it and `update` the copy", "逐个写出键，或先复制再 `update`")

    def visit_Dict(self, node: ast.Dict, ctx: Context) -> Findings:
        for key, held in zip(node.keys, node.values):
            value = ctx.value(held)
            if key is not None or value.kind != v.DICT or not value.items or isinstance(held, ast.Dict):
                continue
            own = value.ref is not None and value.ref.root.origin == "self"
            if own and any(ctx.value(v_).runtime for k, v_ in zip(node.keys, node.values) if k is not None):
                yield self.at(node, case="own", message=self.own)
                return
            if all(item.kind == v.TENSOR for item in value.items):
                yield self.at(node, confidence=confidence_of(value))
                return
