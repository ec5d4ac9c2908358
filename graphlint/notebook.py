"""A notebook's code cells as one Python module: joined, IPython's syntax neutralised, lines mapped back."""

from __future__ import annotations

import ast
import bisect
import json
import re
import warnings
from typing import Any, Iterator, List, NamedTuple, Tuple


class NotebookError(Exception):
    """Bytes that are not a notebook; the text says why."""


class CellMap(NamedTuple):
    """For each code cell: its number (all cells counted, from 1) and its first line in the module."""

    numbers: Tuple[int, ...]
    starts: Tuple[int, ...]

    def locate(self, line: int) -> Tuple[int, int]:
        """The cell that holds a line of the module, and the line within the cell."""
        index = max(bisect.bisect_right(self.starts, line) - 1, 0)
        if not self.starts:
            return 1, line
        return self.numbers[index], line - self.starts[index] + 1

    def line(self, cell: int, line: int) -> int:
        """The module's line for a cell's; ValueError where there is no such code cell."""
        return self.starts[self.numbers.index(cell)] + line - 1


def code_cells(notebook: Any) -> Iterator[Tuple[int, str]]:
    """The number and source of each code cell that isn't in another language."""
    cells = notebook.get("cells")
    if cells is None:
        cells = [cell for sheet in notebook.get("worksheets", ()) for cell in sheet.get("cells", ())]
    for number, cell in enumerate(cells, 1):
        if cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            yield number, source if isinstance(source, str) else "".join(source)


def read_notebook(data: bytes) -> Tuple[str, CellMap]:
    """The module text of a notebook's code cells and the map back to them; raises NotebookError."""
    try:
        notebook = json.loads(data.decode("utf-8-sig")) if data.strip() else {"cells": []}
        cells = list(code_cells(notebook))
    except RecursionError as error:
        raise NotebookError("nested too deeply") from error
    except (ValueError, AttributeError, TypeError) as error:
        raise NotebookError(str(error)) from error
    parts: List[str] = []
    numbers: List[int] = []
    starts: List[int] = []
    line = 1
    for number, source in cells:
        lines = re.split(r"\r\n|\r|\n", source[:-1] if source.endswith("\n") else source)
        numbers.append(number)
        starts.append(line)
        line += len(lines)
        parts.extend(neutralise(lines))
    return "".join(part + "\n" for part in parts), CellMap(tuple(numbers), tuple(starts))


_PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun", "python", "python3", "pypy", "debug")
_ASSIGNED = re.compile(r"(?P<left>\s*[\w.,\s()\[\]*]+=\s*)(?P<magic>[!%]\S.*)$")
_MAGIC = re.compile(r"(?P<indent>\s*)(?P<magic>(?:[%!?]|[/,;]\w).*)$")
_HELP = re.compile(r"(?P<indent>\s*)(?P<magic>[\w.*%]+\?{1,2}\s*)$")
_TOKEN = re.compile(r"#.*|'''|\"\"\"|'(?:\\.|[^'\\])*'?|\"(?:\\.|[^\"\\])*\"?|[()\[\]{}]|\\$")


def neutralise(lines: List[str]) -> List[str]:
    """The cell's lines, magics, shell commands and help requests turned into `pass`; as many as before."""
    if _is_python("\n".join(lines)):
        return lines
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    magic = re.match(r"%%(\w*)", lines[first])
    if magic is not None and magic[1] not in _PYTHON_CELL_MAGICS:
        return ["# " + line for line in lines]
    result: List[str] = []
    state = _State()
    continued = False
    for index, line in enumerate(lines):
        if continued:
            result.append("# " + line)
            continued = line.endswith("\\")
            continue
        replaced = None if state.inside else _without_magic(line)
        if magic is not None and index == first:
            replaced = "# " + line
        if replaced is None:
            state.read(line)
            result.append(line)
        else:
            result.append(replaced)
            continued = line.endswith("\\")
    return result


def _without_magic(line: str) -> Any:
    for pattern in (_MAGIC, _HELP):
        match = pattern.match(line)
        if match is not None:
            return f"{match['indent']}pass  # {match['magic']}"
    match = _ASSIGNED.match(line)
    return None if match is None else f"{match['left']}None  # {match['magic']}"


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class _State:
    """Whether the next line continues a bracket, a triple-quoted string or a backslash."""

    def __init__(self) -> None:
        self.depth = 0
        self.quote = ""
        self.backslash = False

    @property
    def inside(self) -> bool:
        return self.depth > 0 or bool(self.quote) or self.backslash

    def read(self, line: str) -> None:
        """Takes in one line of Python."""
        self.backslash = False
        at = 0
        while at < len(line):
            if self.quote:
                end = line.find(self.quote, at)
                if end < 0:
                    return
                at, self.quote = end + 3, ""
                continue
            match = _TOKEN.search(line, at)
            if match is None:
                return
            token, at = match[0], match.end()
            if token in ("'''", '"""'):
                self.quote = token
            elif token in "([{":
                self.depth += 1
            elif token in ")]}":
                self.depth = max(self.depth - 1, 0)
            elif token == "\\":
                self.backslash = True
