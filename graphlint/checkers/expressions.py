"""GL108 to GL116: expressions and parameters that the parser refuses, anywhere in a function that it parses."""

from __future__ import annotations

import ast
from typing import Any, Iterator

from graphlint.checkers.base import Context, Findings, When
from graphlint.checkers.syntax import SyntaxRule
from graphlint.finding import Effect
from graphlint.lang import Text
from graphlint.tree import walk


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
    message = Text(
        "`:=` can't be compiled: the graph parser refuses it", "图编译器不支持 `:=` 赋值表达式，编译会失败"
    )
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
    message = Text(
        "a set display can't be compiled: the graph parser refuses it",
        "图编译器不支持集合字面量或集合推导式，编译会失败",
    )
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
    effects = (When(Effect.COMPILE_ERROR), When(Effect.DIVERGES, case="dropped", since="2.6"))
    message = Text(
        "`yield` can't be compiled: the graph parser refuses it", "图编译器不支持 `yield`，编译会失败"
    )
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
                    yield self.at(node, case="dropped", message=self.dropped)
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
    help = Text(
        "nest two loops, or a comprehension within another", "改为嵌套循环，或在推导式中嵌套另一个推导式"
    )

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
    message = Text(
        "{value} doesn't fit in 64 bits: the graph parser refuses it",
        "整数 {value} 超出 64 位，图编译器无法处理",
    )
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
