"""One file or notebook as the checkers see it: text, encoding, positions, syntax tree.

Inside graphlint a position is a line of `SourceFile.text` and a column in characters, from 1. A notebook's
code cells follow one another in that text; `SourceFile.relocate` turns a finding's lines into its cell's.
"""

from __future__ import annotations

import ast
import io
import os
import platform
import re
import tokenize
import warnings
from functools import cached_property
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from graphlint.finding import Edit, FileError, Finding, Fix
from graphlint.lang import say
from graphlint.notebook import CellMap, NotebookError, read_notebook

LINE_END = re.compile(r"\r\n|\r|\n")
"""What Python takes for the end of a line; `str.splitlines` would split at form feeds and more."""

_BOM = b"\xef\xbb\xbf"


class SourceError(Exception):
    """A file that can't be checked; `error` is the FileError to report."""

    def __init__(self, error: FileError) -> None:
        super().__init__(f"{error.path}: {error.message}")
        self.error = error


class SourceFile:
    """One file: `path` as given, its bytes, its text with the line ends as they are, and its encoding.

    `cells` maps a notebook's code cells, None for a plain file. `tree` is parsed when first asked for.
    """

    def __init__(self, path: str, data: bytes, lang: str = "en") -> None:
        """Decodes `data`; raises SourceError where it isn't text in its own encoding, or isn't a notebook."""
        self.path = path
        self.data = data
        self.lang = lang
        self.bom = data.startswith(_BOM)
        self.cells: Optional[CellMap] = None
        if path.endswith(".ipynb"):
            self.encoding = "utf-8"
            try:
                self.text, self.cells = read_notebook(data)
            except NotebookError as error:
                raise self._error("bad-notebook", detail=error) from error
        else:
            self.encoding, self.text = self._decode(data)
        self._encoded: Dict[int, bytes] = {}

    @classmethod
    def of_text(cls, path: str, text: str, lang: str = "en") -> SourceFile:
        """A file whose text is at hand, as an editor or standard input gives it."""
        source = cls.__new__(cls)
        source.path, source.lang, source.bom, source.encoding = path, lang, False, "utf-8"
        source.cells, source._encoded = None, {}
        source.data = text.encode("utf-8", "surrogatepass")
        source.text = text[1:] if text.startswith("\ufeff") else text
        if path.endswith(".ipynb"):
            return cls(path, source.data, lang)
        return source

    @cached_property
    def lines(self) -> List[str]:
        """The text's lines without their ends; line n is `lines[n - 1]`."""
        return LINE_END.split(self.text)

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; raises SourceError where the text isn't Python or is nested too deeply."""
        if "\0" in self.text:
            raise self._error("null-bytes", line=len(LINE_END.split(self.text.split("\0")[0])))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.text, self.path)
        except SyntaxError as error:
            detail = (error.msg or "invalid syntax").replace("<unknown>", "").strip()
            raise self._error(
                "syntax-error", error.lineno, python=_python_version(), detail=detail
            ) from error
        except (RecursionError, MemoryError) as error:
            raise self._error("too-deep") from error
        except ValueError as error:
            raise self._error("unreadable", detail=error) from error

    def line_text(self, line: int) -> str:
        """The text of a line, empty for a line that isn't there."""
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""

    def column(self, line: int, byte_offset: int) -> int:
        """The column in characters, from 1, of ast's `col_offset`, which counts UTF-8 bytes from 0."""
        text = self.line_text(line)
        if text.isascii():
            return byte_offset + 1
        encoded = self._encoded.get(line)
        if encoded is None:
            encoded = self._encoded[line] = text.encode("utf-8", "surrogatepass")
        return len(encoded[:byte_offset].decode("utf-8", "replace")) + 1

    def span(self, node: ast.AST) -> Tuple[int, int, int, int]:
        """A node's line, column, end line and end column; the end column is exclusive."""
        line, end_line = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        end_offset = node.end_col_offset or node.col_offset + 1  # type: ignore[attr-defined]
        return (
            line,
            self.column(line, node.col_offset),  # type: ignore[attr-defined]
            end_line,
            self.column(end_line, end_offset),
        )

    def segment(self, line: int, column: int, end_line: int, end_column: int) -> str:
        """The text of a range, lines joined by a line feed."""
        if line == end_line:
            return self.line_text(line)[column - 1 : end_column - 1]
        middle = self.lines[line : end_line - 1]
        return "\n".join(
            [self.line_text(line)[column - 1 :], *middle, self.line_text(end_line)[: end_column - 1]]
        )

    def locate(self, line: int) -> Tuple[Optional[int], int]:
        """The notebook cell (from 1, all cells counted) and the line in it; (None, line) in a plain file."""
        return (None, line) if self.cells is None else self.cells.locate(line)

    def relocate(self, finding: Finding) -> Finding:
        """The finding with its lines, and those of its fix, counted within its notebook cell."""
        if self.cells is None:
            return finding
        cell, line = self.locate(finding.line)
        shift = finding.line - line
        fix = finding.fix
        if fix is not None:
            edits = tuple(
                Edit(e.line - shift, e.column, e.end_line - shift, e.end_column, e.text) for e in fix.edits
            )
            fix = Fix(fix.applicability, edits, fix.note)
        return finding.with_(cell=cell, line=line, end_line=finding.end_line - shift, fix=fix)

    def encode(self, text: str) -> bytes:
        """New text of a plain file as bytes: same encoding, same byte order mark."""
        return (_BOM if self.bom else b"") + text.encode(self.encoding)

    def _decode(self, data: bytes) -> Tuple[str, str]:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise self._error("utf-16")
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        except SyntaxError as error:
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as undecoded:
                raise self._undecodable(undecoded) from error
            raise self._error("bad-encoding", detail=error.msg) from error
        try:
            return encoding.replace("utf-8-sig", "utf-8"), data.decode(encoding)
        except UnicodeDecodeError as error:
            if encoding.startswith("utf-8"):
                raise self._undecodable(error) from error
            raise self._error("bad-encoding", detail=error) from error
        except LookupError as error:
            raise self._error("bad-encoding", detail=error) from error

    def _undecodable(self, error: UnicodeDecodeError) -> SourceError:
        before = LINE_END.split(self.data[: error.start].decode("utf-8", "replace"))
        try:
            self.data.decode("gb18030")
            key = "not-utf8-gbk"
        except UnicodeDecodeError:
            key = "not-utf8"
        byte = self.data[error.start]
        return self._error(key, line=len(before), byte=byte, column=len(before[-1]) + 1)

    def _error(self, key: str, line: Optional[int] = None, **values: object) -> SourceError:
        message = say(key, self.lang, **values)
        if line is not None and self.cells is not None:
            cell, line = self.cells.locate(line)
            message = f"{say('cell', self.lang, n=cell)}: {message}"
        return SourceError(FileError(self.path, message, line))


def load(path: str, lang: str = "en") -> SourceFile:
    """Reads one file; SourceError where it can't be read or decoded."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        if os.path.islink(path) and not os.path.exists(path):
            message = say("dangling", lang, link=os.readlink(path))
        else:
            message = say("unreadable", lang, detail=error.strerror or error)
        raise SourceError(FileError(path, message)) from error
    return SourceFile(path, data, lang)


def _python_version() -> str:
    return ".".join(platform.python_version_tuple()[:2])
