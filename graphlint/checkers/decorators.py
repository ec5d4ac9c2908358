"""GL342, GL348: decorators, which the graph unwraps, compiles or trips over."""

from __future__ import annotations

import ast
from typing import Any, Iterator, Optional

from graphlint.checkers.base import Context, Findings, Rule, When, always
from graphlint.finding import Confidence, Effect
from graphlint.graph_code.roots import is_jit
from graphlint.lang import Text
from graphlint.project import ClassInfo, FunctionInfo
from graphlint.tree import walk

_HARMLESS = (
    "staticmethod", "classmethod", "property", "abc.abstractmethod", "mindspore.jit", "mindspore.ms_function",
    "mindspore.lazy_inline", "typing.overload", "typing.override", "functools.cached_property", "functools.lru_cache",
    "functools.cache", "functools.wraps", "mindspore.ops.constexpr", "mindspore.constexpr", "mindspore.ops._primexpr",
    "functools.singledispatch", "mindspore._no_grad", "mindspore.common.jit_class", "mindspore.jit_class",
    "mindspore.ops.primitive._primexpr", "mindspore.ops.primitive.constexpr", "contextlib.contextmanager",
)  # fmt: skip
_QUIET, _PRINTS, _CHANGES = "quiet", "prints", "changes"
_TALKS = frozenset("print debug info warning error critical exception log".split())


def _resolved(decorator: ast.expr, info: FunctionInfo) -> Optional[object]:
    """The project's function or class that decorates, None for all that is known to do no harm."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(target, ast.Attribute) and target.attr in ("setter", "getter", "deleter"):
        return None
    name = target.id if isinstance(target, ast.Name) else None
    dotted = info.module.dotted(target)
    if name in _HARMLESS or dotted in _HARMLESS or is_jit(decorator, info.module):
        return None
    return info.module.resolve(target)


def _wrappers(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The innermost functions of a decorator: what stands in the decorated function's place."""
    for inner in walk(node):
        if isinstance(inner, ast.FunctionDef) and inner is not node:
            if not any(isinstance(n, ast.FunctionDef) and n is not inner for n in walk(inner)):
                yield inner


def _is_wrapped(wrapper: ast.FunctionDef, info: FunctionInfo) -> bool:
    for decorator in wrapper.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if info.module.dotted(target) == "functools.wraps":
            return True
    return False


def _work(wrapper: ast.FunctionDef) -> str:
    """What a wrapper does beside handing its arguments on: nothing, printing alone, or more."""
    found, result = _QUIET, ""
    for stmt in wrapper.body:
        value = getattr(stmt, "value", None)
        if isinstance(stmt, ast.Expr) and isinstance(value, ast.Constant):
            continue
        if isinstance(stmt, ast.Expr) and isinstance(value, ast.Call) and _talks(value):
            found = _PRINTS
        elif (
            isinstance(stmt, ast.Assign)
            and isinstance(stmt.targets[0], ast.Name)
            and isinstance(value, ast.Call)
        ):
            result = stmt.targets[0].id if _hands_on(value) else result
        elif isinstance(stmt, ast.Return):
            same = (
                isinstance(value, ast.Call)
                and _hands_on(value)
                or isinstance(value, ast.Name)
                and value.id == result
            )
            if not same:
                return _CHANGES
        else:
            return _CHANGES
    return found


def _talks(call: ast.Call) -> bool:
    return getattr(call.func, "id", getattr(call.func, "attr", "")) in _TALKS


def _hands_on(call: ast.Call) -> bool:
    return all(isinstance(a, (ast.Name, ast.Starred)) for a in call.args) and isinstance(call.func, ast.Name)


def _gives_back(node: Any) -> bool:
    """True for a decorator that returns the function it was given."""
    args = node.args.args
    returns = [n for n in walk(node) if isinstance(n, ast.Return)]
    return bool(args and returns) and all(
        isinstance(r.value, ast.Name) and r.value.id == args[0].arg for r in returns
    )


def _writes_outside(wrapper: ast.FunctionDef) -> bool:
    own = {a.arg for a in wrapper.args.args}
    own |= {n.id for n in walk(wrapper) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in walk(wrapper):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return isinstance(node.value, ast.Name) and node.value.id not in own
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("append", "add", "update")
        ):
            return isinstance(node.func.value, ast.Name) and node.func.value.id not in own
    return False


def _is_nested(info: FunctionInfo) -> bool:
    return "." in info.qualname and info.owner is None


class DecoratorIgnored(Rule):
    """
    What
        A decorator on a construct, a method or a function of graph code whose wrapper the graph skips.

    Why
        The compiler unwraps what `functools.wraps` marked, and doesn't look at decorators of nested functions at
        all: the plain function is compiled, and what the wrapper adds is lost. A wrapper without `functools.wraps` is
        compiled; the Python state that it changes stays as it was.

    Example
        @times_ten  # uses functools.wraps
        def construct(self, x):
            return x + 1

    Instead
        def construct(self, x):
            return (x + 1) * 10

    Fix safety
        Unsafe: the wrapper's work is folded into the function.
    """

    code = "GL342"
    name = "decorator-ignored"
    effects = (When(Effect.DIVERGES), When(Effect.SIDE_EFFECT, case="prints"))
    message = Text(
        "the graph skips the decorator '{name}' and compiles the bare function",
        "图会跳过装饰器 `{name}`，直接编译原函数",
    )
    loses = Text(
        "the graph loses what the wrapper of '{name}' writes to outer variables",
        "图会丢失装饰器 `{name}` 的包装函数对外部变量的修改",
    )
    help = Text("fold what the decorator does into the function", "把装饰器的逻辑写进函数内部")

    def enter(self, ctx: Context) -> Findings:
        info = ctx.trace.info
        for decorator in info.decorators:
            resolved = _resolved(decorator, info)
            if not isinstance(resolved, FunctionInfo) or _gives_back(resolved.node):
                continue
            name = ast.unparse(decorator)[:40]
            for wrapper in _wrappers(resolved.node):
                if _is_nested(info) or _is_wrapped(wrapper, resolved):
                    work = _work(wrapper)
                    if work is not _QUIET:
                        yield self.at(decorator, case="prints" if work is _PRINTS else "", name=name)
                elif _writes_outside(wrapper):
                    yield self.at(decorator, message=self.loses, name=name)


class DecoratorArguments(Rule):
    """
    What
        A decorator without `functools.wraps` on a construct or method, whose wrapper doesn't take `self` by that name,
        or a class as decorator there.

    Why
        The wrapper is compiled in the method's place, and the compiler passes the instance only to a first parameter
        called `self` ("The parameters number of the function is 2, but the number of provided arguments is 1").

    Example
        def logged(f):
            def wrapper(*args):
                return f(*args)
            return wrapper

    Instead
        def logged(f):
            def wrapper(self, x):
                return f(self, x)
            return wrapper

    Fix safety
        No fix.
    """

    code = "GL348"
    name = "decorator-arguments"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "the wrapper of '{name}' is compiled in the method's place, and its first parameter isn't called `self`",
        "装饰器 `{name}` 的包装函数会取代该方法被编译，但其第一个参数不叫 `self`",
    )
    of_class = Text("a class can't decorate a method of graph code", "不能用类来装饰图代码中的方法")
    help = Text(
        "name its first parameter `self`, or add `functools.wraps`",
        "把第一个参数命名为 `self`，或加上 `functools.wraps`",
    )

    def enter(self, ctx: Context) -> Findings:
        info = ctx.trace.info
        if info.owner is None or any(
            isinstance(d, ast.Name) and d.id == "staticmethod" for d in info.decorators
        ):
            return
        for decorator in info.decorators:
            resolved = _resolved(decorator, info)
            if isinstance(resolved, ClassInfo):
                sure = info.name == "construct"
                confidence = Confidence.HIGH if sure else Confidence.MEDIUM
                yield self.at(decorator, message=self.of_class, confidence=confidence)
            elif isinstance(resolved, FunctionInfo) and not _gives_back(resolved.node):
                for wrapper in _wrappers(resolved.node):
                    first = [*wrapper.args.posonlyargs, *wrapper.args.args][:1]
                    if not _is_wrapped(wrapper, resolved) and not (first and first[0].arg == "self"):
                        yield self.at(decorator, name=ast.unparse(decorator)[:40])
