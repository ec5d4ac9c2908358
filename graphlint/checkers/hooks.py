"""GL343 and GL344: hooks that the graph can't parse, or whose Python state it doesn't keep."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, Iterator, Optional, Tuple

from graphlint.checkers.base import ClassContext, Context, Findings, Rule, When, always, certain
from graphlint.finding import Effect
from graphlint.graph_code.trace import Event
from graphlint.lang import Text
from graphlint.project import FunctionInfo
from graphlint.tree import walk


class HookLambda(Rule):
    """
    What
        A lambda written inside the call that registers it as a forward hook, or kept in a list or dict.

    Why
        The graph parses a lambda from its source statement, which must be an assignment of that lambda alone
        ("Parse Lambda Function Fail"). Before 2.7 the graph ignores every forward hook.

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
        "the graph can't parse a lambda that stands inside another expression",
        "图无法解析写在其他表达式内部的 lambda",
    )
    ignored = Text("the graph of this version ignores forward hooks", "该版本的图会忽略前向 hook")
    help = Text(
        "give it a statement of its own: `name = lambda …`, or a `def`",
        "单独写成 `name = lambda ...` 语句，或改用 `def`",
    )
    help_ignored = Text("do it in `construct`", "把逻辑写进 `construct`")

    def check_class(self, ctx: ClassContext) -> Findings:
        for method in ctx.cls.methods.values():
            for node in walk(method.node):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    if node.func.attr in ("register_forward_hook", "register_forward_pre_hook"):
                        if not self.target.since("2.7"):
                            yield self.at(node, message=self.ignored, help=self.help_ignored)
                        elif any(isinstance(a, ast.Lambda) for a in node.args):
                            yield replace(self.at(node), via=tuple(_calls_of(node.func.value, ctx)))


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
    message = Text(
        "this hook changes '{text}', which happens once, when compiling",
        "该 hook 会修改 `{text}`，而这只在编译时发生一次",
    )
    help = Text("return what you need from the Cell", "改为由 Cell 返回所需的值")

    def check_class(self, ctx: ClassContext) -> Findings:
        for method in ctx.cls.methods.values():
            for node in walk(method.node):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                    continue
                if node.func.attr not in ("register_forward_hook", "register_forward_pre_hook"):
                    continue
                hook = _hook(node.args[0], method, ctx)
                written = _outside_call(hook, ctx) if hook is not None else None
                if written is not None:
                    yield self.at(node, text=ast.unparse(written)[:40])


def _calls_of(cell: ast.expr, ctx: ClassContext) -> Iterator[Tuple[str, int]]:
    """Where construct calls the attribute that the hook is registered on: the compiler's message points there."""
    construct = ctx.cls.find("construct")
    for node in walk(construct.node) if construct is not None else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func) == ast.unparse(cell):
            yield construct.module.path, node.lineno  # type: ignore[union-attr]


def _hook(given: ast.expr, method: FunctionInfo, ctx: ClassContext) -> Optional[ast.AST]:
    if isinstance(given, ast.Name):
        for node in walk(method.node):
            if isinstance(node, ast.FunctionDef) and node.name == given.id:
                return node
        found = ctx.module.resolve(given)
        return found.node if isinstance(found, FunctionInfo) else None
    if isinstance(given, ast.Attribute) and isinstance(given.value, ast.Name) and given.value.id == "self":
        found_method = ctx.cls.find(given.attr)
        return found_method.node if found_method is not None else None
    return None


def _outside_call(hook: Any, ctx: ClassContext) -> Optional[ast.AST]:
    own = {a.arg for a in hook.args.args}
    for node in walk(hook):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if (
                isinstance(owner, ast.Name)
                and owner.id not in own
                and node.func.attr in ("append", "extend", "add", "update")
            ):
                return node
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return node
    return None


class HookUnderGrad(Rule):
    """
    What
        `register_hook` with a lambda or a local function on a Tensor, in a function that `ms.grad` differentiates
        inside the graph.

    Why
        The compiler refuses it there (ValueError, measured on 2.7.0 and 2.10.0); without `grad` it compiles, and so
        does a function of the module.

    Example
        def f(v):
            y = v * 2
            y.register_hook(lambda grad: grad * 2)
            return y.sum()
        return ms.grad(f)(x)

    Instead
        return ms.grad(f)(x) * 2

    Fix safety
        No fix.
    """

    code = "GL351"
    name = "hook-under-grad"
    effects = always(Effect.COMPILE_ERROR)
    message = Text(
        "a Tensor's hook can't be compiled in a function that `ms.grad` differentiates in the graph",
        "在图内由 `ms.grad` 求导的函数中，无法编译 Tensor 的 hook",
    )
    help = Text("change the gradient that `ms.grad` returns", "改为处理 `ms.grad` 返回的梯度")

    def on_hook_under_grad(self, event: Event, ctx: Context) -> Findings:
        hook = next(iter(getattr(event.node, "args", ())), None)
        if hook is None or not isinstance(ctx.module.resolve(hook), FunctionInfo):
            yield self.at(event.node, confidence=certain(event))
