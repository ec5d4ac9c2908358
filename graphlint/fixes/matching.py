"""`match` as `if` and `elif` (GL106)."""

from __future__ import annotations

import ast
from typing import Any, List, Optional

from graphlint.finding import Fix
from graphlint.fixes import fixes
from graphlint.fixes.blocks import end_line
from graphlint.fixes.draft import SAFE, Draft, need, one_line, pure


@fixes("GL106")
def match_to_if(found: Any, ctx: Any) -> Optional[Fix]:
    """`match` over constants becomes `if` and `elif`."""
    stmt, draft = found.node, Draft(ctx)
    outer = draft.indent(stmt)
    subject = draft.text(stmt.subject)
    lead = ""
    if not (isinstance(stmt.subject, (ast.Name, ast.Attribute)) and pure(stmt.subject)):
        subject = draft.fresh("subject", "matched")
        lead = f"{subject} = {one_line(draft.text(stmt.subject))}\n"
    first_line = draft.start(stmt)[0]
    need(stmt.cases[0].body[0].lineno > stmt.cases[0].pattern.lineno)
    for number, case in enumerate(stmt.cases):
        line = case.pattern.lineno
        text = draft.source.line_text(line)
        column = len(text) - len(text.lstrip()) + 1
        need(text.strip().startswith("case") and case.body[0].lineno > line)
        pattern_end = draft.source.span(case.guard or case.pattern)
        colon = draft.source.line_text(pattern_end[2]).find(":", pattern_end[3] - 1)
        need(pattern_end[2] == line and colon >= 0)
        test = _test(case.pattern, subject, draft)
        if case.guard is not None:
            guard = draft.text(case.guard)
            test = f"{test} and ({guard})" if test else guard
        need(number > 0 or test)
        head = f"{'elif' if number else 'if'} {test}:" if test else "else:"
        if not test:
            need(number == len(stmt.cases) - 1)
        if number == 0:
            draft.cut(first_line, 1, line, colon + 2, (outer + lead if lead else "") + outer + head)
        else:
            draft.cut(line, 1, line, column, outer)
            draft.cut(line, column, line, colon + 2, head)
        inner = draft.indent(case.body[0])
        _shift(draft, case.body, inner, text[: column - 1], outer)
    return draft.fix(SAFE)


def _shift(draft: Draft, body: List[ast.stmt], inner: str, case_indent: str, outer: str) -> None:
    """Moves the body of a `case` out by the step that `case` itself stood in."""
    need(inner.startswith(case_indent) and case_indent.startswith(outer) and not draft.string_lines() & set(
        range(body[0].lineno, end_line(body) + 1)))  # fmt: skip
    for line in range(draft.start(body[0])[0], end_line(body) + 1):
        text = draft.source.line_text(line)
        if text.startswith(case_indent):
            draft.cut(line, len(outer) + 1, line, len(case_indent) + 1)


def _test(pattern: Any, subject: str, draft: Draft) -> str:
    """The condition of a pattern; empty for one that always fits."""
    kind = type(pattern).__name__
    if kind == "MatchValue":
        need(pure(pattern.value))
        return f"{subject} == {draft.text(pattern.value)}"
    if kind == "MatchSingleton":
        return f"{subject} is {pattern.value}"
    if kind == "MatchOr":
        parts = [_test(p, subject, draft) for p in pattern.patterns]
        need(all(parts))
        return "(" + " or ".join(parts) + ")"
    need(kind == "MatchAs" and pattern.pattern is None and pattern.name is None)
    return ""
