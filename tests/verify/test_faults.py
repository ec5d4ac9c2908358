"""Whatever user code does to its process, the run ends, every other verdict is there and nothing is left
behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List

import pytest

from graphlint.finding import CheckResult
from graphlint.verify.cache import Cache
from graphlint.verify.pool import Limits, Pool, Settings
from graphlint.verify.run import Request, VerifyResult, verify
from graphlint.verify.session import Plan
from graphlint.verify.tries import Outcome, Try
from tests.verify.conftest import orphans

pytestmark = pytest.mark.mindspore

HEAD = "import os, sys, time\nimport numpy as np\nimport mindspore as ms\nfrom mindspore import nn, Tensor\n"
TAIL = "\nINPUTS = lambda: (Tensor(np.ones((2, 3), np.float32)),)\n"
GOOD = HEAD + "class Net(nn.Cell):\n    def construct(self, x):\n        return x + 1\n" + TAIL


def cell(*statements: str, top: str = "") -> str:
    body = "\n".join("        " + line for line in statements)
    return f"{HEAD}{top}\nclass Net(nn.Cell):\n    def construct(self, x):\n{body}\n        return x\n{TAIL}"


FAULTS: Dict[str, str] = {
    "segfault": cell("import ctypes", "ctypes.string_at(0)"),
    "hang": cell("while True:", "    pass"),
    "sleep": cell("time.sleep(600)"),
    "memory_hog": cell("held = []", "while True:", "    held.append(bytearray(1 << 27))"),
    "exit_at_import": HEAD + "sys.exit(0)\n" + GOOD,
    "exit_in_construct": cell("os._exit(0)"),
    "recursion": cell("return self.construct(x)"),
    "deep_recursion": cell("return self.construct(x)", top="sys.setrecursionlimit(10**8)"),
    "endless_print": cell("for _ in range(1 << 20):", "    print('x' * 1023)"),
    "kills_parent": cell("os.kill(os.getppid(), 9)", "time.sleep(5)"),
    "kills_parent_at_import": HEAD + "os.kill(os.getppid(), 9)\ntime.sleep(5)\n" + GOOD,
    "child": cell("import subprocess", "subprocess.Popen(['sleep', '600'], start_new_session=True)"),
    "bad_syntax": "def (:\n",
}
WORDS = {
    "segfault": "SIGSEGV",
    "hang": "no end after",
    "sleep": "no end after",
    "memory_hog": "MB of memory",
    "exit_at_import": "SystemExit",
    "exit_in_construct": "ended its own process",
    "recursion": "RecursionError",
    "endless_print": "MB of output",
    "kills_parent": "ended the process that runs the tries",
    "kills_parent_at_import": "ended the process that runs the tries",
}


def run(files: List[Path], python: str, root: Path, **plan: object) -> VerifyResult:
    request = Request(python=python, jobs=2, memory_mb=3072)
    settings = Plan(timeout=6.0, all_cells=True, **plan)  # type: ignore[arg-type]
    return verify(CheckResult(), [str(file) for file in files], str(root), [], settings, request, Cache(None))


@pytest.mark.slow
def test_every_fault_costs_one_verdict(project: Path, python: str, no_orphans: None) -> None:
    files = []
    for number, (name, text) in enumerate(FAULTS.items()):
        for stem, content in ((name, text), (f"good{number}", GOOD)):
            path = project / f"{stem}.py"
            path.write_text(content)
            files.append(path)
    result = run(files, python, project)
    by_name = {Path(cell.path).stem: cell for cell in result.cells}
    for name, words in WORDS.items():
        assert words in by_name[name].reason, (name, by_name[name])
        assert by_name[name].status in ("pynative-fails", "not-tried"), name
    good = [cell for name, cell in by_name.items() if name.startswith("good")]
    assert len(good) == len(FAULTS)
    assert {cell.status for cell in good} == {"ok"}


def test_a_crash_and_a_good_cell(project: Path, python: str, no_orphans: None) -> None:
    files = []
    for name, text in (("segfault", FAULTS["segfault"]), ("good", GOOD)):
        (project / f"{name}.py").write_text(text)
        files.append(project / f"{name}.py")
    result = run(files, python, project)
    assert {(cell.status, "SIGSEGV" in cell.reason) for cell in result.cells} == {
        ("pynative-fails", True),
        ("ok", False),
    }


def test_killed_zygote(project: Path, python: str, no_orphans: None) -> None:
    """The tries that ran when it died are repeated."""
    path = project / "good.py"
    path.write_text(GOOD)
    job = {
        "kind": "try",
        "mode": "pynative",
        "module": "good",
        "file": str(path),
        "sys_path": [str(project)],
        "target": "Net",
        "entry": {"kind": "case"},
    }
    outcomes: List[Outcome] = []
    with Pool(Settings(python=python, jobs=2)) as pool:
        pool.start()
        for _ in range(4):
            pool.submit(Try(job, 30.0), outcomes.append)
        pool.step(wait=0.0)
        assert pool.zygote is not None
        os.kill(pool.zygote.pid, signal.SIGKILL)
        pool.run()
        assert pool.restarts == 1
    assert [outcome.clean for outcome in outcomes] == [True] * 4


def test_full_disk_under_the_cache(project: Path, python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project / "good.py"
    path.write_text(GOOD)
    cache = Cache(str(project / "cache"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("graphlint.verify.cache.os.replace", full)
    request = Request(python=python, jobs=1)
    result = verify(
        CheckResult(), [str(path)], str(project), [], Plan(timeout=30.0, all_cells=True), request, cache
    )
    assert [cell.status for cell in result.cells] == ["ok"]
    assert any("No space left" in note for note in result.notes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_nothing(project: Path, python: str, number: int) -> None:
    (project / "hang.py").write_text(FAULTS["hang"])
    log = project / "log"
    command = [
        sys.executable,
        "-m",
        "graphlint",
        "verify",
        "hang.py",
        "--all",
        "--python",
        python,
        "--no-cache",
    ]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(project)}
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=env)
    needle = f"GRAPHLINT_VERIFY_RUN={process.pid}-"
    deadline = time.monotonic() + 90
    while len(orphans(needle)) < 2 and time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    process.send_signal(number)
    assert process.wait(30) == 130
    assert orphans(needle) == []
    assert not list(project.glob("graphlint-verify-*"))


def test_memory_limit_in_pool(project: Path, python: str) -> None:
    path = project / "hog.py"
    path.write_text(FAULTS["memory_hog"])
    job = {
        "kind": "try",
        "mode": "pynative",
        "module": "hog",
        "file": str(path),
        "sys_path": [str(project)],
        "target": "Net",
        "entry": {"kind": "case"},
    }
    outcomes: List[Outcome] = []
    with Pool(Settings(python=python, jobs=1, limits=Limits(memory_mb=2048))) as pool:
        pool.submit(Try(job, 60.0), outcomes.append)
        pool.run()
    assert outcomes[0].death == "memory"
    assert "2048 MB" in outcomes[0].words
