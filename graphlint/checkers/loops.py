"""GL203 to GL213: loops over data, recursion and unrolling."""

from __future__ import annotations

import ast
from typing import Any

from graphlint.checkers.base import Context, Findings, Rule, When, always, certain
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.graph_code.trace import Event
from graphlint.lang import Text
from graphlint.tree import walk


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
        yield self.at(
            event.node, confidence=certain(event), name=event.data["name"], reason=event.data["reason"]
        )


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
    message = Text(
        "`range` needs numbers, and `{text}` is a Tensor: it can't be compiled",
        "`range` 需要数字，而 `{text}` 是 Tensor，编译会失败",
    )
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
        When(Effect.NONE, level="strict", since="2.6"),
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
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "pop"
            ):
                if isinstance(call.func.value, ast.Name) and call.func.value.id in lists:
                    yield self.at(node)
                    return


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
    message = Text(
        "the graph's `for` binds names alone, not `{text}`", "图中的 `for` 只能绑定名字，不能绑定 `{text}`"
    )
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
    help = Text(
        "loop with `while` over a Tensor counter to keep one copy of the body",
        "改用以 Tensor 计数的 `while`，循环体只编译一份",
    )
    limit = 256

    def visit_For(self, node: ast.For, ctx: Context) -> Findings:
        iterable: Any = ctx.value(node.iter)
        if (
            iterable.kind == v.RANGE
            and isinstance(iterable.const, range)
            and len(iterable.const) >= self.limit
        ):
            yield self.at(node.iter, n=len(iterable.const))
