"""Mixed precision: the levels and types that `amp` and `to_float` take."""

from __future__ import annotations

import ast
from typing import Dict, Optional, Tuple

from graphlint.checkers.base import Findings, ModuleContext, Rule, always
from graphlint.checkers.uses import class_made, constant, has_stars, keyword, made_by, uses
from graphlint.finding import Effect
from graphlint.lang import Text
from graphlint.project import is_cell_name

LEVELS = ("O0", "O1", "O2", "O3", "auto")
PLACES: Dict[str, Tuple[str, Optional[int]]] = {
    "mindspore.amp.auto_mixed_precision": ("amp_level", 1),
    "mindspore.amp.build_train_network": ("level", 3),
    "mindspore.Model": ("amp_level", None),
    "mindspore.train.Model": ("amp_level", None),
}
"""Where a level is given: its keyword, and its position where calls give it by position."""

FLOATS = frozenset({"mindspore.float16", "mindspore.float32", "mindspore.bfloat16"})


class AmpLevel(Rule):
    """
    What
        A level of mixed precision that `auto_mixed_precision`, `build_train_network` or `Model` doesn't know, or a
        type that `to_float` doesn't take.

    Why
        The levels are `"O0"`, `"O1"`, `"O2"`, `"O3"` and `"auto"`, in this spelling; `to_float` takes float16,
        float32 and bfloat16 of MindSpore's, no text and no NumPy type. Everything else is ValueError (measured on
        2.7.0 and 2.10.0).

    Example
        net = amp.auto_mixed_precision(net, "o2")

    Instead
        net = amp.auto_mixed_precision(net, "O2")

    Fix safety
        No fix.
    """

    code = "GL819"
    name = "amp-level"
    effects = always(Effect.PLATFORM)
    message = Text(
        "`{name}` has no level {value}: this raises ValueError",
        "`{name}` 没有级别 {value}，此处会抛出 ValueError",
    )
    help = Text("the levels are {levels}", "可用的级别：{levels}")
    type_message = Text(
        "`to_float` doesn't take `{value}`: this raises ValueError",
        "`to_float` 不接受 `{value}`，此处会抛出 ValueError",
    )
    type_help = Text(
        "give `mindspore.float16`, `mindspore.float32` or `mindspore.bfloat16`",
        "请给出 `mindspore.float16`、`mindspore.float32` 或 `mindspore.bfloat16`",
    )

    def check_module(self, ctx: ModuleContext) -> Findings:
        for use in uses(ctx).calls():
            if use.name not in PLACES or use.call is None or has_stars(use.call):
                continue
            name, position = PLACES[use.name]
            given = keyword(use.call, name)
            if given is None and position is not None and len(use.call.args) > position:
                given = use.call.args[position]
            value = constant(given)
            if given is not None and value is not ... and value not in LEVELS:
                levels = ", ".join(repr(level) for level in LEVELS)
                yield self.at(given, name=use.short, value=repr(value), levels=levels)
        for call in uses(ctx).methods.get("to_float", ()):
            if len(call.args) == 1 and self._is_cell(call, ctx) and self._refused(call.args[0], ctx):
                yield self.at(
                    call.args[0],
                    message=self.type_message,
                    help=self.type_help,
                    value=ast.unparse(call.args[0]),
                )

    @staticmethod
    def _is_cell(call: ast.Call, ctx: ModuleContext) -> bool:
        receiver = call.func.value  # type: ignore[attr-defined]
        cls = class_made(receiver, ctx.module)
        return is_cell_name(made_by(receiver, ctx.module)) if cls is None else cls.is_cell

    @staticmethod
    def _refused(given: ast.expr, ctx: ModuleContext) -> bool:
        """True for a constant, and for a type of MindSpore's or NumPy's that isn't one of the three."""
        if constant(given) is not ...:
            return True
        name = ctx.module.dotted(given) or ""
        types = (
            "mindspore.int",
            "mindspore.uint",
            "mindspore.float",
            "mindspore.bool",
            "numpy.float",
            "numpy.int",
        )
        return name.startswith(types) and name.count(".") == 1 and name not in FLOATS
