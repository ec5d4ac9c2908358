"""`pytest --graphlint-verify` and `assert_graph_equal` through real pytest and, where there is one, MindSpore."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
NETS = """\
import mindspore as ms
import mindspore.nn as nn
from mindspore import ops

INPUTS = lambda: [ms.Tensor([[1.0, -2.0]], ms.float32)]


class Good(nn.Cell):
    def construct(self, x):
        return ops.relu(x)


class Bad(nn.Cell):
    def construct(self, x):
        try:
            return ops.relu(x)
        except ValueError:
            return x
"""
TESTS = """\
import mindspore as ms
from nets import Bad, Good
import mindspore.nn as nn


class Counts(nn.Cell):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.seen = []

    def construct(self, x):
        self.seen.append(1)
        return x + 1


X = ms.Tensor([[1.0, -2.0]], ms.float32)


def test_good(assert_graph_equal):
    assert_graph_equal(Good(), X)


def test_dense(assert_graph_equal):
    net = nn.Dense(2, 3)
    assert_graph_equal(net, X)
    assert ms.get_context("mode") in (0, 1)


def test_bad(assert_graph_equal):
    assert_graph_equal(Bad(), X)


def test_counts(assert_graph_equal):
    assert_graph_equal(Counts(), X)
"""
needs_mindspore = [
    pytest.mark.mindspore,
    pytest.mark.skipif(importlib.util.find_spec("mindspore") is None, reason="no MindSpore here"),
]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    installed = any(
        point.name == "graphlint" for point in _entry_points() if point.value == "graphlint.pytest_plugin"
    )
    plugin = [] if installed else ["-p", "graphlint.pytest_plugin"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GRAPHLINT_CACHE_DIR": str(folder / "cache")}
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )


def _entry_points() -> list:
    from importlib.metadata import entry_points

    found = entry_points()
    return list(found.select(group="pytest11") if hasattr(found, "select") else found.get("pytest11", []))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "nets.py").write_text(NETS)
    (tmp_path / "test_modes.py").write_text(TESTS)
    return tmp_path


def test_without_the_option_no_cell_is_collected(project: Path) -> None:
    done = run(project, "--collect-only", "-q", "nets.py")
    assert "graph[" not in done.stdout
    assert "no tests collected" in done.stdout or "no tests ran" in done.stdout


def test_cells_are_items(project: Path) -> None:
    done = run(project, "--collect-only", "-q", "--graphlint-verify", "nets.py")
    assert [line for line in done.stdout.splitlines() if "::" in line] == [
        "nets.py::graph[Good]",
        "nets.py::graph[Bad]",
    ]
    done = run(project, "--graphlint-verify", "--graphlint-device", "x", "nets.py")
    assert done.returncode == 4 and "write device numbers" in done.stderr


class TestVerify:
    pytestmark = needs_mindspore

    def test_verdicts_and_junit(self, project: Path) -> None:
        done = run(project, "--graphlint-verify", "nets.py", "--junitxml=out.xml")
        assert done.returncode == 1, done.stdout + done.stderr
        cases = {case.get("name"): case for case in ElementTree.parse(project / "out.xml").iter("testcase")}
        assert cases["graph[Good]"].find("failure") is None
        failure = cases["graph[Bad]"].find("failure")
        assert failure is not None and "nets.py:15:9: GL101" in (failure.text or "")
        assert "confirmed" in (failure.text or "")

    def test_spread_over_processes(self, project: Path) -> None:
        pytest.importorskip("xdist")
        done = run(project, "--graphlint-verify", "nets.py", "-n", "2")
        assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr

    def test_assert_graph_equal(self, project: Path) -> None:
        done = run(project, "-q", "test_modes.py")
        assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
        assert "the graph refuses Bad: RuntimeError: Unsupported statement 'Try'" in done.stdout
