"""GL34x: functions as values: closures, decorators, hooks, lambdas, generators."""

from __future__ import annotations

import ast
from typing import Any, Optional

from graphlint.checkers.base import ClassContext, Context, Findings, Rule, When, always, certain, later
from graphlint.finding import Confidence, Effect
from graphlint.graph_code.roots import is_jit
from graphlint.graph_code.trace import Event
from graphlint.lang import Text
from graphlint.project import FunctionInfo


class LateBinding(Rule):
    """
    What
        A nested function or lambda whose outer variable changes after the definition, or functions collected in a list.

    Why
        The graph captures variables when the function is defined, Python when it is called.

    Example
        k = 1
        f = lambda v: v + k
        k = 10
        return f(x)

    Instead
        f = lambda v, k: v + k
        return f(x, 10)

    Fix safety
        No fix.
    """

    code = "GL340"
    name = "late-binding"
    effects = always(Effect.DIVERGES)
    message = Text(
        "'{name}' changes after a function that uses it was defined: the graph keeps the old value, Python sees the new",
        "`{name}` 在使用它的函数定义之后被修改：图保留旧值，Python 使用新值",
    )
    stored = Text(
        "a function taken from a list that `append` filled is called: the graph gives another result than Python",
        "调用了经 `append` 存入列表的函数：图的结果与 Python 不同",
    )
    help = Text("pass the value as an argument", "把该值作为参数传入")

    def on_late_binding(self, event: Event, ctx: Context) -> Findings:
        stored = event.data["how"] == "stored"
        yield self.at(
            event.node,
            message=self.stored if stored else self.message,
            confidence=certain(event),
            end=later(event.node, event.data.get("use"), ctx),
            name=event.data["name"],
        )


class ClosedOverLater(Rule):
    """
    What
        A nested function that uses a name which its surroundings bind only afterwards.

    Why
        The graph resolves names when the function is defined (NameError).

    Example
        def f(v):
            return g(v)
        def g(v):
            return v + 1

    Instead
        def g(v):
            return v + 1
        def f(v):
            return g(v)

    Fix safety
        Unsafe: the definitions are reordered.
    """

    code = "GL341"
    name = "closed-over-later"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("'{name}' is bound only after this function is defined: the graph doesn't know it", "`{name}` 在该函数定义之后才赋值，图找不到它")
    help = Text("define '{name}' before", "在此之前定义 `{name}`")

    def on_closed_over_later(self, event: Event, ctx: Context) -> Findings:
        yield self.at(event.node, confidence=certain(event), name=event.data["name"])


_HARMLESS = (
    "staticmethod", "classmethod", "property", "abc.abstractmethod", "mindspore.jit", "mindspore.ms_function",
    "mindspore.lazy_inline", "typing.overload", "typing.override", "functools.cached_property", "functools.lru_cache",
    "functools.cache", "functools.wraps", "mindspore.ops.constexpr", "mindspore.constexpr", "mindspore.ops._primexpr",
    "functools.singledispatch", "mindspore._no_grad", "mindspore.common.jit_class", "mindspore.jit_class",
    "mindspore.ops.primitive._primexpr", "mindspore.ops.primitive.constexpr", "contextlib.contextmanager",
)  # fmt: skip


class DecoratorIgnored(Rule):
    """
    What
        A decorator on a construct, a method or a function of graph code whose wrapper the graph skips.

    Why
        The compiler unwraps what `functools.wraps` marked, and doesn't look at decorators of nested functions at
        all: the plain function is compiled.

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
    effects = always(Effect.DIVERGES)
    message = Text("the graph skips the decorator '{name}' and compiles the bare function", "图会跳过装饰器 `{name}`，直接编译原函数")
    help = Text("fold what the decorator does into the function", "把装饰器的逻辑写进函数内部")

    def enter(self, ctx: Context) -> Findings:
        info = ctx.trace.info
        for decorator in info.decorators:
            found = self._check(decorator, info, nested="." in info.qualname and info.owner is None)
            if found is not None:
                yield self.at(decorator, confidence=found, name=ast.unparse(decorator)[:40])

    def _check(self, decorator: ast.expr, info: FunctionInfo, nested: bool) -> Optional[Confidence]:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.id if isinstance(target, ast.Name) else None
        dotted = info.module.dotted(target)
        if name in _HARMLESS or dotted in _HARMLESS or is_jit(decorator, info.module) or name in ("property",):
            return None
        if isinstance(target, ast.Attribute) and target.attr in ("setter", "getter", "deleter"):
            return None
        if dotted is not None and dotted.startswith("mindspore"):
            return None
        resolved = info.module.resolve(target)
        if isinstance(resolved, FunctionInfo):
            if nested:
                return None if _is_identity(resolved.node) else Confidence.HIGH
            return _wraps(resolved)
        return Confidence.HIGH if nested and dotted is None and name is not None else None


def _wraps(info: FunctionInfo) -> Optional[Confidence]:
    """High where the decorator returns a wrapper under functools.wraps that does something of its own."""
    for node in ast.walk(info.node):
        if isinstance(node, ast.FunctionDef) and node is not info.node:
            for decorator in node.decorator_list:
                target = decorator.func if isinstance(decorator, ast.Call) else decorator
                if info.module.dotted(target) == "functools.wraps":
                    return None if _only_calls(node) else Confidence.HIGH
    return None


def _only_calls(wrapper: ast.FunctionDef) -> bool:
    """True for a wrapper whose body only hands its arguments on."""
    body = [s for s in wrapper.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return len(body) == 1 and isinstance(body[0], ast.Return) and isinstance(body[0].value, ast.Call) and all(
        isinstance(a, (ast.Name, ast.Starred)) for a in body[0].value.args
    )


def _is_identity(node: Any) -> bool:
    body = node.body if isinstance(node.body, list) else []
    if len(body) != 1 or not isinstance(body[0], ast.Return) or not node.args.args:
        return False
    return isinstance(body[0].value, ast.Name) and body[0].value.id == node.args.args[0].arg


class HookLambda(Rule):
    """
    What
        A lambda written inside the call that registers it as a forward hook, or kept in a list or dict.

    Why
        The graph parses a lambda from its source statement, which must be an assignment of that lambda alone
        ("Parse Lambda Function Fail").

    Example
        self.act.register_forward_hook(lambda cell, i, o: o * 2)

    Instead
        double = lambda cell, i, o: o * 2
        self.act.register_forward_hook(double)

    Fix safety
        Safe: the lambda moves to a statement of its own.
    """

    code = "GL343"
    name = "hook-lambda"
    effects = (When(Effect.COMPILE_ERROR, since="2.7"), When(Effect.DIVERGES, before="2.7"))
    message = Text(
        "the graph can't parse a lambda that stands inside another expression", "图无法解析写在其他表达式内部的 lambda"
    )
    help = Text("give it a statement of its own: `name = lambda …`, or a `def`", "单独写成 `name = lambda ...` 语句，或改用 `def`")

    def check_class(self, ctx: ClassContext) -> Findings:
        for method in ctx.cls.methods.values():
            for node in ast.walk(method.node):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    if node.func.attr in ("register_forward_hook", "register_forward_pre_hook"):
                        if any(isinstance(a, ast.Lambda) for a in node.args):
                            yield self.at(node)


class HookSideEffect(Rule):
    """
    What
        A forward hook that changes Python state.

    Why
        The hook's result counts in the graph, but it runs once, when compiling: lists and counters aren't updated.

    Example
        def hook(cell, inputs, output):
            SEEN.append(1)

    Instead
        return the value from the Cell

    Fix safety
        No fix.
    """

    code = "GL344"
    name = "hook-side-effect"
    effects = always(Effect.DIVERGES)
    message = Text("this hook changes '{text}', which happens once, when compiling", "该 hook 会修改 `{text}`，而这只在编译时发生一次")
    help = Text("return what you need from the Cell", "改为由 Cell 返回所需的值")

    def check_class(self, ctx: ClassContext) -> Findings:
        for method in ctx.cls.methods.values():
            for node in ast.walk(method.node):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                    continue
                if node.func.attr not in ("register_forward_hook", "register_forward_pre_hook"):
                    continue
                hook = _hook(node.args[0], method, ctx)
                written = _outside_call(hook, ctx) if hook is not None else None
                if written is not None:
                    yield self.at(written, text=ast.unparse(written)[:40])


def _hook(given: ast.expr, method: FunctionInfo, ctx: ClassContext) -> Optional[ast.AST]:
    if isinstance(given, ast.Name):
        for node in ast.walk(method.node):
            if isinstance(node, ast.FunctionDef) and node.name == given.id:
                return node
        found = ctx.module.resolve(given)
        return found.node if isinstance(found, FunctionInfo) else None
    if isinstance(given, ast.Attribute) and isinstance(given.value, ast.Name) and given.value.id == "self":
        found_method = ctx.cls.find(given.attr)
        return found_method.node if found_method is not None else None
    return None


def _outside_call(hook: ast.AST, ctx: ClassContext) -> Optional[ast.AST]:
    own = {a.arg for a in getattr(hook, "args").args}
    for node in ast.walk(hook):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id not in own and node.func.attr in ("append", "extend", "add", "update"):
                return node
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return node
    return None


class GeneratorReuse(Rule):
    """
    What
        A generator expression that is consumed twice.

    Why
        The graph makes a list of it: the second time gives all items again, in Python none.

    Example
        g = (v * 2 for v in items)
        return sum(g) + sum(g)

    Instead
        g = [v * 2 for v in items]

    Fix safety
        Unsafe: PyNative's result changes.
    """

    code = "GL345"
    name = "generator-reuse"
    effects = always(Effect.DIVERGES)
    message = Text(
        "a generator is consumed a second time: empty in Python, all items again in the graph",
        "生成器被第二次消费：Python 中已为空，图中会再次得到全部元素",
    )
    returned = Text("a generator is returned: the graph returns a list", "返回了生成器：图返回的是列表")
    help = Text("make a list of it, or a generator for each use", "改为列表，或每次使用时重新创建生成器")

    def on_generator_reuse(self, event: Event, ctx: Context) -> Findings:
        yield self.at(event.node, confidence=certain(event), end=later(event.node, event.data["use"], ctx))

    def on_generator_returned(self, event: Event, ctx: Context) -> Findings:
        end = later(event.node, event.data["use"], ctx)
        yield self.at(event.node, message=self.returned, confidence=certain(event), end=end)


class ClassMethodInGraph(Rule):
    """
    What
        A classmethod called in graph code.

    Why
        The compiler doesn't pass the class ("The parameters number of the function is 2, but the number of provided
        arguments is 1").

    Example
        @classmethod
        def scale(cls, x): ...

    Instead
        @staticmethod
        def scale(x): ...

    Fix safety
        Unsafe: uses of `cls` have to name the class.
    """

    code = "GL346"
    name = "classmethod-in-graph"
    effects = always(Effect.COMPILE_ERROR)
    message = Text("a classmethod can't be called in the graph: the class isn't passed", "图中不能调用 classmethod：编译器不会传入类本身")
    help = Text("make it a staticmethod or a plain method", "改为 staticmethod 或普通方法")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        target = ctx.value(node.func).target
        info = getattr(target, "info", None)
        if info is not None and any(isinstance(d, ast.Name) and d.id == "classmethod" for d in info.decorators):
            yield self.at(node)


class SuperInInherited(Rule):
    """
    What
        `super()` without arguments in a method that a further subclass inherits.

    Why
        The compiler resolves it from the instance's own class, so the method calls itself without end ("Exceed
        function call depth limit").

    Example
        class B(A):
            def construct(self, x):
                return super().construct(x)
        class C(B):
            pass

    Instead
        return super(B, self).construct(x)

    Fix safety
        Safe: the explicit form means the same in Python.
    """

    code = "GL347"
    name = "super-in-inherited"
    effects = (When(Effect.COMPILE_ERROR), When(Effect.NONE, before="2.6"))
    message = Text(
        "`super()` in '{method}' is resolved from '{cls}', which inherits it: the graph calls the method without end",
        "`{method}` 中的 `super()` 会从子类 `{cls}` 开始解析，图会无限递归",
    )
    help = Text("write `super({owner}, self)`", "写成 `super({owner}, self)`")

    def on_super_in_inherited(self, event: Event, ctx: Context) -> Findings:
        yield self.at(event.node, confidence=certain(event), **{k: event.data[k] for k in ("method", "cls", "owner")})
