"""Every front end gives the findings of `graphlint check` on all fixtures."""

from __future__ import annotations

import io
import json
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Set, Tuple

import pytest

from graphlint import cli
from graphlint.config import load
from graphlint.engine import check
from graphlint.finding import Finding

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
Row = Tuple[str, int, int, str]
"""File, line, column from 1, rule's name."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the fixtures that is a project of its own, so that nothing above it counts."""
    folder = tmp_path_factory.mktemp("same")
    for source in sorted(FIXTURES.rglob("*.py")):
        target = folder / source.relative_to(FIXTURES)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    (folder / "pyproject.toml").write_text("[tool.graphlint]\nlang = 'en'\n")
    return folder


@lru_cache(maxsize=1)
def expected(project: Path) -> Set[Row]:
    """What the engine says of all files at once."""
    findings = check([str(project)], load(str(project))).findings
    rows = {(_relative(f.path, project), f.line, f.column, f.name) for f in findings}
    assert len(rows) > 500
    return rows


def _relative(path: str, project: Path) -> str:
    return Path(path).resolve().relative_to(project.resolve()).as_posix()


def differences(got: Set[Row], wanted: Set[Row]) -> List[str]:
    return [f"only here: {row}" for row in sorted(got - wanted)] + [
        f"missing: {row}" for row in sorted(wanted - got)
    ]


def test_the_command_line(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    cli.run(["check", "--output-format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    got = {(f["path"], f["line"], f["column"], f["name"]) for f in found}
    assert differences(got, expected(project)) == []


def test_the_hook_hands_over_the_files_by_name(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    entry = next(
        line.split("entry: graphlint ")[1].split()
        for line in (ROOT / ".pre-commit-hooks.yaml").read_text().splitlines()
        if "entry:" in line
    )
    files = sorted(path.relative_to(project).as_posix() for path in project.rglob("*.py"))
    got: Set[Row] = set()
    for start in range(0, len(files), 400):
        cli.run([*entry, "--output-format", "json", *files[start : start + 400]])
        found = json.loads(capsys.readouterr().out)["findings"]
        got |= {(f["path"], f["line"], f["column"], f["name"]) for f in found}
    assert differences(got, expected(project)) == []


def test_pylint(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pylint")
    from pylint.lint import Run
    from pylint.reporters.json_reporter import JSONReporter

    from graphlint.pylint_plugin import FAMILIES

    monkeypatch.chdir(project)
    ours = ",".join(message for family in FAMILIES for message in family.msgs)
    output = io.StringIO()
    files = sorted(str(path.relative_to(project)) for path in project.rglob("*.py"))
    options = ["--load-plugins=graphlint", "--disable=all", f"--enable={ours}", "--reports=n"]
    Run([*options, *files], reporter=JSONReporter(output), exit=False)
    messages = json.loads(output.getvalue())
    got = {(Path(m["path"]).as_posix(), m["line"], m["column"] + 1, m["symbol"]) for m in messages}
    assert differences(got, expected(project)) == []


def test_the_language_server(project: Path) -> None:
    """Its documents are sent as the server would have them after a check of all open files."""
    pytest.importorskip("pygls")
    from pygls.workspace import PositionCodec

    from graphlint.server.app import check_open
    from graphlint.server.translate import Text, diagnostic

    texts = {str(path): path.read_text(encoding="utf-8") for path in sorted(project.rglob("*.py"))}
    got: Set[Row] = set()
    codec = PositionCodec()
    done, wrong = check_open(texts, {})
    assert wrong == []
    by_path: Dict[str, List[Finding]] = {path: [] for path in texts}
    settings, result = next(iter(done.values()))
    assert all(other is result for _, other in done.values())
    for finding in result.findings:
        by_path[str(Path(finding.path))].append(finding)
    for path, findings in by_path.items():
        text = Text(texts[path].splitlines(keepends=True), codec)
        for finding in findings:
            shown: Any = diagnostic(finding, text, settings.lang)
            start = codec.position_from_client_units(text.lines, shown.range.start)
            got.add((_relative(path, project), start.line + 1, start.character + 1, shown.data["name"]))
    assert differences(got, expected(project)) == []


def test_pytest(project: Path) -> None:
    """The plugin's items carry the findings of the same run."""
    from graphlint.pytest_verify import Run

    class Config:
        rootpath = project

        @staticmethod
        def getoption(name: str) -> None:
            return None

    run = Run(Config())  # type: ignore[arg-type]
    got = {(_relative(f.path, project), f.line, f.column, f.name) for f in run.checked().findings}
    assert differences(got, expected(project)) == []
    assert run.targets(str(project / "GL101" / "bad.py"))
