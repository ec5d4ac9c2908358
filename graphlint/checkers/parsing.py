"""GL13x: what the parser refuses in the form of a function: indentation, raised types, lambdas, unknown names."""

from __future__ import annotations

import ast
import builtins
from typing import Any, Optional

from graphlint.checkers.base import Context, Findings, Rule, always, certain
from graphlint.checkers.syntax import SyntaxRule
from graphlint.finding import Effect
from graphlint.graph_code.frames import local_names
from graphlint.graph_code.trace import Event
from graphlint.lang import Text
from graphlint.project import External
from graphlint.tree import facts, walk

RAISABLE = frozenset(
    "TypeError KeyError IndexError RuntimeError NotImplementedError AttributeError StopIteration ZeroDivisionError "
    "OSError IOError Exception AssertionError OverflowError KeyboardInterrupt NameError UnboundLocalError MemoryError "
    "BaseException ValueError".split()
)
_EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)


class RaiseInGraph(SyntaxRule):
    """
    What
        `raise` of an exception that the graph doesn't know, or without one.

    Why
        The parser has a fixed list of exception types ("Unsupported exception type"); classes of your own, warnings,
        `ImportError`, `FileNotFoundError` and others aren't on it. It reads the statement even where it is never
        reached.

    Example
        raise MyError("bad shape")

    Instead
        raise ValueError("bad shape")

    Fix safety
        Unsafe: callers that catch the other type no longer do.
    """

    code = "GL130"
    name = "raise-in-graph"
    message = Text("the graph can't raise `{name}`", "图中不能抛出 `{name}`")
    bare = Text("a bare `raise` can't be compiled", "图编译器不支持不带异常的 `raise`")
    help = Text(
        "raise ValueError, RuntimeError or another of the graph's types",
        "改为抛出 ValueError、RuntimeError 等图支持的类型",
    )

    def visit_Raise(self, node: ast.Raise, ctx: Context) -> Findings:
        if node.exc is None:
            yield self.at(node, message=self.bare)
            return
        target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(target, ast.Attribute):
            if isinstance(node.exc, ast.Call) and isinstance(
                ctx.module.resolve(target), (External, type(None))
            ):
                yield self.at(node, name=ast.unparse(target))
            return
        if not isinstance(target, ast.Name) or target.id in RAISABLE or target.id in local_names(ctx.node):
            return
        if target.id in _EXCEPTIONS or ctx.module.lookup(target.id) is not None:
            yield self.at(node, name=target.id)


class OutdentedLine(Rule):
    """
    What
        A comment, or a line of a string, that is less indented than the `def` of its function.

    Why
        The compiler takes the function's source apart by its indentation ("There are incorrect indentations in
        definition or comment of function").

    Example
        class Net(nn.Cell):
            def construct(self, x):
        # old: x = x + 1
                return x

    Instead
                # old: x = x + 1

    Fix safety
        Safe for comments: only spaces before them change.
    """

    code = "GL131"
    name = "outdented-line"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "this line is less indented than the `def` of '{function}': the compiler can't take the function's source apart",
        "该行缩进小于函数 `{function}` 的 `def`，编译器无法解析函数源码",
    )
    help = Text("indent it with the function", "按函数缩进该行")

    def enter(self, ctx: Context) -> Findings:
        node = ctx.node
        if isinstance(node, ast.Lambda) or node.col_offset == 0:
            return
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1):
            text = ctx.source.line_text(line)
            if text.strip() and len(text) - len(text.lstrip()) < node.col_offset:
                yield self.at(_Line(line, len(text.encode())), function=ctx.trace.info.name)
                return


class _Line(ast.AST):
    """A whole line as a place to report."""

    def __init__(self, line: int, length: int) -> None:
        super().__init__()
        self.lineno = self.end_lineno = line
        self.col_offset = 0
        self.end_col_offset = length


class UndefinedName(Rule):
    """
    What
        A name in graph code that nothing binds, in a branch that Python never reaches.

    Why
        The parser resolves names in all that it parses, also where the branch is never taken.

    Example
        if x.shape[0] > 100:
            x = helper_that_moved(x)

    Instead
        from utils import helper_that_moved

    Fix safety
        No fix.
    """

    code = "GL132"
    name = "undefined-name"
    effects = always(Effect.COMPILE_ERROR)
    parsed = True
    message = Text(
        "nothing binds '{name}': the parser needs it even if this is never reached",
        "`{name}` 未定义：即使永远不会执行到这里，编译器也需要它",
    )
    help = Text("bind or import it, or take the code out", "定义或导入它，或删除这段代码")
    known = frozenset(dir(builtins)) | {
        "__class__",
        "__file__",
        "__name__",
        "__doc__",
        "__package__",
        "__spec__",
    }

    def visit_Name(self, node: ast.Name, ctx: Context) -> Findings:
        name = node.id
        if not isinstance(node.ctx, ast.Load) or name in self.known or name in ctx.module.order:
            return
        if ctx.module.stars or name in ctx.module.rebound or name in self._bound(ctx):
            return
        if "." in ctx.trace.info.qualname and ctx.trace.info.owner is None:
            return
        yield self.at(node, name=name)

    def _bound(self, ctx: Context) -> Any:
        """Every name bound anywhere in the function or in those within it."""
        cached = getattr(ctx, "_bound_names", None)
        if cached is None:
            cached = set()
            for inner in walk(ctx.node):
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                    cached |= local_names(inner)
                elif isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
                    cached.add(inner.id)
                elif isinstance(inner, ast.Global):
                    cached.update(inner.names)
                elif type(inner).__name__ in ("MatchAs", "MatchStar"):
                    cached.add(getattr(inner, "name", None))
            around = ctx.parent(ctx.node)
            while around is not None:
                if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    cached |= facts(around).stores | local_names(around)
                around = ctx.parent(around)
            ctx._bound_names = cached  # type: ignore[attr-defined]
        return cached


class LambdaSource(Rule):
    """
    What
        A lambda called in the graph that was written inside a list, a dict or a call outside of it.

    Why
        The graph parses a lambda from its source statement, which must be an assignment of that lambda alone ("Parse
        Lambda Function Fail").

    Example
        ACTS = {"double": lambda v: v * 2}

    Instead
        double = lambda v: v * 2
        ACTS = {"double": double}

    Fix safety
        Safe: the lambda moves to a statement of its own.
    """

    code = "GL133"
    name = "lambda-source"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "this lambda is called in the graph, which can't parse it where it stands: inside another expression",
        "图会调用该 lambda，但它写在其他表达式内部，图无法解析",
    )
    help = Text("give it a statement of its own: `name = lambda …`", "单独写成 `name = lambda ...` 语句")

    def on_lambda_source(self, event: Event, ctx: Context) -> Findings:
        yield self.at(event.node, confidence=certain(event))


class StarOverTensor(Rule):
    """
    What
        `f(*x)` where x is a Tensor.

    Why
        The graph unpacks tuples, lists and dicts alone.

    Example
        return f(*x)

    Instead
        return f(*[v for v in x])

    Fix safety
        Safe: the list has the same items.
    """

    code = "GL134"
    name = "star-over-tensor"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "a Tensor can't be unpacked into arguments in the graph", "图中不能用 `*` 把 Tensor 展开为参数"
    )
    help = Text("make a list of it first", "先转换为列表")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        for arg in node.args:
            value: Optional[Any] = ctx.value(arg.value) if isinstance(arg, ast.Starred) else None
            if value is not None and value.kind == "tensor" and value.sure:
                yield self.at(arg)
