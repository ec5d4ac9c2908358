"""A file that changed while its rewrites were worked out is never overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphlint.cli import fix as command
from graphlint.config import Settings
from graphlint.errors import WorkError
from graphlint.finding import CheckResult


def test_a_file_changed_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.py"
    path.write_bytes(b"edited = 1\n")
    change = command.Change(str(path), b"before = 1\n", b"after = 1\n")
    outcome = command.Outcome(CheckResult(), [change], 1)
    monkeypatch.setattr(command, "_apply", lambda settings: lambda *given: outcome)
    with pytest.raises(WorkError, match="was changed while"):
        command.fix([str(path)], Settings(root=str(tmp_path)), None)
    assert path.read_bytes() == b"edited = 1\n"
    assert [p.name for p in tmp_path.iterdir()] == ["net.py"]
    path.write_bytes(change.before)
    command.fix([str(path)], Settings(root=str(tmp_path)), None)
    assert path.read_bytes() == change.after
