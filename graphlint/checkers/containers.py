"""GL32x: lists, dicts and sets changed in place: which changes the graph keeps, which it loses, which it refuses."""

from __future__ import annotations

import ast
from typing import Optional

from graphlint.checkers.base import Context, Findings, Rule, When, always, certain
from graphlint.finding import Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.objects import WRITTEN_BACK
from graphlint.graph_code.trace import Event
from graphlint.lang import Text

_HELD = (v.LIST, v.DICT, v.SET)


class LostListMethod(Rule):
    """
    What
        `sort` or `remove` on a list, `setdefault` on a dict, as a statement.

    Why
        The graph writes back only append, insert, clear, reverse, extend and update; what any other method changes
        is silently lost (lax) or the method is unknown (strict).

    Example
        r.sort()

    Instead
        r = sorted(r)

    Fix safety
        Safe where the list has no other holder.
    """

    code = "GL320"
    name = "lost-list-method"
    effects = (When(Effect.DIVERGES), When(Effect.COMPILE_ERROR, level="strict"))
    message = Text("`.{method}()` does nothing in the graph: the {kind} stays as it was", "`.{method}()` 在图中不起作用，{kind} 保持不变")
    refused = Text("the graph's {kind} has no method `{method}` at the strict level", "strict 级别下图中的 {kind} 没有 `{method}` 方法")
    help = Text("build a new {kind} and bind it: {how}", "构造新的 {kind} 并重新赋值：{how}")
    instead = {"sort": "`r = sorted(r)`", "remove": "a comprehension", "setdefault": "`if k not in d: d[k] = v`"}

    def on_container_call(self, event: Event, ctx: Context) -> Findings:
        method, receiver = event.data["method"], event.data["receiver"]
        if method not in self.instead or receiver.kind == v.SET:
            return
        yield self.at(
            event.node,
            message=self.refused if self.target.strict else self.message,
            confidence=certain(event),
            method=method,
            kind=receiver.kind,
            how=self.instead[method],
        )


class PopInGraph(Rule):
    """
    What
        `pop` on a list or dict in graph code.

    Why
        `pop` as a statement changes the constant list that the graph holds, so that the next call starts from a
        shorter one; a dict's `pop` gives a wrong value or is refused.

    Example
        k = d.pop("a")

    Instead
        k = d["a"]

    Fix safety
        Unsafe: the dict keeps the key.
    """

    code = "GL321"
    name = "pop-in-graph"
    effects = (
        When(Effect.DIVERGES, case="list"),
        When(Effect.NONE, case="list", level="strict"),
        When(Effect.NONE, case="list", before="2.6"),
        When(Effect.COMPILE_ERROR, case="dict"),
        When(Effect.FALLBACK, case="unread"),
        When(Effect.COMPILE_ERROR, case="unread", level="strict"),
        When(Effect.FALLBACK, case="popitem"),
        When(Effect.COMPILE_ERROR, case="popitem", level="strict"),
        When(Effect.COMPILE_ERROR, case="popitem", before="2.6"),
    )
    message = Text("`.{method}()` as a statement shortens a constant of the graph: the next call starts without the item",
                   "单独的 `.{method}()` 会改变图中的常量列表，下一次调用时该元素已不存在")  # fmt: skip
    dict_ = Text("a dict's `.{method}()` isn't known to the graph: the dict keeps the key or the compiler refuses it",
                 "图不支持字典的 `.{method}()`：键仍保留，或编译失败")  # fmt: skip
    help = Text("read the item and build the rest anew", "读取该元素，并用剩余元素构造新的容器")

    def on_container_call(self, event: Event, ctx: Context) -> Findings:
        method, receiver = event.data["method"], event.data["receiver"]
        if receiver.kind == v.LIST and method == "pop" and event.data["statement"]:
            origin = receiver.ref.root.origin if receiver.ref is not None else "local"
            if origin == "local" and receiver.ref is not None and receiver.ref.literal:
                yield self.at(event.node, case="list", confidence=certain(event), method=method)
        elif receiver.kind == v.DICT and method in ("pop", "popitem"):
            read = _read_after(event.node, ctx)
            case = method if method == "popitem" else "dict" if read else "unread"
            yield self.at(event.node, case=case, message=self.dict_, confidence=certain(event), method=method)


def _read_after(call: ast.AST, ctx: Context) -> bool:
    name = _root(call.func.value)  # type: ignore[attr-defined]
    return any(
        isinstance(n, ast.Name) and n.id == name and n.lineno > call.lineno  # type: ignore[attr-defined]
        for n in ast.walk(ctx.node)
    )


def _root(node: ast.expr) -> Optional[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class WriteThroughAlias(Rule):
    """
    What
        A list or dict changed through one of two names for it, or by a function that got it as an argument.

    Why
        In the graph a change makes a new value and binds it to the name used; the other name keeps the old one.

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
        "this changes an object that '{through}' also names, and '{through}' is read later: it keeps the old value in the graph",
        "此处修改的对象还被 `{through}` 引用，之后会读取 `{through}`：图中它仍是旧值",
    )
    help = Text("change it under the name that is read, or return the new value", "用之后读取的名字来修改，或返回新值")

    def on_alias_write(self, event: Event, ctx: Context) -> Findings:
        if event.data["how"] in ("aug", "inplace") or event.data.get("tensor"):
            return
        yield self.at(event.node, confidence=certain(event), through=event.data["through"])


class OutsideContainerWrite(Rule):
    """
    What
        A list or dict of the Cell, of the module, of the caller or of a default argument changed in graph code.

    Why
        The graph works on a copy: `append` and item assignment are lost. Some methods go through the interpreter
        (lax): they work and cost speed.

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
        When(Effect.COMPILE_ERROR, case="item", level="strict"),
        When(Effect.DIVERGES, case="item", level="lax"),
        When(Effect.FALLBACK, case="dict-item", level="lax"),
        When(Effect.COMPILE_ERROR, case="dict-item", level="strict"),
        When(Effect.NONE, case="input-dict"),
        When(Effect.DIVERGES, case="input-dict", level="strict"),
        When(Effect.DIVERGES, case="input-dict", before="2.6"),
    )
    message = Text(
        "'{path}' belongs to {owner}: this change is lost in the graph", "`{path}` 属于{owner_zh}：此处的修改在图中会丢失"
    )
    kept = Text("'{path}' belongs to {owner}: the interpreter changes it at run time", "`{path}` 属于{owner_zh}：运行时由 Python 解释器修改")
    help = Text("return the new value, or keep it in a Parameter", "返回新值，或存为 Parameter")
    owners = {
        "self": ("the Cell", "Cell"), "global": ("the module", "模块"), "input": ("the caller", "调用方"),
        "default": ("the function's default argument", "函数的默认参数"),
    }  # fmt: skip

    def on_outside_write(self, event: Event, ctx: Context) -> Findings:
        value, how, origin = event.data["value"], event.data["how"], event.data["origin"]
        if value.kind not in (v.LIST, v.DICT) or origin not in self.owners or how in (".pop()", ".popitem()") and value.kind == v.DICT:
            return
        if how == "+=" and origin == "self" and isinstance(event.data["target"], ast.Attribute):
            return
        case = self._case(event, value.kind, how, origin)
        effect = self.effect(case)
        owner, owner_zh = self.owners[origin]
        message = self.kept if effect in (Effect.FALLBACK, Effect.NONE) else self.message
        if effect is Effect.NONE:
            return
        yield self.at(event.node, case=case, message=message, confidence=certain(event), path=event.data["path"],
                      owner=owner, owner_zh=owner_zh)  # fmt: skip

    def _case(self, event: Event, kind: str, how: str, origin: str) -> str:
        if how == "item" and kind == v.DICT:
            if origin == "input":
                return "input-dict"
            own = origin in ("self", "global")
            empty = event.data["value"].items == () and origin == "self"
            return "item" if not own or empty or _reads_itself(event.node, event.data["path"]) else "dict-item"
        if how == "item":
            return "item" if origin == "self" else ""
        if kind == v.LIST and how in (".extend()", ".insert()", ".pop()", ".reverse()") and origin in ("self", "global"):
            return "kept"
        return "item" if how in (".sort()", ".remove()", ".setdefault()") else ""


def _reads_itself(node: ast.AST, path: str) -> bool:
    """True for `d[k] += …` and `d[k] = … d …`."""
    if isinstance(node, ast.AugAssign):
        return True
    value = getattr(node, "value", None)
    return value is not None and any(
        isinstance(n, (ast.Name, ast.Attribute)) and ast.unparse(n) == path for n in ast.walk(value)
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
    )
    message = Text("`in` over Tensors gives another answer in the graph", "图中对 Tensor 使用 `in` 的结果与 PyNative 不同")
    scalar = Text("`in` on a Tensor goes through the interpreter", "对 Tensor 使用 `in` 会回退到 Python 解释器")
    key = Text("a Tensor can't be a key of a dict in the graph", "图中 Tensor 不能作为字典的键")
    help = Text("compare with `==` and reduce with `ops.any`", "用 `==` 比较，再用 `ops.any` 归约")

    def visit_Compare(self, node: ast.Compare, ctx: Context) -> Findings:
        left = node.left
        for op, right in zip(node.ops, node.comparators):
            if isinstance(op, (ast.In, ast.NotIn)):
                a, b = ctx.value(left), ctx.value(right)
                if a.kind == v.TENSOR and b.kind in v.SEQUENCES:
                    yield self.at(node)
                elif b.kind == v.TENSOR:
                    yield self.at(node, case="scalar", message=self.scalar)
            left = right

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
        if isinstance(node.op, ast.BitOr) and v.DICT in (ctx.value(node.left).kind, ctx.value(node.right).kind):
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
    message = Text("`append` to a local list compiles: the list is unrolled when compiling", "对局部列表使用 `append` 可以编译：列表在编译期展开")
    help = Text("nothing to do", "无需处理")

    def enter(self, ctx: Context) -> Findings:
        for event in ctx.trace.events:
            if event.kind == "container_call" and event.data["method"] == "append":
                receiver = event.data["receiver"]
                if receiver.kind == v.LIST and receiver.ref is not None and receiver.ref.root.origin == "local":
                    yield self.at(event.node)
                    return


__all__ = ["WRITTEN_BACK"]
