"""Rewrites of habits from PyTorch (GL60x)."""

from __future__ import annotations

import ast
from typing import Any, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.draft import UNSAFE, Draft, need


@fixes("GL601")
def has_bias(found: Any, ctx: Any) -> Optional[Fix]:
    """A convolution ported from PyTorch says `has_bias=True`."""
    need(found.message is getattr(found.rule, "torch", None))
    draft = Draft(ctx)
    _add_keyword(found.node, "has_bias=True", draft)
    return draft.fix(
        UNSAFE, "assumes that the PyTorch layer has its bias: checkpoints from MindSpore then lack it"
    )


@fixes("GL602")
def pad_mode(found: Any, ctx: Any) -> Optional[Fix]:
    """`padding` gets `pad_mode="pad"` beside it."""
    node, draft = found.node, Draft(ctx)
    quote = "'" if ctx.source.text.count("'") > ctx.source.text.count('"') else '"'
    mode = f"{quote}pad{quote}"
    given = next((k for k in node.keywords if k.arg == "padding"), None)
    if given is not None:
        line, column, *_ = draft.source.span(given)
        draft.insert(line, column, f"pad_mode={mode}, ")
    else:
        need(len(node.args) > 4)
        line, column, *_ = draft.source.span(node.args[4])
        draft.insert(line, column, f"{mode}, ")
    return draft.fix(UNSAFE, "the call fails as it stands; this is what it means in PyTorch")


def _add_keyword(call: Any, text: str, draft: Draft) -> None:
    """Adds a keyword behind the last argument of a call."""
    last = max(
        [*call.args, *(k.value for k in call.keywords)], key=lambda n: (n.end_lineno, n.end_col_offset)
    )
    need(not isinstance(last, ast.GeneratorExp))
    _, _, line, column = draft.source.span(last)
    _, _, end_line, end = draft.source.span(call)
    between = draft.source.segment(line, column, end_line, end - 1)
    need(between.strip() in ("", ","))
    before = draft.source.line_text(last.lineno)
    first = next((k for k in call.keywords if k.value is last), last)
    start = draft.source.span(first)[1]
    if last.lineno > call.lineno and not before[: start - 1].strip():
        draft.insert(line, column, f",\n{before[: start - 1]}{text}")
    else:
        draft.insert(line, column, f", {text}")
