"""Long-lived workers for devices, against a stand-in for MindSpore. No Ascend hardware was ever at hand."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Dict, List, Optional

import pytest

from graphlint.errors import WorkError
from graphlint.finding import CheckResult
from graphlint.verify.cache import Cache
from graphlint.verify.pool import Pool, Settings
from graphlint.verify.run import Request, VerifyResult, verify
from graphlint.verify.session import Plan
from graphlint.verify.tries import Outcome, Try
from tests.verify.conftest import FAKE
from tests.verify.test_reading import CANN, ENV, NPU_SMI, Machine

CASE = """import numpy as np
import os
from mindspore import nn, Tensor


class Net(nn.Cell):
    def construct(self, x):
        "{doc}"
        {statement}
        return x + 1


INPUTS = lambda: (Tensor(np.ones(3, np.float32)),)
"""


def environment(**more: str) -> Dict[str, str]:
    return {"PYTHONPATH": str(FAKE), **more}


def write(project: Path, name: str, doc: str = "", statement: str = "pass") -> Path:
    path = project / f"{name}.py"
    path.write_text(CASE.format(doc=doc, statement=statement))
    return path


def run(
    project: Path, names: List[Path], numbers: List[int], env: Optional[Dict[str, str]] = None
) -> VerifyResult:
    request = Request(
        python=sys.executable, target="Ascend", numbers=tuple(numbers), jobs=1, env=env or environment()
    )
    machine = Machine(CANN, NPU_SMI.replace("Warning", "OK     "), ENV)
    plan = Plan(timeout=20.0, all_cells=True)
    files = [str(name) for name in names]
    return verify(CheckResult(), files, str(project), [], plan, request, Cache(None), system=machine)


def test_one_worker_for_many_tries(project: Path, no_orphans: None) -> None:
    names = [write(project, f"good{n}") for n in range(4)]
    result = run(project, names, [7])
    assert [(cell.status, cell.device) for cell in result.cells] == [("ok", "Ascend")] * 4
    assert result.checks[-1].what == "Ascend device 7"


def test_a_worker_that_is_on_another_device_gives_no_verdict(project: Path, no_orphans: None) -> None:
    result = run(project, [write(project, "good")], [7], environment(FAKE_DEVICE="CPU"))
    (cell,) = result.cells
    assert cell.status == "not-tried"
    assert "ran on CPU, not on Ascend" in cell.reason


def test_refusals_and_crashes_cost_their_worker_only(project: Path, no_orphans: None) -> None:
    names = [
        write(project, "a_good"),
        write(project, "b_refused", doc="refused"),
        write(project, "c_good"),
        write(project, "d_killed", statement="os.kill(os.getpid(), 9)"),
        write(project, "e_exits", statement="os._exit(0)"),
        write(project, "f_good"),
    ]
    result = run(project, names, [7])
    found = {Path(cell.path).stem: cell.status for cell in result.cells}
    assert found == {
        "a_good": "ok",
        "c_good": "ok",
        "f_good": "ok",
        "b_refused": "error",
        "d_killed": "pynative-fails",
        "e_exits": "pynative-fails",
    }


def test_one_pool_a_device(project: Path, no_orphans: None) -> None:
    names = [write(project, f"net{n}") for n in range(8)]
    result = run(project, names, [0, 7])
    assert sorted(Path(cell.path).stem for cell in result.cells) == [f"net{n}" for n in range(8)]
    assert {cell.status for cell in result.cells} == {"ok"}


def test_device_that_is_not_there(project: Path, no_orphans: None) -> None:
    with pytest.raises(WorkError, match=r"Ascend device 3: not present; npu-smi lists 0, 7"):
        run(project, [write(project, "good")], [3])


def test_the_device_is_opened_by_number(project: Path, no_orphans: None) -> None:
    path = write(project, "good")
    job = {
        "kind": "try",
        "mode": "pynative",
        "device": "Ascend",
        "device_id": 8,
        "module": "good",
        "target": "Net",
        "file": str(path),
        "sys_path": [str(project)],
        "entry": {"kind": "case"},
    }
    outcomes: List[Outcome] = []
    with Pool(Settings(python=sys.executable, jobs=1, env=environment(), resident=True)) as pool:
        pool.submit(Try(job, 20.0), outcomes.append)
        pool.submit(Try({**job, "device_id": 5}, 20.0), outcomes.append)
        pool.run()
    assert outcomes[0].error is not None
    assert outcomes[0].error["stage"] == "device"
    assert outcomes[1].clean
    assert outcomes[1].result["device"] == "Ascend"


def test_zygote_works_with_the_stand_in(project: Path, no_orphans: None) -> None:
    """So that the whole path runs where no MindSpore is installed."""
    names = [write(project, "good"), write(project, "refused", doc="refused")]
    request = Request(python=sys.executable, jobs=2, env=environment())
    plan = Plan(timeout=20.0, all_cells=True)
    result = verify(CheckResult(), [str(n) for n in names], str(project), [], plan, request, Cache(None))
    assert {Path(cell.path).stem: cell.status for cell in result.cells} == {"good": "ok", "refused": "error"}
    assert json.dumps([cell.as_data() for cell in result.cells])
    assert os.listdir(project)
