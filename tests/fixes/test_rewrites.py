"""Each rewrite: its text, that its finding is gone, that it makes no change a second time, and what it
computes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphlint import fixes
from graphlint.checkers import all_rules
from graphlint.finding import Severity
from tests.fixes.cases import before_files, name_of, rewrite

BEFORE = before_files()


@pytest.mark.parametrize("before", BEFORE, ids=name_of)
def test_text(before: Path, tmp_path: Path) -> None:
    after, result = rewrite(before.read_bytes(), tmp_path)
    assert after.decode() == before.with_suffix(".after.py").read_text(encoding="utf-8")
    left = [f for f in result.findings if f.code == before.parent.name and f.severity is Severity.ERROR]
    assert not left


@pytest.mark.parametrize("before", BEFORE, ids=name_of)
def test_second_time_changes_nothing(before: Path, tmp_path: Path) -> None:
    after = before.with_suffix(".after.py").read_bytes()
    assert rewrite(after, tmp_path)[0] == after


@pytest.mark.parametrize("before", BEFORE, ids=name_of)
def test_safe_alone_leaves_the_rest(before: Path, tmp_path: Path) -> None:
    once, _ = rewrite(before.read_bytes(), tmp_path, unsafe=False)
    assert rewrite(once, tmp_path, unsafe=False)[0] == once


def test_builders_name_rules() -> None:
    assert set(fixes.codes()) <= {rule.code for rule in all_rules()}


@pytest.mark.mindspore
@pytest.mark.parametrize("before", BEFORE, ids=name_of)
def test_compiles_and_agrees(before: Path) -> None:
    pytest.importorskip("mindspore")
    script = Path(__file__).resolve().parents[2] / "scripts" / "prove_fixes.py"
    after = before.with_suffix(".after.py")
    done = subprocess.run(
        [sys.executable, str(script), "--pair", str(before), str(after)],
        capture_output=True, text=True, env={**os.environ, "GLOG_v": "3"}, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
