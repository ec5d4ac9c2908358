"""GL30x: printing, logging, time and randomness: what happens at another time, in another form or once only."""

from __future__ import annotations

import ast

from graphlint.checkers.base import Context, Findings, Rule, When, always, confidence_of
from graphlint.finding import Confidence, Effect
from graphlint.graph_code import values as v
from graphlint.lang import Text
from graphlint.tree import walk


class PrintKeyword(Rule):
    """
    What
        `print` with a keyword argument in graph code.

    Why
        The graph's print takes values alone ("Got an unexpected keyword argument 'sep'").

    Example
        print("loss", x, end="")

    Instead
        print("loss", x)

    Fix safety
        Unsafe: the text changes, since the keyword is dropped.
    """

    code = "GL301"
    name = "print-keyword"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "the graph's print takes no keyword: `{names}` is refused",
        "图模式的 print 不接受关键字参数：`{names}` 会导致编译失败",
    )
    help = Text("drop the keyword", "去掉该关键字参数")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        given = [k for k in node.keywords if k.arg is not None or ctx.value(k.value).items != ()]
        if ctx.callee(node) == "builtins.print" and given:
            yield self.at(node, names=", ".join(k.arg or "**" for k in given))


class PrintTensor(Rule):
    """
    What
        `print` of a Tensor in graph code.

    Why
        It compiles and prints another text (`Tensor(shape=[2], dtype=Float32, value=[…])`), when the graph runs:
        buffered, and not in step with Python's own output.

    Example
        print("x is", x)

    Instead
        print("x is", x)  # while debugging, outside the Cell

    Fix safety
        No fix: printing may be what you want.
    """

    code = "GL302"
    name = "print-tensor"
    effects = always(Effect.SIDE_EFFECT)
    message = Text(
        "printing a Tensor in the graph gives another text than PyNative, when the graph runs",
        "图模式下打印 Tensor 的格式与 PyNative 不同，且在图执行时才输出",
    )
    help = Text(
        "print outside the Cell, or expect the graph's format", "在 Cell 之外打印，或接受图模式的输出格式"
    )

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        if ctx.callee(node) != "builtins.print" or node.keywords:
            return
        for arg in node.args:
            value = ctx.value(arg)
            if isinstance(arg, ast.JoinedStr) or value.kind == v.STR:
                continue
            if value.holds(lambda x: x.kind == v.TENSOR):
                yield self.at(node, confidence=confidence_of(value))
                return


class PrintConstant(Rule):
    """
    What
        `print` of constants in graph code.

    Why
        It compiles and prints the same text each time the graph runs.

    Example
        print("forward")

    Instead
        print("forward")

    Fix safety
        Nothing to fix.
    """

    code = "GL304"
    name = "print-constant"
    effects = always(Effect.NONE)
    message = Text(
        "printing constants works in the graph and costs a host call a run",
        "图模式支持打印常量，但每次执行都会有主机调用开销",
    )
    help = Text(
        "fine while debugging; take it out of the model that ships", "调试时可用；交付的模型中建议去掉"
    )

    def enter(self, ctx: Context) -> Findings:
        for node in walk(ctx.node):
            if isinstance(node, ast.Call) and ctx.reached(node) and ctx.callee(node) == "builtins.print":
                if not node.keywords and not any(ctx.value(a).runtime for a in node.args):
                    yield self.at(node)
                    return


_LOGGING = ("logging.",)
_LOG_METHODS = frozenset("debug info warning warn error critical exception log".split())
_ONCE = ("sys.stdout.write", "sys.stderr.write", "builtins.input")


class HostSideEffect(Rule):
    """
    What
        Logging, or writing to a stream, in graph code.

    Why
        It runs once, when the graph is compiled, and not again when it runs.

    Example
        logger.info("step")

    Instead
        logger.info("step")  # around the call of the Cell

    Fix safety
        No fix.
    """

    code = "GL305"
    name = "host-side-effect"
    effects = (When(Effect.DIVERGES), When(Effect.SIDE_EFFECT, case="logging"))
    message = Text(
        "`{text}` runs once, when the graph is compiled, and never again",
        "`{text}` 只在编译时执行一次，图执行时不会再执行",
    )
    help = Text("do it around the call of the Cell", "放到调用 Cell 的地方")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        text = ast.unparse(node.func)[:40]
        if callee in _ONCE:
            yield self.at(node, text=text)
        elif callee.startswith(_LOGGING) and callee.rsplit(".", 1)[-1] in _LOG_METHODS:
            yield self.at(node, case="logging", text=text)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _LOG_METHODS:
            receiver = ctx.value(node.func.value)
            if receiver.kind == v.EXTERNAL and receiver.origin in ("logging.getLogger", "logging.Logger"):
                yield self.at(node, case="logging", text=text)


_FROZEN = (
    "random.", "numpy.random.", "time.time", "time.perf_counter", "time.monotonic", "time.process_time", "uuid.uuid",
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today", "secrets.", "os.urandom",
    "time.time_ns", "time.perf_counter_ns", "datetime.datetime.today", "time.monotonic_ns", "time.strftime",
)  # fmt: skip
_NOT_FROZEN = frozenset("random.seed numpy.random.seed random.Random".split())


class FrozenCall(Rule):
    """
    What
        Python's or NumPy's random numbers, or the time, in graph code.

    Why
        They are evaluated once, when the graph is compiled: each later call sees the same number.

    Example
        return x * random.random()

    Instead
        return x * ops.rand(1)

    Fix safety
        Unsafe: an operator draws other numbers than the Python function.
    """

    code = "GL306"
    name = "frozen-call"
    effects = (When(Effect.DIVERGES), When(Effect.NONE, case="python", before="2.6"))
    message = Text(
        "`{text}` is evaluated once, when the graph is compiled: every later run sees the same value",
        "`{text}` 只在编译时求值一次，之后每次执行都得到同一个值",
    )
    help = Text(
        "use an operator (`ops.rand`, `ops.randint`), or pass the value in as an argument",
        "改用算子（如 `ops.rand`、`ops.randint`），或作为参数传入",
    )

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        callee = ctx.callee(node)
        case = "python" if callee.startswith("random.") else ""
        if self.effect(case) is Effect.NONE:
            return
        if callee.startswith(_FROZEN) and callee not in _NOT_FROZEN:
            direct = isinstance(ctx.parent(node), (ast.BinOp, ast.Return)) and not node.args
            yield self.at(
                node,
                case=case,
                text=ast.unparse(node.func)[:40],
                confidence=Confidence.HIGH if direct else Confidence.MEDIUM,
            )
