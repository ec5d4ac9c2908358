"""What is read from texts: compile errors, fallback nodes, npu-smi, version files; comparing snapshots;
merging."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence

import pytest

from graphlint.errors import UsageError
from graphlint.finding import Effect, Finding, Severity
from graphlint.verify import attribution, compile_errors, devices, merge
from graphlint.verify.cache import Cache
from graphlint.verify.run import Request, parse_devices, refuse
from graphlint.verify.targets import Catalogue, place_of

HEAD = "\n\n----\n- The Traceback of Net Construct Code:\n----\n\n"
PARSE = (
    "Unsupported statement 'Try'.\nMore details please refer to syntax support"
    + HEAD
    + "# In file /p/net.py:12~18, 4~16\n"
    "    def construct(self, x):\n    ^\n\n# In file /p/net.py:14~17, 8~21\n        try:\n"
)
INFER = (
    "For primitive" + HEAD + "# 0 In file /p/net.py:30, 15~30\n        return self.sub(x)\n\n"
    "# 1 In file /p/sub.py:7, 8~20\n   y\n\n# 2 In file /ms/mindspore/ops/x.py:99, 1~2\n  z\n"
)
JOIN = (
    "Cannot join the return values of different branches, perhaps you need to make them equal.\n"
    "Inner Message:\nthe type of true branch is\nIn file /p/net.py:23, 12~36\n   z = a\n"
    "false branch:\nIn file /p/net.py:25, 12~17\n   z = y\n" + HEAD + "# 0 In file /p/net.py:22, 8~36\n"
)


def error(message: str, kind: str = "RuntimeError") -> Dict[str, Any]:
    return {"type": kind, "message": message, "frames": []}


def test_parse_error() -> None:
    read = compile_errors.read(error(PARSE), "/ms")
    assert read.parse
    assert [(f.line, f.end) for f in read.culprits] == [(14, 17)]
    assert [(f.line, f.end) for f in read.frames] == [(12, 18), (14, 17)]


def test_inference_error_drops_the_framework() -> None:
    read = compile_errors.read(error(INFER), "/ms/mindspore")
    assert [(f.path, f.line) for f in read.culprits] == [("/p/sub.py", 7)]


def test_join_names_both_branches() -> None:
    read = compile_errors.read(error(JOIN), "/ms", {"/p/net.py": "/q/net.py"})
    assert read.join
    assert [(f.path, f.line) for f in read.culprits] == [("/q/net.py", 23), ("/q/net.py", 25)]


def test_no_position_falls_back_to_python_frames() -> None:
    raised = {**error("boom"), "frames": [["/p/net.py", 3, "construct"], ["/ms/api.py", 9, "run"]]}
    assert [(f.path, f.line) for f in compile_errors.read(raised, "/ms").culprits] == [("/p/net.py", 3)]
    assert compile_errors.read(error("nothing"), "/ms").culprits == ()


def finding(path: str, line: int, end: Optional[int] = None, **more: Any) -> Finding:
    given = {
        "code": "GL999",
        "name": "x",
        "effect": Effect.COMPILE_ERROR,
        "severity": Severity.ERROR,
        "column": 9,
        "end_column": 20,
        "symbol": "Net.construct",
        "chain": ("Net.construct",),
        "message": "",
        **more,
    }
    return Finding(path=path, line=line, end_line=end or line, **given)


def test_blame(tmp_path: Path) -> None:
    read = compile_errors.read(error(PARSE), "/ms")
    assert attribution.blames(read, finding("/p/net.py", 14, 17))
    assert not attribution.blames(read, finding("/p/net.py", 20))
    helper = finding("/p/help.py", 3, via=(("/p/net.py", 14),))
    assert attribution.blames(read, helper)


def test_reached(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("def f(x):\n    global G\n    if x:\n        x = 1\n    return x\n")
    lines = {str(path): [1, 3, 5]}
    assert attribution.reached(finding(str(path), 3), lines)
    assert not attribution.reached(finding(str(path), 4), lines)
    assert attribution.reached(finding(str(path), 2), lines)
    assert not attribution.reached(finding(str(path), 2), {})


def test_in_place_needs_ascend(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("y.add_(1)\ny += 1\ny[0] = 1\ny == 2\n")
    wanted = [
        attribution.needs_ascend(finding(str(path), n, code="GL401", effect=Effect.DIVERGES))
        for n in (1, 2, 3, 4)
    ]
    assert wanted == [True, True, False, False]
    assert not attribution.needs_ascend(finding(str(path), 1, code="GL101", effect=Effect.DIVERGES))


NPU_SMI = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.0                   Version: 24.1.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.1        48                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3346 / 65536         |
+===========================+===============+====================================================+
| 7     910B3               | Warning       | 97.2        50                0    / 0             |
| 0                         | 0000:42:00.0  | 0           0    / 0          3350 / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 4242          | python3                  | 1500                    |
+===========================+===============+====================================================+
"""


class Machine(devices.System):
    """A machine that exists as texts only."""

    def __init__(
        self, files: Mapping[str, str], smi: Optional[str], environ: Optional[Mapping[str, str]] = None
    ) -> None:
        super().__init__(environ or {})
        self.files, self.smi = files, smi

    def run(self, command: Sequence[str], timeout: float = 20.0) -> Optional[str]:
        return self.smi if command[0] == "npu-smi" else None

    def read(self, path: str) -> Optional[str]:
        return self.files.get(path)


CANN = {
    "/opt/cann/compiler/version.info": "Version=8.2.0.1.220\n",
    "/usr/local/Ascend/driver/version.info": "Version=24.1.0\n",
    "/ms/run_check/_check_version.py": "class GPU:\n  self.version = ['11.6']\nclass AscendEnvChecker:\n"
    '    self.version = ["8.2", "8.3"]\n',
}
ENV = {"ASCEND_HOME_PATH": "/opt/cann"}


def test_npu_smi() -> None:
    first, second = devices.parse_npu_smi(NPU_SMI)
    assert (first.number, first.name, first.healthy, first.memory_used_mb, first.memory_total_mb) == (
        *(0, "910B3", True),
        *(3346, 65536),
    )
    assert [(p.pid, p.name, p.memory_mb) for p in first.processes] == [(4242, "python3", 1500)]
    assert (second.number, second.healthy, second.processes) == (7, False, [])
    assert devices.parse_npu_smi("") == devices.parse_npu_smi("| garbage |\n| 1 | 2 | 3 |") == []


def statuses(checks: Sequence[devices.Check]) -> Dict[str, str]:
    return {check.what: check.status for check in checks}


def test_preflight_on_a_machine_with_ascend() -> None:
    machine = Machine(CANN, NPU_SMI, ENV)
    checks = devices.preflight_ascend([0, 7, 3], "/ms", "2.7.0", machine)
    assert statuses(checks) == {
        "CANN": "ok",
        "driver": "ok",
        "npu-smi": "ok",
        "Ascend device 0": "warning",
        "Ascend device 7": "error",
        "Ascend device 3": "error",
    }
    said = {check.what: check.found for check in checks}
    assert "python3 4242 (1500 MB)" in said["Ascend device 0"]
    assert "health is Warning" in said["Ascend device 7"]
    assert "npu-smi lists 0, 7" in said["Ascend device 3"]


def test_cann_out_of_range_is_a_warning() -> None:
    files = {**CANN, "/opt/cann/compiler/version.info": "Version=7.7.0\n"}
    (check, *_) = devices.preflight_ascend([], "/ms", "2.6.0", Machine(files, NPU_SMI, ENV))
    assert check.status == "warning"
    assert "accepts 8.2, 8.3" in check.found
    assert "8.1.RC1.beta1 (release list)" in check.found


def test_visible_devices_renumber() -> None:
    machine = Machine(CANN, NPU_SMI, {**ENV, "ASCEND_RT_VISIBLE_DEVICES": "7,0"})
    found = {check.what: check for check in devices.preflight_ascend([0, 1, 2], "/ms", "2.7.0", machine)}
    assert found["Ascend device 1"].found == "health is Warning"
    assert "leaves 2 devices" in found["Ascend device 2"].found


def test_no_ascend_names_what_was_looked_for_and_the_cpu_command() -> None:
    request = Request(python="python", target="Ascend", numbers=(7,))
    checks = devices.preflight_ascend((7,), "/ms", "2.7.0", Machine({}, None))
    said = refuse(request, checks, "graphlint verify src")
    assert said is not None
    assert "ASCEND_HOME_PATH" in said
    assert "Ascend device 7: not present" in said
    assert said.endswith("graphlint verify src --device-target CPU")


def test_numpy_2_is_refused() -> None:
    info = {"mindspore": "2.10.0", "numpy": "2.4.6", "python": "3.11"}
    assert statuses(devices.preflight_python(info)) == {"MindSpore": "ok", "NumPy": "error"}


def test_device_options() -> None:
    assert parse_devices(None, None) == ("CPU", ())
    assert parse_devices("7", None) == ("Ascend", (7,))
    assert parse_devices("0,1,1", "GPU") == ("GPU", (0, 1))
    assert parse_devices(None, "Ascend") == ("Ascend", (0,))
    for device, target in (("7", "CPU"), ("x", None), ("-1", None), ("", None)):
        with pytest.raises(UsageError):
            parse_devices(device, target)


def test_merge(tmp_path: Path) -> None:
    def document(status: str) -> Dict[str, Any]:
        item = {"fingerprint": "f", "line": 1, "severity": "error", "verdict": {"status": status}}
        cell = {"path": "p", "cell": status, "device": "CPU", "mindspore": "2.7.0"}
        return {
            "version": 1,
            "findings": [item],
            "cells": [cell],
            "errors": [],
            "summary": {"findings": 1},
            "verify": {},
        }

    merged = merge.merge([document("not-run"), document("confirmed")])
    assert [item["verdict"]["status"] for item in merged["findings"]] == ["confirmed"]
    assert len(merged["cells"]) == 2
    assert merged["verify"]["counts"]["confirmed"] == 1
    path = tmp_path / "x.json"
    path.write_text("[]")
    with pytest.raises(UsageError):
        merge.read(str(path))


def test_cache_follows_the_source(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("a")
    cache = Cache(str(tmp_path / "cache"))
    key = cache.key(["x"], [str(path)])
    cache.put(key, {"cell": {}, "verdicts": {}})
    assert Cache(str(tmp_path / "cache")).get(key) == {"cell": {}, "verdicts": {}}
    path.write_text("b")
    assert Cache(str(tmp_path / "cache")).key(["x"], [str(path)]) != key
    next((tmp_path / "cache").rglob(key)).write_text("{")
    assert cache.get(key) is None


def test_catalogue(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "base.py").write_text("from mindspore import nn\nclass Base(nn.Cell):\n    pass\n")
    (package / "net.py").write_text(
        "from .base import Base\nclass Net(Base):\n    def construct(self, x):\n        pass\n"
    )
    files = [str(path) for path in package.iterdir()]
    catalogue = Catalogue(files, str(tmp_path))
    assert [target.name for target in catalogue.cells()] == ["Base", "Net"]
    assert place_of(files[0]).module.startswith("pkg")
    reached = {Path(path).name for path in catalogue.imports_of(str(package / "net.py"))}
    assert reached >= {"net.py", "base.py"}
    found = catalogue.target_of(finding(str(package / "net.py"), 4, chain=(), symbol=""))
    assert found is not None and found.name == "Net"


def test_knowledge_of_cann_is_json() -> None:
    assert devices.documented_cann("2.0.0") is not None
    assert devices.documented_cann("9.9.9") is None
    assert json.dumps(devices.documented_cann("2.6.0"))
