"""GL1xx: statements and expressions that MindSpore's parser refuses, anywhere in a function that it parses."""

from __future__ import annotations

import ast
from typing import Any, Iterator

from graphlint.checkers.base import Context, Findings, Rule, always
from graphlint.finding import Effect
from graphlint.graph_code.frames import Instance
from graphlint.lang import Text
from graphlint.tree import walk


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
    message = Text("`try` can't be compiled: the graph parser refuses it", "图编译器不支持 `try` 语句，编译会失败")
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
    message = Text("`import` can't be compiled: the graph parser refuses it", "图编译器不支持在图代码中 `import`，编译会失败")
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
    message = Text("`del` can't be compiled: the graph parser refuses it", "图编译器不支持 `del` 语句，编译会失败")
    help = Text("drop the statement; for an item build a new list or dict without it", "删去该语句；若要删除元素，请构造不含该元素的新容器")

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
    message = Text("`nonlocal` can't be compiled: the graph parser refuses it", "图编译器不支持 `nonlocal` 语句，编译会失败")
    help = Text("return the new value and bind it where the function is called", "改为返回新值，并在调用处重新赋值")

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
    message = Text("a class can't be defined here: the graph parser refuses it", "图编译器不支持在图代码中定义类，编译会失败")
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
    message = Text("`match` can't be compiled: the graph parser refuses it", "图编译器不支持 `match` 语句，编译会失败")
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
    message = Text("`async` code can't be compiled: the graph parser refuses it", "图编译器不支持 `async`/`await`，编译会失败")
    help = Text("use plain functions and loops", "改用普通函数和循环")

    def enter(self, ctx: Context) -> Findings:
        if isinstance(ctx.node, ast.AsyncFunctionDef):
            yield self.at(ctx.node)

    def visit_AsyncFunctionDef(self, node: ast.AST, ctx: Context) -> Findings:
        yield self.at(node)

    visit_AsyncFor = visit_AsyncWith = visit_Await = visit_AsyncFunctionDef


class WalrusInGraph(SyntaxRule):
    """
    What
        An assignment expression (`:=`) in graph code.

    Why
        The graph parser refuses it ("Unsupported expression 'NamedExpr'").

    Example
        if (n := x.shape[0]) > 1:

    Instead
        n = x.shape[0]
        if n > 1:

    Fix safety
        Safe where the expression is evaluated once and first; not in a loop's condition or after `and`/`or`.
    """

    code = "GL108"
    name = "walrus-in-graph"
    message = Text("`:=` can't be compiled: the graph parser refuses it", "图编译器不支持 `:=` 赋值表达式，编译会失败")
    help = Text("assign in a statement of its own before", "改为在前面单独赋值")

    def visit_NamedExpr(self, node: ast.AST, ctx: Context) -> Findings:
        yield self.at(node)


class SetDisplayInGraph(SyntaxRule):
    """
    What
        A set written as `{1, 2}` or as a set comprehension in graph code.

    Why
        The graph parser refuses both ("Unsupported expression 'Set'"), while `set([1, 2])` compiles.

    Example
        if x.ndim in {2, 3}:

    Instead
        if x.ndim in (2, 3):

    Fix safety
        Safe after `in`, where a tuple does the same; elsewhere `set([…])`.
    """

    code = "GL109"
    name = "set-display-in-graph"
    message = Text("a set display can't be compiled: the graph parser refuses it", "图编译器不支持集合字面量或集合推导式，编译会失败")
    help = Text("use a tuple after `in`, or `set([…])`", "在 `in` 之后改用元组，或写成 `set([...])`")

    def visit_Set(self, node: ast.AST, ctx: Context) -> Findings:
        yield self.at(node)

    visit_SetComp = visit_Set


class YieldInGraph(SyntaxRule):
    """
    What
        A generator function in graph code.

    Why
        The graph parser refuses `yield` ("Unsupported expression 'Yield'"); where it stands after a `return`, the
        graph drops it and the function returns a value instead of a generator.

    Example
        def pieces(x):
            yield x[0]

    Instead
        def pieces(x):
            return [x[0]]

    Fix safety
        No fix.
    """

    code = "GL110"
    name = "yield-in-graph"
    message = Text("`yield` can't be compiled: the graph parser refuses it", "图编译器不支持 `yield`，编译会失败")
    help = Text("return a list or tuple of the values", "改为返回由这些值组成的列表或元组")
    dropped = Text(
        "`yield` after `return` is dropped by the graph: this function returns a value there and a generator in PyNative",
        "`return` 之后的 `yield` 会被图编译器丢弃：图模式下返回值，PyNative 下返回生成器",
    )

    def enter(self, ctx: Context) -> Findings:
        for node in _own_nodes(ctx.node):
            if isinstance(node, (ast.Yield, ast.YieldFrom)) and self._parsed(node, ctx):
                yield self.at(ctx.node, end=node)
                return
        body = ctx.node.body if isinstance(ctx.node.body, list) else []
        for stmt in body:
            if stmt in ctx.trace.live or stmt in ctx.trace.parsed:
                continue
            for node in walk(stmt):
                if isinstance(node, (ast.Yield, ast.YieldFrom)):
                    yield self.at(node, message=self.dropped, effect=Effect.DIVERGES)
                    return


    def _parsed(self, node: ast.AST, ctx: Context) -> bool:
        stmt: Any = node
        while stmt is not None and not isinstance(stmt, ast.stmt):
            stmt = ctx.parent(stmt)
        return stmt in ctx.trace.live or stmt in ctx.trace.parsed


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions within it."""
    todo = list(function.body) if isinstance(getattr(function, "body", None), list) else []  # type: ignore[attr-defined]
    while todo:
        node = todo.pop(0)
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))


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
        "`{kind} … else` can't be compiled: the graph parser refuses it", "图编译器不支持 `{kind} ... else`，编译会失败"
    )
    help = Text("move the `else` part after the loop, under a flag if the loop can break", "把 else 部分移到循环之后；若循环含 break，用标志变量控制")

    def visit_For(self, node: Any, ctx: Context) -> Findings:
        if node.orelse:
            yield self.at(node, kind="for" if isinstance(node, ast.For) else "while")

    visit_While = visit_For


class NestedComprehension(SyntaxRule):
    """
    What
        A comprehension with more than one `for` in graph code.

    Why
        The graph parser takes one only ("The 'generators' supports 1 'comprehension'").

    Example
        [i + j for i in a for j in b]

    Instead
        pairs = []
        for i in a:
            for j in b:
                pairs.append(i + j)

    Fix safety
        No fix.
    """

    code = "GL112"
    name = "nested-comprehension"
    message = Text(
        "a comprehension with {n} `for` can't be compiled: the graph parser takes one",
        "图编译器的推导式只支持一个 `for`，这里有 {n} 个，编译会失败",
    )
    help = Text("nest two loops, or a comprehension within another", "改为嵌套循环，或在推导式中嵌套另一个推导式")

    def visit_ListComp(self, node: Any, ctx: Context) -> Findings:
        if len(node.generators) > 1:
            yield self.at(node, n=len(node.generators))

    visit_GeneratorExp = visit_DictComp = visit_ListComp


class ComplexConstant(SyntaxRule):
    """
    What
        A complex literal in graph code.

    Why
        The graph parser has no complex constants ("Unsupported Constant type").

    Example
        z = 1 + 2j

    Instead
        self.z = Tensor(1 + 2j, ms.complex64)  # in __init__

    Fix safety
        No fix.
    """

    code = "GL113"
    name = "complex-constant"
    message = Text("a complex literal can't be compiled", "图编译器不支持复数字面量，编译会失败")
    help = Text("make a complex Tensor in `__init__`", "在 `__init__` 中创建复数 Tensor")

    def visit_Constant(self, node: ast.Constant, ctx: Context) -> Findings:
        if isinstance(node.value, complex):
            yield self.at(node)


class BigInteger(SyntaxRule):
    """
    What
        An integer literal that needs more than 64 bits in graph code.

    Why
        The parser can't hold it ("Unable to cast Python instance of type int").

    Example
        k = 99999999999999999999

    Instead
        k = 1e20

    Fix safety
        No fix.
    """

    code = "GL114"
    name = "big-integer"
    message = Text("{value} doesn't fit in 64 bits: the graph parser refuses it", "整数 {value} 超出 64 位，图编译器无法处理")
    help = Text("use a float, or an integer within 64 bits", "改用浮点数，或 64 位以内的整数")

    def visit_Constant(self, node: ast.Constant, ctx: Context) -> Findings:
        if isinstance(node.value, int) and not -(2**63) <= node.value < 2**63:
            yield self.at(node, value=str(node.value))

    def visit_Attribute(self, node: ast.Attribute, ctx: Context) -> Findings:
        found = ctx.value(node)
        if isinstance(found.const, int) and not -(2**63) <= found.const < 2**63:
            yield self.at(node, value=str(found.const))


class PositionalOnlyParameters(SyntaxRule):
    """
    What
        Positional-only parameters (`/`) of a function in graph code.

    Why
        The graph parser doesn't see them: the names are unknown in the body (NameError).

    Example
        def construct(self, x, /, k=2):

    Instead
        def construct(self, x, k=2):

    Fix safety
        Unsafe: callers could then pass them by name.
    """

    code = "GL115"
    name = "positional-only-parameters"
    message = Text(
        "the graph parser doesn't know positional-only parameters: `{names}` will be an unknown name",
        "图编译器不识别仅限位置参数：`{names}` 会成为未定义的名字",
    )
    help = Text("drop the `/`", "去掉 `/`")

    def enter(self, ctx: Context) -> Findings:
        spec = ctx.node.args
        if spec.posonlyargs:
            names = ", ".join(a.arg for a in spec.posonlyargs)
            yield self.at(spec.posonlyargs[0], end=spec.posonlyargs[-1], names=names)


class SelfRenamed(SyntaxRule):
    """
    What
        A `construct` whose first parameter isn't called `self`.

    Why
        The graph parser looks the Cell up under that very name.

    Example
        def construct(this, x):

    Instead
        def construct(self, x):

    Fix safety
        Safe where no other name in the function is `self`.
    """

    code = "GL116"
    name = "self-renamed"
    message = Text(
        "the first parameter of `{function}` must be called `self`, not `{name}`: the graph parser looks for that name",
        "`{function}` 的第一个参数必须叫 `self`（现为 `{name}`），图编译器按这个名字查找",
    )
    help = Text("rename it to `self`", "改名为 `self`")

    def enter(self, ctx: Context) -> Findings:
        info = ctx.trace.info
        if info.owner is None or not info.owner.looks_like_cell or isinstance(ctx.node, ast.Lambda):
            return
        static = {"staticmethod", "classmethod"}
        if any(isinstance(d, ast.Name) and d.id in static for d in ctx.node.decorator_list):
            return
        args = [*ctx.node.args.posonlyargs, *ctx.node.args.args]
        if args and args[0].arg != "self":
            yield self.at(args[0], function=info.name, name=args[0].arg)


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
