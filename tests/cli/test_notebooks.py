"""Notebooks from the command line: cell and line in the messages, magics survive, `--fix` keeps the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphlint import cli

CELLS = [
    ["%matplotlib inline\n", "!pip list\n", "import mindspore.nn as nn"],
    [
        "# 说明\n",
        "\n",
        "class Net(nn.Cell):\n",
        "    def construct(self, x):\n",
        '        print(x, end="")\n',
        "        return x  # graphlint: ignore[GL101]\n",
    ],
    ["net = Net()\n", "net?"],
]


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    cells = [{"cell_type": "markdown", "metadata": {}, "source": ["# 标题"]}]
    cells += [
        {"cell_type": "code", "execution_count": 3, "metadata": {"a": 1}, "outputs": [], "source": lines}
        for lines in CELLS
    ]
    data = {
        "cells": cells,
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def test_cell_and_line_in_every_format(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["check", "book.ipynb", "--output-format", "concise"]) == 1
    assert "book.ipynb:cell 3:5:9: error GL301" in capsys.readouterr().out
    cli.run(["check", "book.ipynb", "--output-format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [(f["cell"], f["line"], f["code"]) for f in found] == [(3, 5, "GL301"), (3, 6, "GL901")]
    cli.run(["check", "book.ipynb", "--output-format", "github"])
    assert "cell 3" in capsys.readouterr().out


def test_fix_changes_the_source_and_nothing_else(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = book.read_text(encoding="utf-8")
    cli.run(["check", "book.ipynb", "--select", "GL901", "--fix"])
    after = book.read_text(encoding="utf-8")
    assert after == before.replace("return x  # graphlint: ignore[GL101]", "return x")
    assert cli.run(["check", "book.ipynb", "--select", "GL901"]) == 0


def test_baseline_of_a_notebook(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["baseline"]) == 0
    assert cli.run(["check", "--baseline", "graphlint-baseline.json"]) == 0
