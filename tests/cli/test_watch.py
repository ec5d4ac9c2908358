"""`check --watch`, its loop cut short."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphlint import cli
from graphlint.cli import watch
from graphlint.cli.watch import watching
from graphlint.config import load

NET = """\
import mindspore.nn as nn


class Net(nn.Cell):
    def construct(self, x):
        {}
        return x
"""


def test_reports_again_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(NET.format("pass"))

    changes = [
        lambda: (tmp_path / "net.py").write_text(NET.format('print(x, end="")')),
        lambda: (tmp_path / "pyproject.toml").write_text("[tool.graphlint]\nfail-on = 3\n"),
    ]
    monkeypatch.setattr(watch.time, "sleep", lambda seconds: changes.pop(0)())
    assert watching(lambda: load(lang="en"), ["net.py"], False, rounds=3) == 0
    captured = capsys.readouterr()
    assert captured.out.index("Nothing breaks") < captured.out.index("GL301")
    assert "`fail-on` must be" in captured.err and "Watching 1 file" in captured.err


def test_what_can_not_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["check", "--watch", "--fix"]) == 2
    assert cli.run(["check", "--watch", "--stdin-filename", "x.py"]) == 2
