"""A scratch project and real pylint over it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import pytest

pytest.importorskip("pylint")

from pylint.lint import Run
from pylint.reporters.json_reporter import JSONReporter

from graphlint.pylint_plugin import FAMILIES

ROOT = Path(__file__).parent.parent.parent
OURS = ",".join(message for family in FAMILIES for message in family.msgs)
HELPERS = """\
def scaled(x):
    try:
        return x * 2
    except ValueError:
        return x


def unused(x):
    try:
        return x
    except ValueError:
        return x
"""
NET = """\
import mindspore.nn as nn
from pkg.helpers import scaled


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.seen = []

    def construct(self, x):
        self.seen.append(x)
        中文 = 1; print(x, end="")
        return scaled(x) + 中文
"""
Row = Tuple[str, int, int, str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a Cell in one file and the helper that it calls in another."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'scratch'\n")
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helpers.py").write_text(HELPERS)
    (package / "net.py").write_text(NET, encoding="utf-8")
    return tmp_path


def pylint_messages(*arguments: str) -> List[Dict[str, Any]]:
    """What real pylint says with graphlint's messages alone."""
    output = io.StringIO()
    options = ["--load-plugins=graphlint", "--disable=all", f"--enable={OURS}", "--reports=n"]
    Run([*options, *arguments], reporter=JSONReporter(output), exit=False)
    messages: List[Dict[str, Any]] = json.loads(output.getvalue() or "[]")
    return messages


def rows(messages: List[Dict[str, Any]]) -> List[Row]:
    """(file, line, column from 1, rule name), in order."""
    return sorted((Path(m["path"]).as_posix(), m["line"], m["column"] + 1, m["symbol"]) for m in messages)


def checked(*paths: str) -> List[Row]:
    """The same of `graphlint check`."""
    from graphlint.config import load
    from graphlint.engine import check

    found = check(paths, load(paths[0])).findings
    return sorted((Path(f.path).as_posix(), f.line, f.column, f.name) for f in found)


@pytest.fixture
def run_pylint() -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """pylint as a command."""

    def run(*arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "pylint", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=300,
            env=environment,
        )

    return run
