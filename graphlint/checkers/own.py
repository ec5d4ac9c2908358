"""GL9xx: what graphlint says of its own work."""

from __future__ import annotations

import ast

from graphlint.checkers.base import Context, Findings, Rule, always
from graphlint.finding import Effect
from graphlint.lang import Text


class AnalysisGaveUp(Rule):
    """
    What
        A function that was analysed in part only.

    Why
        The analysis has a budget for each graph; what follows in this function was read without knowing its values,
        so that findings may be missing.

    Example
        def construct(self, x): ...  # thousands of unrolled steps

    Instead
        split the function, or verify it: graphlint verify --all

    Fix safety
        No fix.
    """

    code = "GL902"
    name = "analysis-gave-up"
    effects = always(Effect.NONE)
    message = Text(
        "too much to analyse in '{name}': findings may be missing here",
        "`{name}` 过于复杂，只分析了一部分，可能有遗漏",
    )
    help = Text("`graphlint verify --all` compiles it", "可用 `graphlint verify --all` 实际编译验证")

    def enter(self, ctx: Context) -> Findings:
        if ctx.trace.gave_up and not isinstance(ctx.node, ast.Lambda):
            yield self.at(_Head(ctx.node), name=ctx.trace.info.name)


class _Head(ast.AST):
    """The first line of a function as a place to report."""

    def __init__(self, node: ast.AST) -> None:
        super().__init__()
        self.lineno = self.end_lineno = node.lineno  # type: ignore[attr-defined]
        self.col_offset = node.col_offset  # type: ignore[attr-defined]
        self.end_col_offset = node.col_offset + 3  # type: ignore[attr-defined]
