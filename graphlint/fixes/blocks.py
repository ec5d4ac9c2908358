"""Compound statements taken apart: headers dropped, bodies moved out, without touching what they hold."""

from __future__ import annotations

import ast
from typing import Any, Iterator, List, Sequence

from graphlint.fixes.draft import SCOPES, Draft, need

LOOPS = (ast.For, ast.AsyncFor, ast.While)


def drop_header(draft: Draft, stmt: Any, body: Sequence[ast.stmt]) -> None:
    """Takes out the lines of a header (`try:`, `with …:`) up to its body; a comment on the last one stays."""
    line, _column = draft.start(stmt)
    need(body[0].lineno > line and draft.first_on_line(body[0]))
    header_end = _colon_line(draft, line, draft.start(body[0])[0])
    _drop_lines(draft, line, header_end)


def drop_keyword(draft: Draft, word: str, after: int, before: int) -> None:
    """Takes out the line of `else:` or `finally:` between two lines."""
    line = keyword_line(draft, word, after, before)
    _drop_lines(draft, line, line)


def keyword_line(draft: Draft, word: str, after: int, before: int) -> int:
    """The line between two that holds nothing but `word:` and maybe a comment."""
    for line in range(after + 1, before):
        text = draft.source.line_text(line).strip()
        if text.startswith(word) and text[len(word) :].lstrip()[:1] == ":":
            rest = text[len(word) :].lstrip()[1:].strip()
            need(not rest or rest.startswith("#"))
            return line
    need(False)
    return 0


def _colon_line(draft: Draft, first: int, body: int) -> int:
    """The last line of a header: the last one before the body that isn't blank or a comment alone."""
    for line in range(body - 1, first - 1, -1):
        text = draft.source.line_text(line).strip()
        if text and not text.startswith("#"):
            return line
    return first


def _drop_lines(draft: Draft, first: int, last: int) -> None:
    text = draft.source.line_text(last)
    comment = _comment(text)
    if comment is not None:
        start = draft.source.line_text(first)
        draft.cut(first, len(start) - len(start.lstrip()) + 1, last, comment + 1)
    else:
        draft.cut(first, 1, last + 1, 1)


def _comment(text: str) -> Any:
    """Where a header's comment begins: a `#` behind its last colon, outside of strings."""
    colon = text.rfind(":")
    at = text.find("#", colon) if colon >= 0 else -1
    if "#" in text[: colon + 1]:
        first = text.index("#")
        before = text[:first].rstrip()
        if before.endswith(":"):
            return first
    return at if at >= 0 else None


def drop_statements(draft: Draft, first: int, last: int) -> None:
    """Takes out whole lines, the two given counted."""
    if last < len(draft.source.lines):
        draft.cut(first, 1, last + 1, 1)
    else:
        draft.cut(first, 1, last, len(draft.source.line_text(last)) + 1)


def own(body: Sequence[ast.stmt], *kinds: type) -> Iterator[Any]:
    """The statements of these kinds in a block, those of functions within left out."""
    todo: List[ast.AST] = list(body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, kinds):
            yield node
        if not isinstance(node, SCOPES):
            todo.extend(ast.iter_child_nodes(node))


def own_jumps(body: Sequence[ast.stmt], *kinds: type) -> Iterator[Any]:
    """`break` or `continue` of the loop whose body this is, not of loops within it."""
    todo: List[ast.AST] = list(body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, kinds):
            yield node
        if isinstance(node, LOOPS):
            todo.extend(node.orelse)
        elif not isinstance(node, SCOPES):
            todo.extend(ast.iter_child_nodes(node))


def end_line(body: Sequence[ast.stmt]) -> int:
    return body[-1].end_lineno or body[-1].lineno
