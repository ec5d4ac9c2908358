"""Options of `jit` and the arguments of `export`: what is refused, and what is silently without effect."""

from __future__ import annotations

import ast
from typing import Dict, FrozenSet, Optional, Tuple

from graphlint.checkers.base import Findings, ModuleContext, Rule, When, always
from graphlint.checkers.uses import Use, constant, has_stars, keyword, made_by, uses
from graphlint.finding import Effect
from graphlint.lang import Text
from graphlint.project import ClassInfo, is_cell_name

JIT = frozenset({"mindspore.jit", "mindspore.graph.jit"})
LEVELS: Dict[str, Tuple[str, ...]] = {"capture_mode": ("ast", "bytecode", "trace"), "jit_level": ("O0", "O1")}
WITHOUT_EFFECT: Dict[str, str] = {
    "input_signature": "dynamic=1",
    "jit_config": "jit_level=…, fullgraph=…",
    "jit_syntax_level": "fullgraph=True",
    "mode": "capture_mode",
}
"""Options that the signature of 2.6 and later swallows, each with what has an effect there."""


class JitOption(Rule):
    """
    What
        An option of `ms.jit` with a value that it refuses (`jit_level="O2"`, `dynamic=True`), or one of older
        versions that it takes and does nothing with (`input_signature`, `jit_config`, `mode`).

    Why
        `jit` of 2.6 and later ends in `**options`: a name it doesn't know raises nothing. Measured on 2.7.0 and
        2.10.0: with `input_signature` four shapes cost four compilations as without it, and
        `JitConfig(jit_syntax_level="STRICT")` given as `jit_config` doesn't make the graph strict, where
        `fullgraph=True` does. Refused values raise ValueError or TypeError at once.

    Example
        @ms.jit(jit_level="O2")
        def step(x):
            return net(x)

    Instead
        @ms.jit(jit_level="O1")
        def step(x):
            return net(x)

    Fix safety
        No fix.
    """

    code = "GL717"
    name = "jit-option"
    effects = (When(Effect.PLATFORM, since="2.6"),)
    message = Text(
        "`jit` refuses `{given}={value}`: this raises {error}",
        "`jit` 不接受 `{given}={value}`，此处会抛出 {error}",
    )
    help = Text("possible values: {values}", "可用的值：{values}")
    silent = Text(
        "`{given}` of `jit` has no effect in MindSpore {version}",
        "在 MindSpore {version} 中，`jit` 的 `{given}` 不起作用",
    )
    instead = Text("write `{values}`", "改写为 `{values}`")
    positional = Text(
        "`jit` takes one positional argument, the function: this raises TypeError",
        "`jit` 只有函数一个位置参数，此处会抛出 TypeError",
    )
    by_keyword = Text("give the options by keyword", "请以关键字给出选项")

    def check_module(self, ctx: ModuleContext) -> Findings:
        if self.effect() is Effect.NONE:
            return
        for use in uses(ctx).calls():
            call = use.call
            if use.name not in JIT or call is None:
                continue
            if len(call.args) > 1 and not has_stars(call):
                yield self.at(call.args[1], message=self.positional, help=self.by_keyword)
            for given in call.keywords:
                if given.arg in WITHOUT_EFFECT:
                    yield self.at(
                        given.value, message=self.silent, help=self.instead, given=given.arg,
                        version=self.target.mindspore, values=WITHOUT_EFFECT[given.arg],
                    )  # fmt: skip
                elif given.arg is not None:
                    error, values = _refused(given.arg, constant(given.value))
                    if error:
                        value = ast.unparse(given.value)
                        yield self.at(given.value, given=given.arg, value=value, error=error, values=values)


def _refused(name: str, value: object) -> Tuple[str, str]:
    """The exception that an option's value raises, and the values that don't; empty where it is taken."""
    if name in LEVELS and isinstance(value, str) and value not in LEVELS[name]:
        return "ValueError", ", ".join(repr(level) for level in LEVELS[name])
    if name == "dynamic" and isinstance(value, bool):
        return "TypeError", "0, 1"
    if name == "dynamic" and isinstance(value, int) and value not in (0, 1):
        return "ValueError", "0, 1"
    return "", ""


class ExportCall(Rule):
    """
    What
        `export` whose arguments it refuses: no `file_name` or `file_format`, a format that it does not know, inputs
        before the net (or a Cell's class) where the net belongs.

    Why
        The name and the format are keywords without a default (TypeError), the formats are `"MINDIR"`, `"AIR"` and
        `"ONNX"` in capitals (ValueError), and what comes first is compiled ("fn … is not function or method",
        RuntimeError). Measured on 2.7.0 and 2.10.0.

    Example
        ms.export(net, x, file_name="net", file_format="mindir")

    Instead
        ms.export(net, x, file_name="net", file_format="MINDIR")

    Fix safety
        No fix.
    """

    code = "GL818"
    name = "export-call"
    effects = always(Effect.PLATFORM)
    message = Text(
        "`export` needs `{missing}` as a keyword: this raises TypeError",
        "`export` 必须以关键字给出 `{missing}`，此处会抛出 TypeError",
    )
    help = Text(
        'write `export(net, *inputs, file_name="net", file_format="MINDIR")`',
        '写作 `export(net, *inputs, file_name="net", file_format="MINDIR")`',
    )
    format = Text(
        "`export` has no format {value}: this raises ValueError",
        "`export` 没有格式 {value}，此处会抛出 ValueError",
    )
    formats_are = Text("the formats are {formats}", "可用的格式：{formats}")
    first = Text(
        "`export` compiles its first argument, and {what} is no Cell: this raises RuntimeError",
        "`export` 会编译第一个参数，而 {what} 不是 Cell，此处会抛出 RuntimeError",
    )
    formats: FrozenSet[str] = frozenset({"MINDIR", "AIR", "ONNX"})

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.name not in ("mindspore.export", "mindspore.train.serialization.export"):
                continue
            call = use.call
            if call is None or has_stars(call):
                continue
            yield from self._arguments(use, call, ctx)

    def _arguments(self, use: Use, call: ast.Call, ctx: ModuleContext) -> Findings:
        lacking = [name for name in ("file_name", "file_format") if keyword(call, name) is None]
        if lacking:
            yield self.at(call, missing="`, `".join(lacking))
            return
        given = keyword(call, "file_format")
        value = constant(given)
        if given is not None and isinstance(value, str) and value not in self.formats:
            formats = ", ".join(sorted(self.formats))
            yield self.at(
                given, message=self.format, help=self.formats_are, value=repr(value), formats=formats
            )
        if call.args and self._is_no_net(call.args[0], ctx):
            what = f"`{ast.unparse(call.args[0])[:40]}`"
            yield self.at(call.args[0], message=self.first, what=what)

    @staticmethod
    def _is_no_net(first: ast.expr, ctx: ModuleContext) -> bool:
        """True for a text, a Tensor, or a Cell's class."""
        if isinstance(constant(first), str) or made_by(first, ctx.module) == "mindspore.Tensor":
            return True
        symbol = ctx.module.resolve(first)
        if isinstance(symbol, ClassInfo):
            return symbol.is_cell
        name: Optional[str] = ctx.module.dotted(first)
        return name is not None and is_cell_name(name)
