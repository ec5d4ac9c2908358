"""The baseline: content, not lines; only new findings count; what no longer occurs is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphlint import cli

NET = """\
import mindspore.nn as nn


class Net(nn.Cell):
    def construct(self, x):
        print(x, end="")
        return x
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pyproject.toml").write_text("[tool.graphlint]\nbaseline = 'known.json'\n")
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> "tuple[int, dict, str]":
    capsys.readouterr()
    code = cli.run(["check", "--output-format", "json", *arguments])
    captured = capsys.readouterr()
    return code, json.loads(captured.out or "{}"), captured.err


def test_known_findings_pass_wherever_their_lines_go(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["check", "net.py"]) == 2
    assert "`graphlint baseline` writes it" in capsys.readouterr().err
    assert cli.run(["baseline"]) == 0
    assert "known.json: 1 known finding (1 added, 0 dropped)" in capsys.readouterr().out
    rows = json.loads((project / "known.json").read_text())["findings"]
    assert rows == [
        {"path": "net.py", "rule": "GL301", "scope": "Net.construct", "text": 'print(x, end="")', "count": 1}
    ]
    assert check(capsys, "net.py")[0] == 0
    (project / "net.py").write_text("# moved\n\n\n" + NET.replace("(x, end", "(x,   end"))
    code, data, _ = check(capsys)
    assert (code, data["findings"], data["summary"]["known"]) == (0, [], 1)
    assert check(capsys, "--no-baseline")[0] == 1


def test_one_more_of_the_same_is_new(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["baseline"])
    twice = NET.replace('        print(x, end="")\n', '        print(x, end="")\n' * 2)
    (project / "net.py").write_text(twice)
    code, data, _ = check(capsys, "net.py")
    assert code == 1 and len(data["findings"]) == 1
    (project / "net.py").write_text(NET.replace("Net(", "Other("))
    assert check(capsys, "net.py")[0] == 1


def test_stale_entries_are_said_and_pruned(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "other.py").write_text(NET)
    cli.run(["baseline"])
    capsys.readouterr()
    (project / "net.py").write_text(NET.replace('print(x, end="")', "x.asnumpy()"))
    _, data, said = check(capsys, "net.py")
    assert [row["path"] for row in data["stale"]] == ["net.py"]
    assert "net.py: GL301 in Net.construct no longer occurs" in said and "other.py" not in said
    assert check(capsys, "other.py", "--select", "GL1")[1]["stale"] == []
    cli.run(["baseline", "--prune"])
    rows = json.loads((project / "known.json").read_text())["findings"]
    assert [row["path"] for row in rows] == ["other.py"]
    (project / "other.py").unlink()
    assert [row["path"] for row in check(capsys, "net.py")[1]["stale"]] == ["other.py"]


def test_a_part_keeps_the_rest_and_the_file_is_in_order(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "other.py").write_text(NET)
    cli.run(["baseline"])
    first = (project / "known.json").read_bytes()
    cli.run(["baseline", "net.py"])
    assert (project / "known.json").read_bytes() == first
    assert len(first.splitlines()) == 4
    (project / "known.json").write_text("{}")
    assert cli.run(["check"]) == 2
    assert "known.json is not a baseline" in capsys.readouterr().err


def test_option_names_another_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["baseline", "--isolated", "--output", "mine.json"]) == 0
    assert check(capsys, "--isolated", "--baseline", "mine.json")[0] == 0
    assert check(capsys, "--isolated")[0] == 1


@pytest.mark.parametrize(
    "row",
    [
        5,
        None,
        [],
        {},
        {"path": 3, "rule": "GL101", "scope": "b", "text": "c"},
        {"path": "a", "rule": None, "scope": "b", "text": "c"},
        {"path": "a", "rule": [], "scope": "b", "text": "c"},
        {"path": "a", "rule": "GL101", "scope": "b", "text": "c", "count": "x"},
        {"path": "a", "rule": "GL101", "scope": "b", "text": "c", "count": -1},
        {"path": "a", "rule": "GL101", "scope": "b", "text": "c", "count": 1.5},
    ],
)
def test_an_entry_that_is_none_is_refused(row: object, capsys: pytest.CaptureFixture[str]) -> None:
    Path("known.json").write_text(json.dumps({"version": 1, "findings": [row]}))
    code, _, said = check(capsys)
    assert code == 2 and "not a baseline" in said
