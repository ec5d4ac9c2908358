"""GL2xx: branches and loops over data: what two paths must agree on, and what can't be unrolled."""

from __future__ import annotations

import ast
from typing import Any

from graphlint.checkers.base import Context, Findings, Rule, When, always, certain, later
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.binding import Binding
from graphlint.graph_code.trace import Event
from graphlint.lang import Text
from graphlint.tree import walk


class UnlikeBranches(Rule):
    """
    What
        Branches of a Tensor condition that leave a name, or return, values of unlike type, dtype or length.

    Why
        A condition that depends on a Tensor's data keeps both branches in the graph, and what they leave must be
        alike: same kind, same dtype, same tuple length (shapes may differ). Else: "Cannot join the return values of
        different branches". None on one path falls back to the interpreter (lax) or is refused (strict).

    Example
        if x.sum() > 0:
            y = x.astype(ms.float16)
        else:
            y = x

    Instead
        if x.sum() > 0:
            y = x.astype(ms.float16)
        else:
            y = x.astype(ms.float16)

    Fix safety
        Unsafe: a cast changes the dtype that the code after it sees.
    """

    code = "GL201"
    name = "unlike-branches"
    effects = (
        When(Effect.COMPILE_ERROR),
        When(Effect.FALLBACK, case="fallback"),
        When(Effect.DIVERGES, case="diverges"),
    )
    message = Text(
        "a Tensor decides between paths that {what}: {reason}; the graph can't join them",
        "由 Tensor 决定的两个分支{what_zh}类型不一致（{reason}），图编译器无法合并",
    )
    fallback = Text(
        "a Tensor decides between paths that {what}: {reason}; the interpreter takes over here at run time",
        "由 Tensor 决定的两个分支{what_zh}类型不一致（{reason}），运行时会回退到 Python 解释器",
    )
    help = Text("give both paths the same kind, dtype and length", "让两个分支的类型、dtype 和长度保持一致")

    def on_unlike_branches(self, event: Event, ctx: Context) -> Findings:
        name, outcome = event.data["name"], event.data["outcome"]
        what = f"leave '{name}' unlike" if name else "return unlike values"
        what_zh = f"中 `{name}` 的" if name else "返回值的"
        yield self.at(
            event.node,
            case=outcome,
            message=self.fallback if outcome == "fallback" else self.message,
            confidence=certain(event),
            end=later(event.node, event.data["end"], ctx),
            what=what,
            what_zh=what_zh,
            reason=event.data["reason"],
        )


class UnboundOnBranch(Rule):
    """
    What
        A name that only one branch, or only the body of a loop, binds, read afterwards.

    Why
        The parser makes a function of each branch, so the name must have a value on each ("The local variable 'y' is
        not defined in false branch, but defined in true branch"), also where the condition is always true. Only
        conditions that it decides itself are spared: a bool attribute of self, its comparison with a constant,
        `is None`.

    Example
        if x.sum() > 0:
            y = x * 2
        return y

    Instead
        y = x
        if x.sum() > 0:
            y = x * 2
        return y

    Fix safety
        Unsafe: the value that it gets before is a guess.
    """

    code = "GL202"
    name = "unbound-on-branch"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "'{name}' is bound on one path of this branch only and read afterwards: the graph needs a value on each",
        "`{name}` 只在该分支的一条路径上赋值，之后又被读取：图的每条路径都必须有值",
    )
    loop = Text(
        "'{name}' is bound in the body of this loop only and read afterwards: the graph needs a value before",
        "`{name}` 只在该循环体内赋值，之后又被读取：图要求在循环之前就有值",
    )
    help = Text("give '{name}' a value before", "在此之前先给 `{name}` 赋值")

    def enter(self, ctx: Context) -> Findings:
        for unbound in Binding(ctx.node, lambda test: ctx.trace.decided.get(test)).run():
            if unbound.node not in ctx.trace.live and unbound.node not in ctx.trace.parsed:
                continue
            yield self.at(
                unbound.node,
                message=self.loop if unbound.loop else self.message,
                end=later(unbound.node, unbound.read, ctx),
                name=unbound.name,
            )


class LoopCarriedType(Rule):
    """
    What
        A name that a Tensor-driven loop changes to another type or dtype from one round to the next.

    Why
        The loop is one subgraph, and what it carries must keep its type ("Cannot join the return values").

    Example
        total = 0
        while i < n:
            total = total + x.sum()

    Instead
        total = ops.zeros((), ms.float32)
        while i < n:
            total = total + x.sum()

    Fix safety
        No fix.
    """

    code = "GL203"
    name = "loop-carried-type"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "a loop that a Tensor drives changes the type of '{name}' ({reason}): the graph can't carry it",
        "由 Tensor 控制的循环改变了 `{name}` 的类型（{reason}），图无法在各轮之间传递",
    )
    help = Text("give '{name}' its final type before the loop", "在循环之前就让 `{name}` 具有最终的类型")

    def on_loop_carried(self, event: Event, ctx: Context) -> Findings:
        yield self.at(event.node, confidence=certain(event), name=event.data["name"], reason=event.data["reason"])


class GrowingLoop(Rule):
    """
    What
        A Tensor-driven loop that makes a tensor larger each round.

    Why
        The loop is one subgraph; its shapes can't change from round to round (ValueError, or "Exceed function call
        depth limit 1000").

    Example
        while x.sum() < 20:
            x = ops.concat((x, x))

    Instead
        for _ in range(self.rounds):  # unrolled
            x = ops.concat((x, x))

    Fix safety
        No fix.
    """

    code = "GL204"
    name = "growing-loop"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "a loop that a Tensor drives changes the size of '{name}' each round: the graph can't carry it",
        "由 Tensor 控制的循环每轮都会改变 `{name}` 的形状，图无法处理",
    )
    help = Text(
        "loop a number of times that is known when compiling, or write into a tensor of the final size",
        "改为编译期次数确定的循环，或写入一个预先分配好大小的 Tensor",
    )

    def on_growing_loop(self, event: Event, ctx: Context) -> Findings:
        yield self.at(event.node, confidence=certain(event), name=event.data["name"])


class RangeOverTensor(Rule):
    """
    What
        `range` over a Tensor.

    Why
        The loop is unrolled when compiling, so its bounds must be numbers ("the 0th input should be a int scalar").
        `range(int(n))` runs, as a loop of the graph.

    Example
        for i in range(n):  # n is a Tensor

    Instead
        for i in range(int(n)):

    Fix safety
        Safe for a Tensor of one integer: `int(…)` is what `range` asks of it in PyNative.
    """

    code = "GL205"
    name = "range-over-tensor"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("`range` needs numbers, and `{text}` is a Tensor: it can't be compiled", "`range` 需要数字，而 `{text}` 是 Tensor，编译会失败")
    help = Text("write `int({text})`, or loop with `while`", "写成 `int({text})`，或改用 `while` 循环")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if ctx.callee(node) == "builtins.range":
            for arg in node.args:
                if ctx.value(arg).kind == v.TENSOR:
                    sure = Confidence.HIGH if ctx.value(arg).sure else Confidence.MEDIUM
                    yield self.at(node, confidence=sure, text=ast.unparse(arg)[:40])
                    return


class RecursionOnTensor(Rule):
    """
    What
        Recursion that only a Tensor's value can stop.

    Why
        The graph unrolls calls when compiling, where the value isn't known ("Exceed function call depth limit").

    Example
        def down(self, x):
            if x.sum() < 1:
                return x
            return self.down(x - 1)

    Instead
        while x.sum() >= 1:
            x = x - 1

    Fix safety
        No fix.
    """

    code = "GL207"
    name = "recursion-on-tensor"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "'{name}' calls itself under a condition that depends on a Tensor: the compiler unrolls it without end",
        "`{name}` 的递归由 Tensor 条件终止，编译器会无限展开",
    )
    help = Text("write it as a `while` loop", "改写为 `while` 循环")

    def on_recursion_on_tensor(self, event: Event, ctx: Context) -> Findings:
        yield self.at(event.node, confidence=certain(event), name=event.data["name"])


class EndlessUnrolling(Rule):
    """
    What
        A `while` loop over a list that shrinks in place.

    Why
        The condition is decided when compiling and `pop` as a statement of its own isn't written back, so that the
        list never shrinks there.

    Example
        while a:
            t = t + a.pop()

    Instead
        for item in reversed(a):
            t = t + item

    Fix safety
        No fix.
    """

    code = "GL208"
    name = "endless-unrolling"
    effects = (
        When(Effect.COMPILE_ERROR),
        When(Effect.NONE, level="strict"),
        When(Effect.NONE, before="2.6"),
    )
    message = Text(
        "the compiler unrolls this loop, and the `pop` in it isn't seen by the condition: it fails or never ends",
        "编译器会展开该循环，而条件看不到循环体中的 `pop`，编译会失败或无法结束",
    )
    help = Text("loop over the list with `for`", "改用 `for` 遍历列表")

    def visit_While(self, node: ast.While, ctx: Context) -> Findings:
        lists = {
            inner.id
            for inner in walk(node.test)
            if isinstance(inner, ast.Name) and ctx.value(inner).kind == v.LIST
        }
        for call in walk(ast.Module(node.body, [])):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "pop":
                if isinstance(call.func.value, ast.Name) and call.func.value.id in lists:
                    yield self.at(node)
                    return


class ListInTensorBranch(Rule):
    """
    What
        A list that gets its first Tensor under a Tensor condition, or a comprehension filtered by one.

    Why
        The number of items would depend on the data; an empty and a filled list don't join.

    Example
        out = []
        for i in range(3):
            if x.sum() > i:
                out.append(x + i)

    Instead
        out = [ops.where(x.sum() > i, x + i, x) for i in range(3)]

    Fix safety
        No fix.
    """

    code = "GL209"
    name = "list-in-tensor-branch"
    effects = (
        When(Effect.COMPILE_ERROR),
        When(Effect.NONE, level="strict"),
        When(Effect.NONE, before="2.6"),
    )
    message = Text(
        "a Tensor decides how many items this list has: the graph can't hold that",
        "列表的元素个数由 Tensor 决定，图无法表示",
    )
    help = Text("keep the length fixed and choose the items with `ops.where`", "保持长度固定，用 `ops.where` 选择元素")

    def on_filtered_by_tensor(self, event: Event, ctx: Context) -> Findings:
        yield self.at(event.node, confidence=certain(event))


class MissingKey(Rule):
    """
    What
        A key that a dict doesn't have at that point of the graph.

    Why
        What a callee adds to a dict isn't seen by its caller in the graph; a key that is missing is refused when
        compiling.

    Example
        def put(self, d, x):
            d["k"] = x

    Instead
        def put(self, d, x):
            d["k"] = x
            return d

    Fix safety
        Unsafe: the caller has to bind what the helper returns.
    """

    code = "GL210"
    name = "missing-key"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("the graph's dict has no key {key} here", "图中的字典此处没有键 {key}")
    help = Text("return the dict from the function that fills it", "让填充字典的函数返回该字典")

    def on_missing_key(self, event: Event, ctx: Context) -> Findings:
        if event.data["base"].sure:
            yield self.at(event.node, confidence=certain(event), key=repr(event.data["key"].const))


class MixedCondition(Rule):
    """
    What
        `and` or `or` with a Tensor and, after it, something else than a Tensor, or with a Tensor and a number that
        is only known when the graph runs.

    Why
        The graph makes a branch of it and can't join the two kinds ("Cannot join the return values of different
        branches"). The other way round it compiles: a constant first is decided when compiling.

    Example
        if x.sum() > 0 and self.flag:

    Instead
        if self.flag and x.sum() > 0:

    Fix safety
        Safe where neither side has an effect: the order alone changes.
    """

    code = "GL212"
    name = "mixed-condition"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "this `{op}` mixes a Tensor with `{text}`, which is none: the graph can't join the two",
        "此 `{op}` 混用了 Tensor 与非 Tensor 的 `{text}`，图无法合并这两者",
    )
    help = Text(
        "put a constant condition first; compare Tensors with Tensors",
        "把常量条件放在前面；Tensor 只与 Tensor 组合",
    )

    def on_mixed_bool(self, event: Event, ctx: Context) -> Findings:
        op = "and" if isinstance(event.node.op, ast.And) else "or"  # type: ignore[attr-defined]
        yield self.at(event.node, confidence=certain(event), op=op, text=ast.unparse(event.data["part"])[:40])


class ForTarget(Rule):
    """
    What
        A `for` whose target is an item (`for a[0] in …`), or a dict unpacked into names.

    Why
        The parser binds names there; it doesn't know the item, and unpacks a dict by position.

    Example
        for row[0] in items:

    Instead
        for item in items:
            row[0] = item

    Fix safety
        Safe for the loop: a new name takes the item first.
    """

    code = "GL213"
    name = "for-target"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("the graph's `for` binds names alone, not `{text}`", "图中的 `for` 只能绑定名字，不能绑定 `{text}`")
    unpacked = Text("the graph can't unpack a dict into names", "图中不能把字典拆包到多个名字")
    help = Text("bind a name and assign from it", "先绑定到一个名字，再赋值")

    def visit_For(self, node: ast.For, ctx: Context) -> Findings:
        if isinstance(node.target, ast.Subscript):
            yield self.at(node.target, text=ast.unparse(node.target))

    def visit_Assign(self, node: ast.Assign, ctx: Context) -> Findings:
        if isinstance(node.targets[0], (ast.Tuple, ast.List)) and ctx.value(node.value).kind == v.DICT:
            yield self.at(node, message=self.unpacked)


class UnrolledLoop(Rule):
    """
    What
        A `for` loop over many items.

    Why
        The compiler unrolls it: each round is compiled again, and memory and compile time grow with the number.

    Example
        for i in range(1000):
            x = self.step(x)

    Instead
        i = Tensor(0)
        while i < 1000:
            x = self.step(x)
            i = i + 1

    Fix safety
        No fix.
    """

    code = "GL211"
    name = "unrolled-loop"
    effects = always(Effect.SLOW)
    message = Text("the compiler unrolls these {n} rounds one by one", "编译器会逐轮展开这 {n} 次循环")
    help = Text("loop with `while` over a Tensor counter to keep one copy of the body", "改用以 Tensor 计数的 `while`，循环体只编译一份")
    limit = 256

    def visit_For(self, node: ast.For, ctx: Context) -> Findings:
        iterable: Any = ctx.value(node.iter)
        if iterable.kind == v.RANGE and isinstance(iterable.const, range) and len(iterable.const) >= self.limit:
            yield self.at(node.iter, n=len(iterable.const))
