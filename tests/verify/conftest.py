"""Shared by the tests of `verify`: which interpreter has MindSpore, small projects, a way to see orphans."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Iterator, List

import pytest

FAKE = Path(__file__).parent / "fake"
"""A package `mindspore` that is none: NumPy underneath, every device there is."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: minutes long; only with -m slow")


def pytest_collection_modifyitems(config: pytest.Config, items: List[pytest.Item]) -> None:
    if "slow" not in str(config.getoption("markexpr")):
        skip = pytest.mark.skip(reason="slow: run with -m slow")
        for item in items:
            if item.get_closest_marker("slow") is not None:
                item.add_marker(skip)


@lru_cache(maxsize=1)
def interpreter() -> str:
    """An interpreter that imports MindSpore: `GRAPHLINT_TEST_PYTHON`, else this one; empty where there is
    none."""
    python = os.environ.get("GRAPHLINT_TEST_PYTHON", sys.executable)
    code = "import importlib.util as u, sys; sys.exit(u.find_spec('mindspore') is None)"
    return python if subprocess.run([python, "-c", code], check=False).returncode == 0 else ""


@pytest.fixture
def python() -> str:
    if not interpreter():
        pytest.skip("no MindSpore here")
    return interpreter()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project as the working directory."""
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHLINT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def orphans(token: str = "GRAPHLINT_VERIFY_RUN=") -> List[int]:
    """Live processes that a run of verify started."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                environ = Path(f"/proc/{name}/environ").read_bytes()
                state = Path(f"/proc/{name}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            except OSError:
                continue
            if token.encode() in environ and state != "Z":
                found.append(int(name))
    return found


@pytest.fixture
def no_orphans() -> Iterator[None]:
    yield
    mine = f"GRAPHLINT_VERIFY_RUN={os.getpid()}-"
    assert orphans(mine) == []
