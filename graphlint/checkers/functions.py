"""GL34x: functions as values: closures, decorators, hooks, lambdas, generators."""

from __future__ import annotations

import ast

from graphlint.checkers.base import Context, Findings, Rule, always, certain, later
from graphlint.finding import Effect
from graphlint.graph_code.trace import Event
from graphlint.lang import Text


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
    message = Text(
        "'{name}' is bound only after this function is defined: the graph doesn't know it",
        "`{name}` 在该函数定义之后才赋值，图找不到它",
    )
    help = Text("define '{name}' before", "在此之前定义 `{name}`")

    def on_closed_over_later(self, event: Event, ctx: Context) -> Findings:
        yield self.at(event.node, confidence=certain(event), name=event.data["name"])


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
    message = Text(
        "a classmethod can't be called in the graph: the class isn't passed",
        "图中不能调用 classmethod：编译器不会传入类本身",
    )
    help = Text("make it a staticmethod or a plain method", "改为 staticmethod 或普通方法")

    def visit_Call(self, node: ast.Call, ctx: Context) -> Findings:
        target = ctx.value(node.func).target
        info = getattr(target, "info", None)
        if info is not None and any(
            isinstance(d, ast.Name) and d.id == "classmethod" for d in info.decorators
        ):
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
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "`super()` in '{method}' is resolved from '{cls}', which inherits it: the graph calls the method without end",
        "`{method}` 中的 `super()` 会从子类 `{cls}` 开始解析，图会无限递归",
    )
    help = Text("write `super({owner}, self)`", "写成 `super({owner}, self)`")

    def on_super_in_inherited(self, event: Event, ctx: Context) -> Findings:
        yield self.at(
            event.node, confidence=certain(event), **{k: event.data[k] for k in ("method", "cls", "owner")}
        )
