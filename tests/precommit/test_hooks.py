"""The hooks under the real pre-commit: a bad commit is refused, a good one passes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator

import pytest

pytest.importorskip("pre_commit")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
SHIPPED = ("graphlint", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
NET = """\
import mindspore.nn as nn
from helpers import scaled


class Net(nn.Cell):
    def construct(self, x):
        return scaled(x)
"""
GOOD = "def scaled(x):\n    return x * 2\n"
BAD = "def scaled(x):\n    try:\n        return x * 2\n    except ValueError:\n        return x\n"
FIXABLE = "def scaled(x):\n    print(x, flush=True)\n    return x * 2  # graphlint: ignore[GL101]\n"
Done = "subprocess.CompletedProcess[str]"


class Repository:
    """A git repository with pre-commit installed, its hooks taken from a copy of this checkout."""

    def __init__(self, folder: Path, environment: Dict[str, str]) -> None:
        self.folder, self.environment = folder, environment

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=900,
            check=False,
        )

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        identity = ("-c", "user.name=tester", "-c", "user.email=tester@example.com")
        return self.run("git", *identity, "-c", "core.hooksPath=.git/hooks", *arguments)

    def commit(self, **files: str) -> subprocess.CompletedProcess[str]:
        """Writes modules, stages them and commits."""
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text)
            self.git("add", f"{name}.py")
        return self.git("commit", "-m", "a change")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    base = tmp_path_factory.mktemp("precommit")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "LC_"))}
    environment.update(PRE_COMMIT_HOME=str(base / "cache"), LANG="C.UTF-8", PYTHONUTF8="1")
    environment.pop("PYTHONPATH", None)
    hooks = base / "hooks"
    hooks.mkdir()
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, hooks / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, hooks / name)
    ours = Repository(hooks, environment)
    ours.git("init", "-q")
    ours.git("add", ".")
    assert ours.git("commit", "-q", "-m", "hooks").returncode == 0
    revision = ours.git("rev-parse", "HEAD").stdout.strip()
    folder = base / "project"
    folder.mkdir()
    scratch = Repository(folder, environment)
    scratch.git("init", "-q")
    ids = "".join(f"      - id: {hook}\n" for hook in ("graphlint",))
    fix = "      - id: graphlint-fix\n        stages: [manual]\n      - id: graphlint-verify\n"
    (folder / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {hooks}\n    rev: {revision}\n    hooks:\n{ids}{fix}"
    )
    installed = scratch.run(sys.executable, "-m", "pre_commit", "install", "--install-hooks")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    scratch.git("add", ".")
    yield scratch


def test_good_passes_and_bad_is_refused(repository: Repository) -> None:
    done = repository.commit(helpers=GOOD, net=NET)
    assert done.returncode == 0, done.stdout + done.stderr
    before = repository.git("rev-parse", "HEAD").stdout
    done = repository.commit(helpers=BAD)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "GL101" in said and "helpers.py:2:5" in said
    assert "net.py" not in said.split("reached")[0]
    assert repository.git("rev-parse", "HEAD").stdout == before
    assert repository.commit(helpers=GOOD.replace("2", "3")).returncode == 0


def test_fix_hook_rewrites_and_verify_waits_for_its_stage(repository: Repository) -> None:
    (repository.folder / "helpers.py").write_text(FIXABLE)
    repository.git("add", "helpers.py")
    run = (sys.executable, "-m", "pre_commit", "run")
    done = repository.run(*run, "--hook-stage", "manual", "graphlint-fix")
    assert done.returncode != 0
    assert "files were modified by this hook" in done.stdout
    assert "graphlint: ignore" not in (repository.folder / "helpers.py").read_text()
    done = repository.run(*run, "graphlint-verify")
    assert "No hook with id" in done.stdout + done.stderr
