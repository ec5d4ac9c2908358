"""Devices: what this machine has, whether MindSpore, NumPy and CANN fit together. The one seam to Ascend.

Nothing here imports MindSpore: versions come from the zygote or from the installed files. Everything that
touches the machine goes through `System`, so that recorded texts can stand in for it. The Ascend steps were
never run on hardware.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

OK, WARNING, ERROR = "ok", "warning", "error"


class System:
    """The machine: environment, files, commands. Tests give another one."""

    def __init__(self, environ: Optional[Mapping[str, str]] = None) -> None:
        self.environ: Mapping[str, str] = os.environ if environ is None else environ

    def run(self, command: Sequence[str], timeout: float = 20.0) -> Optional[str]:
        """Standard output; None where the command isn't there or fails."""
        if shutil.which(command[0]) is None:
            return None
        try:
            done = subprocess.run(list(command), capture_output=True, text=True, timeout=timeout, check=False)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout if done.returncode == 0 else None

    def read(self, path: str) -> Optional[str]:
        try:
            with open(path, encoding="utf-8", errors="replace") as stream:
                return stream.read()
        except OSError:
            return None


@dataclass
class Process:
    """A process on a device."""

    pid: int
    name: str
    memory_mb: int


@dataclass
class Device:
    """One row of `npu-smi info`."""

    number: int
    chip: int
    name: str
    health: str
    memory_used_mb: int = 0
    memory_total_mb: int = 0
    processes: List[Process] = field(default_factory=list)

    @property
    def healthy(self) -> bool:
        return self.health.upper() == "OK"


@dataclass
class Check:
    """One line of the preflight: what was looked at, `ok`, `warning` or `error`, and what was found."""

    what: str
    status: str
    found: str

    def as_data(self) -> Dict[str, str]:
        return {"check": self.what, "status": self.status, "found": self.found}


_NUMBER = re.compile(r"\d+")


def parse_npu_smi(text: str) -> List[Device]:
    """The devices in the text of `npu-smi info`: two rows a chip, then a table of processes."""
    devices: List[Device] = []
    in_processes = False
    pending: Optional[Tuple[int, str, str]] = None
    for line in text.splitlines():
        if not line.strip().startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        first = cells[0].split()
        if "Process id" in line or "Process ID" in line:
            in_processes = True
            continue
        if in_processes:
            _read_process(cells, devices)
            continue
        if len(cells) < 3 or not first or not first[0].isdigit():
            continue
        if pending is None and len(first) > 1 and not first[1].isdigit():
            pending = (int(first[0]), first[1], cells[1].split()[0] if cells[1] else "")
        elif pending is not None:
            used = re.findall(r"(\d+)\s*/\s*(\d+)", cells[2])
            memory = max(((int(a), int(b)) for a, b in used), key=lambda pair: pair[1], default=(0, 0))
            devices.append(Device(pending[0], int(first[0]), pending[1], pending[2], memory[0], memory[1]))
            pending = None
    return devices


def _read_process(cells: List[str], devices: List[Device]) -> None:
    first = cells[0].split()
    if len(cells) < 4 or not first or not first[0].isdigit() or not cells[1].isdigit():
        return
    for device in devices:
        if device.number == int(first[0]):
            amount = _NUMBER.search(cells[3])
            device.processes.append(Process(int(cells[1]), cells[2], int(amount.group()) if amount else 0))
            return


def cann_version(system: System) -> Tuple[str, str]:
    """(version such as "8.2.0.1.220", the file that says so); empty where no CANN was found."""
    roots = [system.environ.get(name, "") for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")]
    opp = system.environ.get("ASCEND_OPP_PATH", "")
    if opp:
        roots.append(opp[: opp.rfind("opp")] if "opp" in opp else opp)
    roots += [
        "/usr/local/Ascend/ascend-toolkit/latest",
        "/usr/local/Ascend/latest",
        "/usr/local/Ascend/nnae/latest",
    ]
    for root in roots:
        if not root:
            continue
        path = os.path.join(root, "compiler", "version.info")
        match = re.search(r"Version\s*=\s*(\S+)", system.read(path) or "")
        if match:
            return match.group(1), path
    return "", ""


def driver_version(system: System) -> str:
    match = re.search(r"Version\s*=\s*(\S+)", system.read("/usr/local/Ascend/driver/version.info") or "")
    return match.group(1) if match else ""


def accepted_cann(package: str, system: Optional[System] = None) -> List[str]:
    """The CANN versions (major.minor) that the installed MindSpore's check accepts; read, not imported."""
    text = (system or System()).read(os.path.join(package, "run_check", "_check_version.py")) or ""
    _, _, ascend = text.partition("class AscendEnvChecker")
    match = re.search(r"self\.version\s*=\s*\[([^\]]*)\]", ascend)
    return re.findall(r"[\d.]+", match.group(1)) if match else []


def documented_cann(version: str) -> Optional[Dict[str, str]]:
    """The documented pair for a MindSpore version, with its source; None where none was found."""
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "knowledge", "cann.json")
    try:
        with open(path, encoding="utf-8") as stream:
            rows: List[Dict[str, str]] = json.load(stream)["documented"]
    except (OSError, ValueError, KeyError):
        return None
    return next((row for row in rows if row["mindspore"] == version), None)


def visible_devices(system: System) -> Optional[List[int]]:
    """What ASCEND_RT_VISIBLE_DEVICES leaves; None where it isn't set."""
    value = system.environ.get("ASCEND_RT_VISIBLE_DEVICES")
    if value is None or not value.strip():
        return None
    return sorted(int(part) for part in value.split(",") if part.strip().isdigit())


def preflight_ascend(
    numbers: Sequence[int], package: str, version: str, system: Optional[System] = None
) -> List[Check]:
    """Everything about Ascend that can be looked at before MindSpore opens the device."""
    system = system or System()
    checks: List[Check] = []
    cann, where = cann_version(system)
    accepted = accepted_cann(package, system)
    documented = documented_cann(version)
    pair = (
        f"; documented for {version}: CANN {documented['cann']} ({documented['source']})"
        if documented
        else ""
    )
    if not cann:
        looked = "ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME, ASCEND_OPP_PATH, /usr/local/Ascend"
        checks.append(Check("CANN", ERROR, f"not found (looked in {looked}){pair}"))
    elif accepted and ".".join(cann.split(".")[:2]) not in accepted:
        checks.append(
            Check(
                "CANN", WARNING, f"{cann} ({where}); MindSpore {version} accepts {', '.join(accepted)}{pair}"
            )
        )
    else:
        checks.append(Check("CANN", OK, f"{cann} ({where}){pair}"))
    driver = driver_version(system)
    checks.append(
        Check("driver", OK if driver else WARNING, driver or "no /usr/local/Ascend/driver/version.info")
    )
    text = system.run(["npu-smi", "info"])
    devices = parse_npu_smi(text) if text else []
    if text is None:
        checks.append(Check("npu-smi", ERROR, "the command npu-smi is not there or failed"))
    else:
        listed = ", ".join(f"{device.number} ({device.name}, {device.health})" for device in devices)
        checks.append(Check("npu-smi", OK if devices else ERROR, listed or "no device listed"))
    visible = visible_devices(system)
    for number in numbers:
        checks.append(_one_device(number, devices, visible, text is not None))
    return checks


def _one_device(number: int, devices: List[Device], visible: Optional[List[int]], listed: bool) -> Check:
    what = f"Ascend device {number}"
    physical = number
    if visible is not None:
        if number >= len(visible):
            return Check(
                what,
                ERROR,
                f"ASCEND_RT_VISIBLE_DEVICES leaves {len(visible)} devices ({visible}), numbered from 0",
            )
        physical = visible[number]
    device = next((device for device in devices if device.number == physical), None)
    if device is None:
        known = ", ".join(str(device.number) for device in devices) or "none"
        return Check(what, ERROR, f"not present; npu-smi lists {known}" if listed else "not present")
    if not device.healthy:
        return Check(what, ERROR, f"health is {device.health}")
    if device.processes:
        used = ", ".join(f"{p.name or 'process'} {p.pid} ({p.memory_mb} MB)" for p in device.processes)
        return Check(what, WARNING, f"{device.name}, healthy, in use by {used}")
    return Check(
        what, OK, f"{device.name}, healthy, idle, {device.memory_used_mb} of {device.memory_total_mb} MB used"
    )


def preflight_python(info: Mapping[str, Any]) -> List[Check]:
    """MindSpore and NumPy, as the worker reported them."""
    checks = [Check("MindSpore", OK, f"{info['mindspore']} (Python {info['python']})")]
    numpy = str(info["numpy"])
    if int(numpy.split(".")[0]) >= 2:
        text = (
            f"{numpy}: with NumPy 2 every PyNative operation of MindSpore up to 2.10 fails; install numpy<2"
        )
        checks.append(Check("NumPy", ERROR, text))
    else:
        checks.append(Check("NumPy", OK, numpy))
    return checks
