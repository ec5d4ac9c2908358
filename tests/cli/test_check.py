"""`graphlint check` and its neighbours as users call them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, List

import pytest

from graphlint import __version__, cli
from graphlint.cli import fix as fixing
from graphlint.finding import CheckResult

BAD = """\
import mindspore.nn as nn


class Net(nn.Cell):
    def construct(self, x):
        try:
            return x + 1
        except ValueError:
            return x
"""
GOOD = BAD.replace("try:", "if x.sum() > 0:").replace("except ValueError:", "else:")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "NO_COLOR", "FORCE_COLOR", "GRAPHLINT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "good.py").write_text(GOOD)
    return tmp_path


def codes(text: str) -> List[str]:
    return [finding["code"] for finding in json.loads(text)["findings"]]


def test_findings_exit_with_one_and_none_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["check", "bad.py"]) == 1
    assert "error[GL101] try-in-graph" in capsys.readouterr().out
    assert cli.run(["check", "good.py"]) == 0
    assert cli.run(["check", "bad.py", "--exit-zero"]) == 0
    assert cli.run(["check", "bad.py", "--select", "GL2"]) == 0
    assert cli.run(["check", "bad.py", "--ignore", "try-in-graph"]) == 0


def test_json_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in (["-"], ["--stdin-filename", "bad.py"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
        assert cli.run(["check", "--output-format", "json", *arguments]) == 1
        assert codes(capsys.readouterr().out) == ["GL101"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert cli.run(["check", "-"]) == 1
    assert "stdin.py:1 is not UTF-8" in capsys.readouterr().out


def test_statistics_and_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["check", "--statistics"]) == 1
    assert capsys.readouterr().out == "1  GL101  error  try-in-graph\n"
    assert cli.run(["check", "--show-files"]) == 0
    assert capsys.readouterr().out == "bad.py\ngood.py\n"


def test_bad_files_are_told_and_the_others_checked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "binary.py").write_bytes(b"\xff\x00")
    (project / "broken.py").write_text("class Net(nn.Cell):\n    def construct(:\n")
    (project / "deep.py").write_text("construct = " + "(" * 500 + ")" * 500)
    (project / "empty.py").write_text("")
    (project / "long.py").write_text("a = 1\n" * 50_000)
    (project / "gone.py").symlink_to("nowhere.py")
    assert cli.run(["check", "--output-format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [error["path"] for error in data["errors"]] == ["binary.py", "broken.py", "deep.py", "gone.py"]
    assert [finding["path"] for finding in data["findings"]] == ["bad.py"]


def test_a_folder_without_python_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "void").mkdir()
    assert cli.run(["check", "void"]) == 0
    assert capsys.readouterr().err == "graphlint: no Python files under void\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "bda.py"], "bda.py does not exist; did you mean bad.py?"),
        (["check", "--select", "GL777"], "unknown rule `GL777`"),
        (["check", "--target-version", "new"], "`new` is not a MindSpore version"),
        (["check", "--syntax-level", "loose"], "Invalid value for '--syntax-level'"),
        (["check", "--colour"], "No such option"),
        (["chekc"], "No such command"),
        (["rule", "GL777"], "unknown rule `GL777`"),
        (["rule"], "give the code or name of one rule, or --all"),
    ],
)
def test_wrong_usage_exits_with_two(
    arguments: List[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == 2
    assert said in capsys.readouterr().err


def test_wrong_configuration_exits_with_two(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pyproject.toml").write_text("[tool.graphlint]\nselct = []\n")
    assert cli.run(["check", "bad.py"]) == 2
    assert capsys.readouterr().err == (
        "graphlint: pyproject.toml: unknown key `selct`; did you mean `select`?\n"
    )
    assert cli.run(["check", "bad.py", "--isolated"]) == 1


def test_language(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    cli.run(["check", "good.py"])
    assert "图模式下没有发现问题。" in capsys.readouterr().out
    cli.run(["check", "good.py", "--lang", "en"])
    assert "Nothing breaks in graph mode." in capsys.readouterr().out


def test_an_internal_error_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> CheckResult:
        raise KeyError("lost\nthing")

    monkeypatch.setattr("graphlint.engine.check", broken)
    assert cli.run(["check", "bad.py"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("graphlint: internal error: KeyError:")
    assert said.count("\n") == 1
    monkeypatch.setenv("GRAPHLINT_DEBUG", "1")
    with pytest.raises(KeyError):
        cli.run(["check", "bad.py"])


def test_an_interruption_is_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> CheckResult:
        raise KeyboardInterrupt

    monkeypatch.setattr("graphlint.engine.check", interrupted)
    assert cli.run(["check", "bad.py"]) == 130
    assert capsys.readouterr().out == ""


def rewrite(*_: Any) -> fixing.Outcome:
    change = fixing.Change("bad.py", BAD.encode(), GOOD.encode())
    return fixing.Outcome(CheckResult(files=2, graph_functions=2), [change], 1)


def test_fixes_are_shown_or_written(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "graphlint.fixes", SimpleNamespace(apply=rewrite))
    (project / "bad.py").chmod(0o640)
    assert cli.run(["check", "--diff"]) == 1
    shown = capsys.readouterr()
    assert "--- a/bad.py\n+++ b/bad.py\n" in shown.out
    assert "-        try:\n+        if x.sum() > 0:\n" in shown.out
    assert (project / "bad.py").read_text() == BAD
    assert cli.run(["check", "--fix"]) == 0
    assert capsys.readouterr().err == "Fixed 1 finding in 1 file.\n"
    assert (project / "bad.py").read_text() == GOOD
    assert (project / "bad.py").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in project.iterdir()) == [".git", "bad.py", "good.py"]


def test_fixed_standard_input_goes_to_standard_output(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "graphlint.fixes", SimpleNamespace(apply=rewrite))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert cli.run(["check", "--fix", "--stdin-filename", "bad.py"]) == 0
    assert capsys.readouterr().out == GOOD


def test_without_rewrites_fix_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "graphlint.fixes", None)
    assert cli.run(["check", "--fix"]) == 3
    assert "has no rewrites" in capsys.readouterr().err


def test_help_version_completion(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"graphlint {__version__}\n"
    assert cli.run(["--help"]) == 0
    assert "check" in capsys.readouterr().out
    for shell in ("bash", "zsh", "fish"):
        assert cli.run(["completion", shell]) == 0
        assert "_GRAPHLINT_COMPLETE" in capsys.readouterr().out


def run_process(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False, **options
    )


def test_nothing_heavy_is_imported_at_start_up() -> None:
    probe = "import sys, graphlint.cli; print(sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = run_process("-c", probe).stdout
    assert "'click'" in loaded
    for heavy in ("astroid", "mindspore", "numpy", "pylint"):
        assert f"'{heavy}'" not in loaded


def test_a_reader_that_leaves_early_is_no_error() -> None:
    script = f"{sys.executable} -m graphlint check | head -n 1; echo ${{PIPESTATUS[0]}}"
    root = str(Path(__file__).resolve().parents[2])
    Path("bad.py").write_text(BAD + "".join(BAD.replace("Net", f"Net{n}") for n in range(300)))
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] in ("1", "141")


def test_as_a_module() -> None:
    done = run_process("-m", "graphlint", "check", "bad.py", "--output-format", "concise")
    assert done.returncode == 1
    assert done.stdout.startswith("bad.py:6:9: error GL101 [try-in-graph] ")
