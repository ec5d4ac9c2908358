"""GL201, GL202 and others: what branches that data decides must agree on."""

from __future__ import annotations

import ast

from graphlint.checkers.base import Context, Findings, Rule, When, always, certain, later
from graphlint.finding import Effect
from graphlint.graph_code.binding import Binding
from graphlint.graph_code.trace import Event
from graphlint.lang import Text


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
        When(Effect.COMPILE_ERROR, case="fallback", before="2.6"),
        When(Effect.COMPILE_ERROR, case="fallback", level="strict"),
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
            message=self.fallback if self.effect(outcome) is Effect.FALLBACK else self.message,
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
        When(Effect.NONE, level="strict", since="2.6"),
    )
    message = Text(
        "a Tensor decides how many items this list has: the graph can't hold that",
        "列表的元素个数由 Tensor 决定，图无法表示",
    )
    help = Text(
        "keep the length fixed and choose the items with `ops.where`", "保持长度固定，用 `ops.where` 选择元素"
    )

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
    effects = (When(Effect.COMPILE_ERROR), When(Effect.FALLBACK, since="2.6", before="2.7"))
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
