"""A range of source as compilers show it: numbered lines, the range underlined in terminal columns."""

from __future__ import annotations

import unicodedata
from typing import Iterator, List, Sequence, Tuple

from graphlint.report.common import visible
from graphlint.report.style import Style

_WIDEST = 160
_SHOWN = 6
"""A range of more lines is shown by its first three and its last."""


def snippet(
    lines: Sequence[str], span: Tuple[int, int, int, int], place: str, severity: str, style: Style
) -> Iterator[str]:
    """The lines of output for a range (line, column, end line, end column), headed by its place."""
    line, column, end_line, end_column = span
    gutter = " " * (len(str(end_line)) + 1)
    yield f"{gutter[:-1]}{style.margin('-->')} {place}"
    if not 0 < line <= len(lines):
        return
    end_line = min(end_line, len(lines))
    yield f"{gutter}{style.margin('|')}"
    if line == end_line:
        yield from _single(lines[line - 1], line, column, end_column, gutter, severity, style)
    else:
        yield from _several(lines, (*span[:2], end_line, end_column), gutter, severity, style)
    yield f"{gutter}{style.margin('|')}"


def _single(
    text: str, number: int, column: int, end_column: int, gutter: str, severity: str, style: Style
) -> Iterator[str]:
    cells, start, stop = _window(text, column, max(end_column, column + 1))
    shown = "".join(cells)
    before = sum(map(width, cells[:start]))
    under = max(sum(map(width, cells[start:stop])), 1)
    yield f"{_number(number, gutter, style)} {shown.rstrip()}"
    yield f"{gutter}{style.margin('|')} {' ' * before}{style.severity(severity, '^' * under)}"


def _several(
    lines: Sequence[str], span: Tuple[int, int, int, int], gutter: str, severity: str, style: Style
) -> Iterator[str]:
    line, _, end_line, end_column = span
    shown = list(range(line, end_line + 1))
    if len(shown) > _SHOWN:
        shown = [*shown[:3], 0, shown[-1]]
    for number in shown:
        if number == 0:
            yield f"{'...':<{len(gutter)}}{style.margin('|')} {style.severity(severity, '|')}"
            continue
        text = "".join(_cells(lines[number - 1])[:_WIDEST]).rstrip()
        bar = "/" if number == line else "|"
        yield f"{_number(number, gutter, style)} {style.severity(severity, bar)} {text}".rstrip()
    last = sum(map(width, _cells(lines[end_line - 1])[: max(end_column - 1, 1)]))
    yield f"{gutter}{style.margin('|')} {style.severity(severity, '|' + '_' * min(last, _WIDEST) + '^')}"


def _number(number: int, gutter: str, style: Style) -> str:
    return style.margin(f"{number:>{len(gutter) - 1}} |")


def _cells(text: str) -> List[str]:
    """What each character of the line looks like: tabs as four blanks, control characters spelled out."""
    return ["    " if character == "\t" else visible(character) for character in text]


def _window(text: str, column: int, end_column: int) -> Tuple[List[str], int, int]:
    """The cells of a line, cut where it is very long, and where the range starts and stops in them."""
    cells = _cells(text)
    start, stop = column - 1, min(end_column - 1, len(cells))
    if len(cells) <= _WIDEST:
        return cells, start, stop
    first = max(0, min(start - 20, len(cells) - _WIDEST))
    kept = cells[first : first + _WIDEST]
    lead = ["…"] if first else []
    tail = ["…"] if first + _WIDEST < len(cells) else []
    shift = len(lead) - first
    return [*lead, *kept, *tail], start + shift, min(stop + shift, len(lead) + len(kept))


def width(cell: str) -> int:
    """How many columns of a terminal the text takes; a Chinese character takes two, a combining mark none."""
    if cell.isascii():
        return len(cell)
    return sum(
        2 if unicodedata.east_asian_width(character) in "WF" else 0 if unicodedata.combining(character) else 1
        for character in cell
    )
