"""Notebooks: cells as one module, IPython's syntax out of the way, lines mapped back."""

from __future__ import annotations

import ast
import json
from typing import Any, List

import pytest

from graphlint.finding import Applicability, Edit, Effect, Finding, Fix, Severity
from graphlint.notebook import neutralise
from graphlint.source import SourceError, SourceFile


def notebook(*cells: Any) -> bytes:
    made = []
    for cell in cells:
        kind, source = cell if isinstance(cell, tuple) else ("code", cell)
        made.append({"cell_type": kind, "source": source.splitlines(keepends=True)})
    return json.dumps({"cells": made, "nbformat": 4}).encode()


def test_cells_follow_one_another_and_map_back() -> None:
    source = SourceFile(
        "book.ipynb", notebook("a = 1\nb = 2", ("markdown", "# text"), "", "c = 3\n\nd = 4\n")
    )
    assert [source.locate(statement.lineno) for statement in source.tree.body] == [
        (1, 1),
        (1, 2),
        (4, 1),
        (4, 3),
    ]


def test_findings_and_their_fixes_move_into_the_cell() -> None:
    source = SourceFile("book.ipynb", notebook("a = 1\nb = 2\n", "c = 3\nd = 4"))
    fix = Fix(Applicability.SAFE, (Edit(4, 1, 4, 2, "e"),))
    found = Finding(
        "GL101", "x", Effect.NONE, Severity.INFO, "book.ipynb", 4, 1, 4, 6, "", (), "message", fix=fix
    )
    moved = source.relocate(found)
    assert (moved.cell, moved.line, moved.end_line) == (2, 2, 2)
    assert moved.fix is not None
    assert moved.fix.edits == (Edit(2, 1, 2, 2, "e"),)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%matplotlib inline", ["pass  # %matplotlib inline"]),
        ("if x:\n    !ls -l", ["if x:", "    pass  # !ls -l"]),
        ("!pip install \\\n  mindspore\na = 1", ["pass  # !pip install \\", "#   mindspore", "a = 1"]),
        ("files = !ls", ["files = None  # !ls"]),
        ("t = %timeit -o f()", ["t = None  # %timeit -o f()"]),
        ("net.construct?", ["pass  # net.construct?"]),
        ("?net", ["pass  # ?net"]),
        ("%%bash\nls | wc", ["# %%bash", "# ls | wc"]),
        ("%%time\ny = net(x)", ["# %%time", "y = net(x)"]),
        (
            "a = (7\n% 3)\nb = '''\n%no magic\n'''\n%magic",
            ["a = (7", "% 3)", "b = '''", "%no magic", "'''", "pass  # %magic"],
        ),
        ("a = 7 \\\n% 3\n!ls", ["a = 7 \\", "% 3", "pass  # !ls"]),
    ],
)
def test_ipython_syntax_gives_way_line_by_line(cell: str, expected: List[str]) -> None:
    lines = neutralise(cell.split("\n"))
    assert lines == expected
    ast.parse("\n".join(lines))


def test_python_stays_as_it_is() -> None:
    lines = ["x = '?'", "y = 5 % 3", "await f()"]
    assert neutralise(lines) == lines


def test_a_syntax_error_names_the_cell() -> None:
    with pytest.raises(SourceError) as caught:
        assert SourceFile("book.ipynb", notebook("a = 1\n", "b = 2\ndef f(:\n")).tree
    assert caught.value.error.message.startswith("cell 2: ")
    assert caught.value.error.line == 2


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff", b'{"cells": [1]}', b"[" * 100_000])
def test_what_is_no_notebook_is_told(data: bytes) -> None:
    with pytest.raises(SourceError, match="not a readable notebook"):
        SourceFile("book.ipynb", data)


def test_an_empty_file_is_an_empty_notebook() -> None:
    assert SourceFile("book.ipynb", b"").tree.body == []
    assert SourceFile("book.ipynb", notebook()).locate(1) == (1, 1)
