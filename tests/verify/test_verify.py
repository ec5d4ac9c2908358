"""The whole of `verify` with the real compiler: verdicts of findings, the ladder, the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
from click.testing import CliRunner

from graphlint import cli
from graphlint.finding import CheckResult, Confidence, Effect, Finding, Severity
from graphlint.verify.cache import Cache
from graphlint.verify.entries import from_table
from graphlint.verify.run import Request, VerifyResult, verify
from graphlint.verify.session import Plan

pytestmark = pytest.mark.mindspore

MIXED = """import numpy as np
import mindspore as ms
from mindspore import nn, Tensor


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.dense = nn.Dense(3, 3)

    def construct(self, x):
        print("hello")
        try:
            y = x + 1
        except ValueError:
            y = x
        for i in range(3):
            y = y + i
        else:
            y = y * 2
        print(y)
        if y.sum() > 0:
            z = y.astype(ms.float16)
        else:
            z = y
        if x.shape[0] > 100:
            z = z + 1
        return z


INPUTS = lambda: (Tensor(np.ones((2, 3), np.float32)),)
"""
MODEL = """from mindspore import nn, ops


class Block(nn.Cell):
    def __init__(self, width, flip):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3)
        self.flip = flip

    def construct(self, x, scale):
        if self.flip == "odd":
            x = ops.relu(x)
        return self.conv(x) * scale


class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = Block(5, "odd")

    def construct(self, x):
        return self.first(x, 2.0)


class Lonely(nn.Cell):
    def __init__(self, recipe):
        super().__init__()
        self.value = recipe["missing"]

    def construct(self, x):
        return x


def make():
    return Model()
"""


def finding(path: Path, line: int, effect: Effect, name: str = "x", end: int = 0, column: int = 9) -> Finding:
    text = path.read_text().splitlines()[(end or line) - 1]
    return Finding(
        code="GL999",
        name=name,
        effect=effect,
        severity=Severity.ERROR,
        path=str(path),
        line=line,
        column=column,
        end_line=end or line,
        end_column=len(text) + 1,
        symbol="Net.construct",
        chain=("Net.construct",),
        message="m",
        confidence=Confidence.HIGH,
    )


def run(
    project: Path,
    python: str,
    paths: List[Path],
    findings: List[Finding],
    entries: Any = (),
    cache: Any = None,
    **plan: Any,
) -> VerifyResult:
    result = CheckResult(findings=findings)
    settings = Plan(**{"timeout": 60.0, **plan})
    given = from_table({"entries": list(entries)}, str(project))
    request = Request(python=python, jobs=2)
    return verify(
        result, [str(path) for path in paths], str(project), given, settings, request, cache or Cache(None)
    )


def test_each_of_many_findings_has_its_own_verdict(project: Path, python: str, no_orphans: None) -> None:
    path = project / "net.py"
    path.write_text(MIXED)
    listed = [
        finding(path, 9, Effect.PORTING, "missing-has-bias"),
        finding(path, 10, Effect.PORTING, "missing-has-bias"),
        finding(path, 13, Effect.NONE),
        finding(path, 14, Effect.COMPILE_ERROR, end=17),
        finding(path, 18, Effect.COMPILE_ERROR, end=21),
        finding(path, 22, Effect.SIDE_EFFECT),
        finding(path, 23, Effect.COMPILE_ERROR, end=26),
        finding(path, 28, Effect.COMPILE_ERROR, column=13),
    ]
    cache = Cache(str(project / "cache"))
    result = run(project, python, [path], listed, cache=cache)
    verdicts = [one.verdict or {} for one in result.findings]
    assert [verdict["status"] for verdict in verdicts] == [
        *("confirmed", "refuted", "refuted", "confirmed", "confirmed", "confirmed", "confirmed"),
        "inconclusive",
    ]
    assert "Try" in verdicts[3]["reason"]
    assert "printed text" in verdicts[5]["reason"]
    assert "join" in verdicts[6]["reason"]
    assert verdicts[7]["reason"] == "not reached with these inputs"
    assert {verdict["rung"] for verdict in verdicts} == {"entry"}
    again = run(project, python, [path], listed, cache=Cache(str(project / "cache")))
    assert again.tally.from_cache == 1
    assert [one.verdict for one in again.findings] == [one.verdict for one in result.findings]


def test_one_line_for_a_model_and_nothing_for_the_rest(project: Path, python: str, no_orphans: None) -> None:
    path = project / "model.py"
    path.write_text(MODEL)
    entry = {"cell": "model.py:Model", "inputs": ["float32[2,5,8,8]"]}
    result = run(project, python, [path], [], [entry], all_cells=True)
    found = {cell.cell: cell for cell in result.cells}
    assert (found["Model"].status, found["Model"].rung) == ("ok", "entry")
    assert (found["Block"].status, found["Block"].rung) == ("ok", "harvested from Model")
    assert found["Lonely"].status == "not-tried"
    assert "constructor arguments" in found["Lonely"].reason


ASCEND_ONLY = """import numpy as np
from mindspore import nn, mint, Tensor


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = mint.nn.Conv2d(3, 4, 3)

    def construct(self, x):
        y = self.conv(x)
        try:
            y = y + 1
        except ValueError:
            y = x
        return y


INPUTS = lambda: (Tensor(np.ones((2, 3, 8, 8), np.float32)),)
"""


def test_no_cpu_kernel_is_no_refutation(project: Path, python: str, no_orphans: None) -> None:
    """What the front end refuses is confirmed all the same; the rest needs the device."""
    path = project / "net.py"
    path.write_text(ASCEND_ONLY)
    listed = [finding(path, 11, Effect.DIVERGES), finding(path, 12, Effect.COMPILE_ERROR, end=15)]
    result = run(project, python, [path], listed)
    first, second = ((one.verdict or {}) for one in result.findings)
    assert (first["status"], "no CPU kernel" in first["reason"]) == ("inconclusive", True)
    assert (second["status"], "front end alone" in second["reason"]) == ("confirmed", True)


def test_shards_are_a_partition_and_merge(project: Path, python: str, no_orphans: None) -> None:
    path = project / "model.py"
    path.write_text(MODEL)
    seen = []
    for part in ((1, 2), (2, 2)):
        result = run(project, python, [path], [], all_cells=True, guess=False, shard=part)
        seen.append({cell.cell for cell in result.cells})
    assert seen[0] | seen[1] == {"Block", "Model", "Lonely"}
    assert not seen[0] & seen[1]


def test_late_errors_of_pynative_are_errors(project: Path, python: str, no_orphans: None) -> None:
    """PyNative reports a wrong shape when the values are asked for: the graph must not be blamed for it."""
    path = project / "net.py"
    path.write_text(
        "import numpy as np\nfrom mindspore import nn, Tensor\n\n\nclass Net(nn.Cell):\n"
        "    def construct(self, x):\n        return x + Tensor(np.ones((2, 2), np.float32))\n\n\n"
        "INPUTS = lambda: (Tensor(np.ones((2, 3), np.float32)),)\n"
    )
    (cell,) = run(project, python, [path], [], all_cells=True).cells
    assert cell.status == "pynative-fails"


def test_without_an_entry(project: Path, python: str, no_orphans: None) -> None:
    path = project / "model.py"
    path.write_text(MODEL)
    result = run(project, python, [path], [], all_cells=True)
    found = {cell.cell: cell for cell in result.cells}
    assert found["Model"].status == "ok"
    assert found["Block"].status == "ok"


def command(*arguments: str) -> Any:
    return CliRunner().invoke(cli.cli, list(arguments), standalone_mode=False)


def test_command_line(project: Path, python: str, no_orphans: None) -> None:
    (project / "net.py").write_text(MIXED)
    done = command("verify", "net.py", "--python", python, "--output-format", "json", "--report", "r.html")
    assert done.exception is None, done.exc_info
    data: Dict[str, Any] = json.loads(done.stdout)
    assert done.return_value == 1, done.output
    assert data["version"] == 1
    statuses = {item["code"]: item["verdict"]["status"] for item in data["findings"]}
    assert statuses["GL101"] == "confirmed"
    (cell,) = data["cells"]
    assert {"cell", "path", "line", "status", "reason", "rung", "device"} <= set(cell)
    assert set(data["findings"][0]["verdict"]) == {
        *("status", "reason", "device", "mindspore", "pynative", "graph", "seconds", "rung"),
    }
    assert "<!doctype html>" in (project / "r.html").read_text(encoding="utf-8")


def test_no_such_device_is_exit_3_with_the_cpu_command(
    project: Path, python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "net.py").write_text(MIXED)
    assert cli.run(["verify", "net.py", "--device", "7", "--python", python]) == 3
    said = capsys.readouterr().err
    assert "Ascend device 7: not present" in said
    assert "graphlint verify net.py --device-target CPU" in said


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--device", "7", "--device-target", "CPU"], 2),
        (["--shard", "3/2"], 2),
        (["--device", "seven"], 2),
        (["nowhere.py"], 2),
    ],
)
def test_wrong_usage(project: Path, arguments: List[str], code: int) -> None:
    (project / "net.py").write_text(MIXED)
    assert cli.run(["verify", *arguments]) == code


def test_no_mindspore_is_exit_3(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "net.py").write_text(MIXED)
    assert cli.run(["verify", "net.py", "--python", str(project / "no-python")]) == 3
    assert "verify needs MindSpore" in capsys.readouterr().err


def test_doctor(project: Path, python: str) -> None:
    done = command("doctor", "--python", python, "--output-format", "json")
    checks = {check["check"]: check["status"] for check in json.loads(done.stdout)["checks"]}
    assert checks["MindSpore"] == "ok"
    assert done.return_value == 0
    assert command("doctor", "--python", python, "--device", "7").return_value == 3
