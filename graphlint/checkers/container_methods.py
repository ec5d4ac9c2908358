"""GL32x: methods that change lists, dicts and sets: which the graph keeps, loses, repeats or refuses."""

from __future__ import annotations

import ast
from typing import ClassVar, Dict, Optional, Tuple

from graphlint.checkers.base import Context, Findings, Rule, When, always, certain
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.objects import WRITTEN_BACK
from graphlint.graph_code.shadows import REPEATED
from graphlint.graph_code.trace import Event
from graphlint.graph_code.values import Value
from graphlint.lang import Text
from graphlint.tree import walk


class LostListMethod(Rule):
    """
    What
        `sort` or `remove` on a list, `setdefault` or `popitem` on a dict.

    Why
        The graph writes back only append, insert, clear, reverse, extend and update; what any other method
        changes is silently lost (lax) or the method is unknown (strict).

    Example
        r.sort()

    Instead
        r = sorted(r)

    Fix safety
        Safe where the list has no other holder.
    """

    code = "GL320"
    name = "lost-list-method"
    effects = (
        When(Effect.DIVERGES),
        When(Effect.COMPILE_ERROR, level="strict", since="2.6"),
        When(Effect.COMPILE_ERROR, case="popitem", before="2.6"),
    )
    message = Text(
        "`.{method}()` does nothing in the graph: the {kind} stays as it was",
        "`.{method}()` 在图中不起作用，{kind} 保持不变",
    )
    refused = Text(
        "the graph's {kind} has no method `{method}` at the strict level",
        "strict 级别下图中的 {kind} 没有 `{method}` 方法",
    )
    help = Text("build a new {kind} and bind it: {how}", "构造新的 {kind} 并重新赋值：{how}")
    instead: ClassVar[Dict[str, Tuple[str, str]]] = {
        "sort": ("list", "`r = sorted(r)`"),
        "remove": ("list", "`[v for v in r if v != x]`"),
        "setdefault": ("dict", "`if k not in d: d[k] = v`"),
        "popitem": ("dict", "`{k: d[k] for k in …}`"),
    }

    def on_container_call(self, event: Event, ctx: Context) -> Findings:
        method, receiver = event.data["method"], event.data["receiver"]
        old = not self.target.since("2.6")
        if (self.target.strict or old) and method in self.instead and receiver.kind != v.SET:
            kind, how = self.instead[method]
            yield self.at(
                event.node,
                case="popitem" if method == "popitem" else "",
                message=self.message if old else self.refused,
                confidence=certain(event),
                method=method,
                kind=kind,
                how=how,
            )

    def on_lost_change(self, event: Event, ctx: Context) -> Findings:
        method = event.data["method"]
        if method in self.instead:
            kind, how = self.instead[method]
            yield self.at(event.node, confidence=certain(event), method=method, kind=kind, how=how)

    on_lost_change_whole = on_lost_change


class PopInGraph(Rule):
    """
    What
        `pop` on a list inside an expression, `pop` on a dict.

    Why
        The graph's `pop` gives the rest of the list together with the item: only `v = a.pop()` and a
        statement of its own take it apart. A dict's `pop` gives a wrong value or is refused.

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
        When(Effect.COMPILE_ERROR, case="list"),
        When(Effect.COMPILE_ERROR, case="dict"),
        When(Effect.FALLBACK, case="unread"),
        When(Effect.COMPILE_ERROR, case="unread", level="strict", since="2.6"),
    )
    message = Text(
        "`.pop()` inside an expression gives the rest of the list with the item: bind it to a name first",
        "表达式中的 `.pop()` 得到的是剩余列表和元素：请先赋值给变量",
    )
    dict_ = Text(
        "a dict's `.pop()` isn't known to the graph: the dict keeps the key or the compiler refuses it",
        "图不支持字典的 `.pop()`：键仍保留，或编译失败",
    )
    help = Text("read the item and build the rest anew", "读取该元素，并用剩余元素构造新的容器")

    def on_container_call(self, event: Event, ctx: Context) -> Findings:
        method, receiver = event.data["method"], event.data["receiver"]
        if method != "pop":
            return
        if receiver.kind == v.LIST and not event.data["statement"] and not _bound_alone(event.node, ctx):
            yield self.at(event.node, case="list", confidence=certain(event))
        elif receiver.kind == v.DICT and receiver.sure and self.target.strict and self.target.since("2.6"):
            yield self.at(event.node, case="dict", message=self.dict_, confidence=certain(event))
        elif receiver.kind in (v.DICT, v.SET) and receiver.sure:
            bound = _bound_alone(event.node, ctx)
            if _origin(receiver) != "local" and not (bound and receiver.kind == v.DICT):
                return
            read = read_after(event.node, ctx)
            if event.data["statement"] or bound:
                used = read or bound
                case = "dict" if used else "unread"
                yield self.at(event.node, case=case, message=self.dict_, confidence=certain(event))
            elif read:
                yield self.at(event.node, case="dict", message=self.dict_, confidence=Confidence.MEDIUM)


def _origin(value: Value) -> str:
    return value.ref.root.origin if value.ref is not None else "local"


def _bound_alone(call: ast.AST, ctx: Context) -> bool:
    """True for `v = a.pop()`."""
    parent = ctx.parent(call)
    return isinstance(parent, ast.Assign) and parent.value is call and isinstance(parent.targets[0], ast.Name)


def read_after(call: ast.AST, ctx: Context) -> bool:
    path: ast.expr = call.func.value  # type: ignore[attr-defined]
    text = _root(path) if not isinstance(path, ast.Attribute) else ast.unparse(path)
    return any(
        isinstance(n, (ast.Name, ast.Attribute)) and n.lineno > call.lineno and ast.unparse(n) == text  # type: ignore[attr-defined]
        for n in walk(ctx.node)
    )


def _root(node: ast.expr) -> Optional[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class RepeatedChange(Rule):
    """
    What
        `extend`, `insert`, `pop` or `reverse` on a list of constants that is read afterwards.

    Why
        Such a list is one constant of the graph, and these methods change it in each run: the second run
        starts from what the first one left.

    Example
        sizes = [3, 1, 2]
        sizes.insert(0, 9)
        return x + sizes[-1]

    Instead
        sizes = [9, *[3, 1, 2]]

    Fix safety
        No fix.
    """

    code = "GL327"
    name = "repeated-change"
    effects = (
        When(Effect.DIVERGES),
        When(Effect.NONE, level="strict"),
        When(Effect.NONE, before="2.6"),
    )
    message = Text(
        "`.{method}()` changes a constant list of the graph: the next run starts from the changed list",
        "`.{method}()` 会改变图中的常量列表：下一次执行从改变后的列表开始",
    )
    help = Text("build the list that you need as a new one", "直接构造所需的新列表")

    def on_lost_change_whole(self, event: Event, ctx: Context) -> Findings:
        if event.data["method"] in REPEATED:
            yield self.at(event.node, confidence=certain(event), method=event.data["method"])

    def on_lost_change(self, event: Event, ctx: Context) -> Findings:
        whole = any(e.kind == "lost_change_whole" and e.node is event.node for e in ctx.trace.events)
        if event.data["method"] in REPEATED and not whole:
            yield self.at(event.node, confidence=Confidence.MEDIUM, method=event.data["method"])

    def on_popped_again(self, event: Event, ctx: Context) -> Findings:
        parent = ctx.parent(event.node)
        if not isinstance(parent, ast.Assign):
            return
        name = parent.targets[0].id if isinstance(parent.targets[0], ast.Name) else ""
        if any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in walk(ctx.node)
        ):
            yield self.at(event.node, confidence=certain(event), method="pop")


class ChangeInExpression(Rule):
    """
    What
        `append` or another changing method where its result is used: in an assignment, a comprehension, a
        condition, a lambda, or through a name bound to the method.

    Why
        The graph binds the changed list to its name only for a call that is a statement of its own: here
        the change is lost.

    Example
        [r.append(v) for v in values]

    Instead
        for v in values:
            r.append(v)

    Fix safety
        Safe for a comprehension that is a statement of its own.
    """

    code = "GL328"
    name = "change-in-expression"
    effects = always(Effect.DIVERGES)
    message = Text(
        "`{text}` changes nothing here: the graph keeps such a change only for a statement of its own",
        "此处 `{text}` 不起作用：图只保留单独成句的修改",
    )
    help = Text("write the call as a statement", "把该调用写成单独的语句")

    def on_container_call(self, event: Event, ctx: Context) -> Findings:
        receiver, method = event.data["receiver"], event.data["method"]
        if event.data["statement"] or receiver.kind not in (v.LIST, v.DICT) or method not in WRITTEN_BACK:
            return
        yield self.at(event.node, confidence=certain(event), text=ast.unparse(event.node)[:40])

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        if callee.startswith(("builtins.list.", "builtins.dict.")) and callee[14:] in WRITTEN_BACK:
            yield self.at(node, text=ast.unparse(node)[:40])
            return
        func = ctx.value(node.func)
        held = func.receiver.kind if func.kind == v.BOUND and func.receiver is not None else ""
        if isinstance(node.func, ast.Name) and held in (v.LIST, v.DICT) and func.target in WRITTEN_BACK:
            yield self.at(_bound_at(node.func.id, ctx) or node, end=node, text=ast.unparse(node)[:40])


def _bound_at(name: str, ctx: Context) -> Optional[ast.AST]:
    for stmt in walk(ctx.node):
        if isinstance(stmt, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in stmt.targets
        ):
            return stmt
    return None


class RefusedChange(Rule):
    """
    What
        Forms of changes to containers that the compiler refuses: `update` with keywords or pairs, `+=` of a
        tuple to a list, a change inside a tuple, an item of a list set at a Tensor's place, a Tensor or
        function as key.

    Why
        The graph's methods take one form alone, and its tuples and keys are constants.

    Example
        d.update(b=5)

    Instead
        d.update({"b": 5})

    Fix safety
        Safe for keywords and pairs.
    """

    code = "GL329"
    name = "refused-change"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("the graph's `update` takes one dict", "图中的 `update` 只接受一个字典")
    merged = Text("`|=` between dicts can't be compiled", "图编译器不支持字典的 `|=`")
    added = Text("the graph's list takes no tuple with `+=`", "图中的列表不能用 `+=` 加元组")
    inside = Text("a list inside a tuple can't be changed in the graph", "图中不能修改元组内的列表")
    set_ = Text(
        "`update` and `clear` leave nothing of a set in the graph",
        "图中集合的 `update` 和 `clear` 会使其失效",
    )
    place = Text(
        "an item of a list can't be set at a Tensor's place", "图中不能用 Tensor 作为下标给列表元素赋值"
    )
    key = Text("{what} can't be a key of a dict in the graph", "图中{what_zh}不能作为字典的键")
    help = Text("write `d.update({{…}})`", "写成 `d.update({{...}})`")
    help_list = Text("build a new list", "构造新的列表")
    keys: ClassVar[Dict[str, Tuple[str, str]]] = {
        v.TENSOR: ("a Tensor", " Tensor "),
        v.FUNCTION: ("a function", "函数"),
        v.CELL: ("a Cell", " Cell "),
    }

    def on_container_call(self, event: Event, ctx: Context) -> Findings:
        receiver, args, method = event.data["receiver"], event.data["args"], event.data["method"]
        pairs = bool(args.pos) and args.pos[0].kind in v.SEQUENCES
        if receiver.kind == v.DICT and method == "update" and (args.kw or pairs):
            yield self.at(event.node, confidence=certain(event))
        own_set = receiver.kind == v.SET and _origin(receiver) == "local" and event.data["statement"]
        if own_set and method in ("update", "clear") and read_after(event.node, ctx):
            yield self.at(event.node, message=self.set_, help=self.help_list, confidence=certain(event))
        if method != "sort":
            yield from self._inside(event, event.node.func.value, ctx)  # type: ignore[attr-defined]

    def on_item_write(self, event: Event, ctx: Context) -> Findings:
        base, key = event.data["base"], event.data["key"]
        if base.kind == v.LIST and key.kind == v.TENSOR and key.sure:
            yield self.at(event.node, message=self.place, help=self.help_list, confidence=certain(event))
        elif base.kind == v.DICT and key.kind in self.keys and key.sure:
            what, what_zh = self.keys[key.kind]
            yield self.at(event.node, message=self.key, help=self.help_list, what=what, what_zh=what_zh)
        yield from self._inside(event, event.data["target"].value, ctx)

    def _inside(self, event: Event, path: ast.AST, ctx: Context) -> Findings:
        if (
            isinstance(path, ast.Subscript)
            and ctx.value(path.value).kind == v.TUPLE
            and ctx.value(path).kind == v.LIST
        ):
            yield self.at(event.node, message=self.inside, help=self.help_list, confidence=certain(event))

    def on_augmented(self, event: Event, ctx: Context) -> Findings:
        old, right = event.data["old"], event.data["right"]
        if old.kind == v.DICT and isinstance(event.node.op, ast.BitOr):  # type: ignore[attr-defined]
            yield self.at(event.node, message=self.merged, confidence=certain(event))
        if old.kind == v.LIST and right.kind == v.TUPLE and isinstance(event.node.op, ast.Add):  # type: ignore[attr-defined]
            yield self.at(event.node, message=self.added, help=self.help_list, confidence=certain(event))

    def visit_Dict(self, node: ast.Dict, ctx: Context) -> Findings:
        for key in node.keys:
            kind = ctx.value(key).kind if key is not None else ""
            if kind in self.keys and kind != v.TENSOR:
                what, what_zh = self.keys[kind]
                yield self.at(node, message=self.key, help=self.help_list, what=what, what_zh=what_zh)
