"""Applies text edits: what no edit covers stays as it is, byte for byte, and two edits never overlap."""

from __future__ import annotations

import json
import re
from typing import Iterable, List, Optional, Sequence, Tuple

from graphlint.finding import Edit
from graphlint.notebook import read_notebook
from graphlint.source import LINE_END


def clash(a: Edit, b: Edit) -> bool:
    """True where two edits overlap, or insert other text at one place; the same edit twice counts once."""
    if a == b:
        return False
    a_start, a_end, b_start, b_end = *_ends(a), *_ends(b)
    if a_start == a_end or b_start == b_end:
        if a_start == a_end and b_start == b_end:
            return a_start == b_start
        return b_start < a_start < b_end if a_start == a_end else a_start < b_start < a_end
    return max(a_start, b_start) < min(a_end, b_end)


def _ends(edit: Edit) -> Tuple[Tuple[int, int], Tuple[int, int]]:
    return (edit.line, edit.column), (edit.end_line, edit.end_column)


def fits(fix: Sequence[Edit], accepted: Iterable[Edit]) -> bool:
    """True where none of the fix's edits clashes with one that is accepted already."""
    return not any(clash(new, old) for old in accepted for new in fix)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after the edits. New lines take the line end of the line that they are written on.

    Raises ValueError where edits clash or lie outside of the text.
    """
    ordered = sorted(set(edits))
    for left, right in zip(ordered, ordered[1:]):
        if clash(left, right):
            raise ValueError(f"edits overlap at line {right.line}")
    lines = _Lines(text)
    pieces: List[str] = []
    at = 0
    for edit in ordered:
        start, end = lines.offset(edit.line, edit.column), lines.offset(edit.end_line, edit.end_column)
        if not at <= start <= end:
            raise ValueError(f"edits overlap at line {edit.line}")
        pieces.append(text[at:start])
        pieces.append(edit.text.replace("\n", lines.line_end(edit.line)))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


class _Lines:
    """Where the lines of a text start, and how they end."""

    def __init__(self, text: str) -> None:
        self.size = len(text)
        self.starts = [0]
        self.ends: List[str] = []
        for match in LINE_END.finditer(text):
            self.starts.append(match.end())
            self.ends.append(match[0])
        self.common = max(self.ends, key=self.ends.count) if self.ends else "\n"

    def offset(self, line: int, column: int) -> int:
        if not 1 <= line <= len(self.starts):
            raise ValueError(f"no line {line}")
        offset = self.starts[line - 1] + column - 1
        if offset > self.size:
            raise ValueError(f"no column {column} in line {line}")
        return offset

    def line_end(self, line: int) -> str:
        return self.ends[line - 1] if line <= len(self.ends) else self.common


_SOURCE = re.compile(r'"(?:[^"\\]|\\.)*"')


def apply_to_notebook(data: bytes, edits: Iterable[Edit]) -> Optional[bytes]:
    """A notebook after edits whose lines count within the joined code cells.

    Only the strings of the cells that change are written anew; the rest of the file stays byte for byte.
    None where
    an edit leaves its cell or the file spells its cells in a way that can't be kept.
    """
    _, cells = read_notebook(data)
    by_cell: dict = {}
    for edit in edits:
        cell, line = cells.locate(edit.line)
        end_cell, end_line = cells.locate(edit.end_line)
        if cell != end_cell:
            return None
        by_cell.setdefault(cell, []).append(Edit(line, edit.column, end_line, edit.end_column, edit.text))
    text = data.decode("utf-8")
    for cell in sorted(by_cell, reverse=True):
        changed = _change_cell(text, cell, by_cell[cell])
        if changed is None:
            return None
        text = changed
    return text.encode("utf-8")


def _change_cell(text: str, number: int, edits: List[Edit]) -> Optional[str]:
    notebook = json.loads(text.lstrip("\ufeff"))
    if "cells" not in notebook:
        return None
    source = notebook["cells"][number - 1]["source"]
    whole = source if isinstance(source, str) else "".join(source)
    after = apply_edits(whole, edits)
    place = _find_source(text, notebook, number)
    if place is None:
        return None
    start, end = place
    ascii_only = text[start:end].isascii()
    if isinstance(source, str):
        written = json.dumps(after, ensure_ascii=ascii_only)
    else:
        written = _list_like(text[start:end], after.splitlines(keepends=True), ascii_only)
    return text[:start] + written + text[end:]


def _list_like(before: str, lines: List[str], ascii_only: bool) -> str:
    """The lines as a JSON list with the separators and the spacing of the list before."""
    first = _SOURCE.search(before)
    if first is None:
        return json.dumps(lines, ensure_ascii=ascii_only)
    second = _SOURCE.search(before, first.end())
    last = list(_SOURCE.finditer(before))[-1]
    between = before[first.end() : second.start()] if second is not None else "," + before[1 : first.start()]
    items = between.join(json.dumps(line, ensure_ascii=ascii_only) for line in lines)
    return before[: first.start()] + items + before[last.end() :]


def _find_source(text: str, notebook: object, number: int) -> Optional[Tuple[int, int]]:
    """Where the `source` of a cell stands in the file, found by reading the JSON with positions."""
    reader = _Positions(text)
    reader.value((), reader.skip(1 if text.startswith("\ufeff") else 0))
    return reader.found.get(("cells", number - 1, "source"))


class _Positions:
    """A JSON reader that notes where each value under `cells` stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: dict = {}

    def skip(self, at: int) -> int:
        while at < len(self.text) and self.text[at] in " \t\r\n":
            at += 1
        return at

    def value(self, path: Tuple[object, ...], at: int) -> int:
        start, char = at, self.text[at]
        if char in "{[":
            at = self._items(path, at, char)
        elif char == '"':
            at = self._string(at)
        else:
            while at < len(self.text) and self.text[at] not in ",]} \t\r\n":
                at += 1
        if len(path) == 3:
            self.found[path] = (start, at)
        return at

    def _string(self, at: int) -> int:
        match = _SOURCE.match(self.text, at)
        if match is None:
            raise ValueError("not JSON")
        return match.end()

    def _items(self, path: Tuple[object, ...], at: int, opening: str) -> int:
        at = self.skip(at + 1)
        index = 0
        while self.text[at] not in "]}":
            key: object = index
            if opening == "{":
                end = self._string(at)
                key = json.loads(self.text[at:end])
                at = self.skip(self.skip(end) + 1)
            at = self.skip(self.value((*path, key), at))
            if self.text[at] == ",":
                at = self.skip(at + 1)
            index += 1
        return at + 1
