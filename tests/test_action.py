"""The composite action: its shape, and its shell steps run as GitHub would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict

import pytest

ROOT = Path(__file__).parent.parent
yaml = pytest.importorskip("yaml")
NET = """from mindspore import nn


class Net(nn.Cell):
    def construct(self, x):
        print(x, end='')
        return x
"""


@pytest.fixture(scope="module")
def action() -> Dict[str, Any]:
    data: Dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return data


def test_every_input_that_is_used_is_declared(action: Dict[str, Any]) -> None:
    assert action["runs"]["using"] == "composite"
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(action["inputs"])
    assert all("uses" in step or step["shell"] == "bash" for step in action["runs"]["steps"])


def checked(action: Dict[str, Any], folder: Path, **given: str) -> "subprocess.CompletedProcess[str]":
    """Runs the step `Check` with the inputs that are given, else with the declared defaults."""
    step = next(step for step in action["runs"]["steps"] if step.get("name") == "Check")
    values = {
        name: given.get(name.replace("-", "_"), row["default"]) for name, row in action["inputs"].items()
    }
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    command = bin_folder / "graphlint"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m graphlint "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    for name, expression in step["env"].items():
        match = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", expression)
        assert match is not None
        environment[name] = values[match[1]]
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_check_step_annotates_and_fails(action: Dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "net.py").write_text(NET)
    done = checked(action, tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error ") and "file=src/net.py,line=6," in done.stdout
    assert checked(action, tmp_path, paths="src", args="--ignore GL3 --exit-zero").returncode == 0


def test_the_check_step_writes_a_file(action: Dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    done = checked(action, tmp_path, output_format="sarif", output_file="out.sarif")
    assert done.returncode == 1 and done.stdout == ""
    assert '"2.1.0"' in (tmp_path / "out.sarif").read_text(encoding="utf-8")


def test_the_ascend_workflow_holds_together() -> None:
    """Needs name jobs, every shard that the matrix makes is merged, and graphlint's options exist."""
    import click

    from graphlint.cli import cli

    jobs = yaml.safe_load((ROOT / "examples" / "ci" / "ascend.yml").read_text(encoding="utf-8"))["jobs"]
    assert all(job.get("needs", "check") in jobs for job in jobs.values())
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    shards = jobs["verify"]["strategy"]["matrix"]["shard"]
    merged = next(run for run in runs if "--merge" in run)
    assert re.findall(r"--merge shard-(\d+)\.json", merged) == [str(shard) for shard in shards]
    assert any(f"/{len(shards)} " in run for run in runs)
    for run in runs:
        if run.startswith("graphlint "):
            command = cli.get_command(click.Context(cli), run.split()[1])
            assert command is not None
            known = {option for parameter in command.params for option in parameter.opts}
            assert {word for word in run.split() if word.startswith("--")} <= known
