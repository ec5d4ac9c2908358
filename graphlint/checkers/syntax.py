"""GL10x and GL117: statements that the parser refuses, anywhere in a function that it parses."""

from __future__ import annotations

import ast
from typing import Any

from graphlint.checkers.base import Context, Findings, Rule, always
from graphlint.finding import Effect
from graphlint.graph_code.frames import Instance
from graphlint.lang import Text


class SyntaxRule(Rule):
    """A construct that the parser refuses on every version, also in a branch that is compiled away."""

    effects = always(Effect.COMPILE_ERROR)
    parsed = True


class TryInGraph(SyntaxRule):
    """
    What
        `try` in code that is compiled as a graph.

    Why
        The graph parser has no `try` statement: it refuses the function ("Unsupported statement 'Try'"), even where
        the statement stands in a branch that is never taken.

    Example
        def construct(self, x):
            try:
                return self.net(x)
            except ValueError:
                return x

    Instead
        def construct(self, x):
            return self.net(x)

    Fix safety
        Safe where nothing in the body can raise there; else a sketch: whether the handler is needed is yours to say.
    """

    code = "GL101"
    name = "try-in-graph"
    message = Text(
        "`try` can't be compiled: the graph parser refuses it", "图编译器不支持 `try` 语句，编译会失败"
    )
    help = Text(
        "check the condition with `if` before, or catch the error around the call of the Cell",
        "改为提前用 `if` 判断，或在调用 Cell 的地方捕获异常",
    )

    def visit_Try(self, node: ast.Try, ctx: Context) -> Findings:
        yield self.at(node)

    visit_TryStar = visit_Try


class ImportInGraph(SyntaxRule):
    """
    What
        `import` inside code that is compiled as a graph.

    Why
        The graph parser refuses import statements ("Unsupported statement 'Import'").

    Example
        def construct(self, x):
            import math
            return x * math.pi

    Instead
        import math  # at the module's top

    Fix safety
        Safe where the module's top doesn't bind the name yet and importing has no side effects to wait for.
    """

    code = "GL102"
    name = "import-in-graph"
    message = Text(
        "`import` can't be compiled: the graph parser refuses it",
        "图编译器不支持在图代码中 `import`，编译会失败",
    )
    help = Text("move the import to the top of the module", "把 import 移到模块顶部")

    def visit_Import(self, node: ast.AST, ctx: Context) -> Findings:
        yield self.at(node)

    visit_ImportFrom = visit_Import


class DelInGraph(SyntaxRule):
    """
    What
        `del` of a name, an item or an attribute in graph code.

    Why
        The graph parser refuses it ("Unsupported statement 'Delete'").

    Example
        del cache[0]

    Instead
        cache = cache[1:]

    Fix safety
        Safe for a name that isn't used again; unsafe for items.
    """

    code = "GL103"
    name = "del-in-graph"
    message = Text(
        "`del` can't be compiled: the graph parser refuses it", "图编译器不支持 `del` 语句，编译会失败"
    )
    help = Text(
        "drop the statement; for an item build a new list or dict without it",
        "删去该语句；若要删除元素，请构造不含该元素的新容器",
    )

    def visit_Delete(self, node: ast.AST, ctx: Context) -> Findings:
        yield self.at(node)


class NonlocalInGraph(SyntaxRule):
    """
    What
        `nonlocal` in a nested function of graph code.

    Why
        The graph parser refuses it ("Unsupported statement 'Nonlocal'"); graphs have no shared variables.

    Example
        def bump():
            nonlocal n
            n = n + 1

    Instead
        def bump(n):
            return n + 1
        n = bump(n)

    Fix safety
        Unsafe: the value has to be returned and bound by every caller.
    """

    code = "GL104"
    name = "nonlocal-in-graph"
    message = Text(
        "`nonlocal` can't be compiled: the graph parser refuses it",
        "图编译器不支持 `nonlocal` 语句，编译会失败",
    )
    help = Text(
        "return the new value and bind it where the function is called", "改为返回新值，并在调用处重新赋值"
    )

    def visit_Nonlocal(self, node: ast.AST, ctx: Context) -> Findings:
        yield self.at(node)


class ClassInGraph(SyntaxRule):
    """
    What
        A class defined inside graph code.

    Why
        The graph parser refuses it ("Unsupported statement 'ClassDef'").

    Example
        def construct(self, x):
            class Box:
                k = 3

    Instead
        class Box:  # at module level
            k = 3

    Fix safety
        No fix: what the class closes over is yours to move.
    """

    code = "GL105"
    name = "class-in-graph"
    message = Text(
        "a class can't be defined here: the graph parser refuses it",
        "图编译器不支持在图代码中定义类，编译会失败",
    )
    help = Text("define the class at module level", "把类定义移到模块级别")

    def visit_ClassDef(self, node: ast.AST, ctx: Context) -> Findings:
        yield self.at(node)


class MatchInGraph(SyntaxRule):
    """
    What
        `match` in graph code.

    Why
        The graph parser refuses it ("Unsupported statement 'Match'").

    Example
        match mode:
            case "relu": x = ops.relu(x)

    Instead
        if mode == "relu":
            x = ops.relu(x)

    Fix safety
        Safe for patterns that are constants; others get no fix.
    """

    code = "GL106"
    name = "match-in-graph"
    message = Text(
        "`match` can't be compiled: the graph parser refuses it", "图编译器不支持 `match` 语句，编译会失败"
    )
    help = Text("write it as `if`/`elif`", "改写为 `if`/`elif`")

    def visit_Match(self, node: ast.AST, ctx: Context) -> Findings:
        yield self.at(node)


class AsyncInGraph(SyntaxRule):
    """
    What
        `async def`, `async for`, `async with` or `await` in graph code.

    Why
        The graph parser refuses them.

    Example
        async def fetch(x): ...

    Instead
        def fetch(x): ...

    Fix safety
        No fix.
    """

    code = "GL107"
    name = "async-in-graph"
    message = Text(
        "`async` code can't be compiled: the graph parser refuses it",
        "图编译器不支持 `async`/`await`，编译会失败",
    )
    help = Text("use plain functions and loops", "改用普通函数和循环")

    def enter(self, ctx: Context) -> Findings:
        if isinstance(ctx.node, ast.AsyncFunctionDef):
            yield self.at(ctx.node)

    def visit_AsyncFunctionDef(self, node: ast.AST, ctx: Context) -> Findings:
        yield self.at(node)

    visit_AsyncFor = visit_AsyncWith = visit_Await = visit_AsyncFunctionDef


class LoopElseInGraph(SyntaxRule):
    """
    What
        `for … else` or `while … else` in graph code.

    Why
        The graph parser refuses the `else` ("The 'for...else...' statement is not supported now").

    Example
        for i in range(3):
            x = x + i
        else:
            x = x * 2

    Instead
        for i in range(3):
            x = x + i
        x = x * 2

    Fix safety
        Safe where the loop has no `break`; else a flag is needed.
    """

    code = "GL111"
    name = "loop-else-in-graph"
    message = Text(
        "`{kind} … else` can't be compiled: the graph parser refuses it",
        "图编译器不支持 `{kind} ... else`，编译会失败",
    )
    help = Text(
        "move the `else` part after the loop, under a flag if the loop can break",
        "把 else 部分移到循环之后；若循环含 break，用标志变量控制",
    )

    def visit_For(self, node: Any, ctx: Context) -> Findings:
        if node.orelse:
            yield self.at(node, kind="for" if isinstance(node, ast.For) else "while")

    visit_While = visit_For


class WithInGraph(Rule):
    """
    What
        `with` over anything but a Cell or an object of a class under `@jit_class`.

    Why
        The graph calls `__enter__` and `__exit__` itself and can do so only for those ("Only support jit_class
        instance").

    Example
        with contextlib.suppress(ValueError):
            x = x + 1

    Instead
        x = x + 1

    Fix safety
        Safe for no-grad contexts whose body becomes a `stop_gradient`; else no fix.
    """

    code = "GL117"
    name = "with-in-graph"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "`with` over {what} can't be compiled: only Cells and `@jit_class` objects can be entered",
        "图编译器的 `with` 只支持 Cell 或 `@jit_class` 对象，这里是{what}，编译会失败",
    )
    help = Text(
        "move the `with` around the call of the Cell, or put its class under `@ms.jit_class`",
        "把 `with` 移到调用 Cell 的外面，或给上下文管理器的类加上 `@ms.jit_class`",
    )

    def visit_With(self, node: ast.With, ctx: Context) -> Findings:
        for item in node.items:
            value = ctx.value(item.context_expr)
            if isinstance(value.target, Instance):
                cls = value.target.cls
                if cls.looks_like_cell or any(d.endswith(".jit_class") for d in _decorators(cls)):
                    continue
                yield self.at(item.context_expr, what=f"`{cls.name}`")
            elif value.kind == "external" or _foreign(item.context_expr, ctx):
                yield self.at(item.context_expr, what=f"`{ast.unparse(item.context_expr)[:40]}`")


def _foreign(expr: ast.expr, ctx: Context) -> bool:
    """True for a call of something that the project doesn't define."""
    return isinstance(expr, ast.Call) and bool(ctx.callee(expr))


def _decorators(cls: Any) -> list:
    return [cls.module.dotted(d) or "" for d in cls.node.decorator_list]
