"""From settings and findings to a VerifyResult: preflight, pools (one a device), sessions, merged results."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from graphlint.errors import UsageError, WorkError
from graphlint.finding import CheckResult, Finding
from graphlint.verify import devices
from graphlint.verify.cache import Cache
from graphlint.verify.devices import Check, System
from graphlint.verify.entries import Entry
from graphlint.verify.pool import Limits, Pool, PoolError, Settings
from graphlint.verify.session import CellRecord, Plan, Session, Tally

Progress = Callable[[Tally, str], None]


@dataclass
class Request:
    """Where to run: interpreter, devices (numbers; empty for a CPU), processes."""

    python: str
    target: str = "CPU"
    numbers: Tuple[int, ...] = ()
    jobs: int = 0
    memory_mb: int = 0
    env: Dict[str, str] = field(default_factory=dict)
    resident: Optional[bool] = None


@dataclass
class VerifyResult:
    """Findings with verdicts, the Cells, what ran where."""

    findings: List[Finding]
    cells: List[CellRecord]
    info: Dict[str, Any]
    checks: List[Check]
    tally: Tally
    seconds: float = 0.0
    notes: List[str] = field(default_factory=list)
    device: str = "CPU"
    cpu: float = 0.0
    """Processor seconds of the children that ran tries."""


def parse_devices(device: Optional[str], target: Optional[str]) -> Tuple[str, Tuple[int, ...]]:
    """(target, numbers) from --device and --device-target. `--device 7` means Ascend. Raises UsageError."""
    numbers: Tuple[int, ...] = ()
    if device is not None:
        try:
            numbers = tuple(dict.fromkeys(int(part) for part in device.split(",") if part.strip()))
        except ValueError as error:
            raise UsageError(f"--device {device}: write device numbers, such as 7 or 0,1,2") from error
        if not numbers or min(numbers) < 0:
            raise UsageError(f"--device {device}: write device numbers from 0 up, such as 7 or 0,1,2")
        if target == "CPU":
            raise UsageError("--device numbers Ascend (or GPU) devices; leave it out for --device-target CPU")
    chosen = target or ("Ascend" if numbers else "CPU")
    if chosen != "CPU" and not numbers:
        numbers = (0,)
    return chosen, numbers


def memory_limit(jobs: int, system: Optional[System] = None) -> int:
    """MB for one child: at most 8192, and no more than the machine's memory divided among the jobs."""
    text = (system or System()).read("/proc/meminfo") or ""
    total = next(
        (int(line.split()[1]) >> 10 for line in text.splitlines() if line.startswith("MemTotal")), 16384
    )
    return max(3072, min(8192, int(total * 0.85 / max(1, jobs))))


_PROBE = """
import importlib.metadata as m, importlib.util as u, json, os, sys
def version(*names):
    for name in names:
        try: return m.version(name)
        except m.PackageNotFoundError: pass
    return ""
spec = u.find_spec("mindspore")
print(json.dumps({"mindspore": version("mindspore", "mindspore-dev"), "numpy": version("numpy") or "0",
    "python": sys.version.split()[0],
    "package": os.path.dirname(spec.origin) if spec and spec.origin else ""}))
"""


def probe(request: Request) -> Dict[str, Any]:
    """Versions and place of the interpreter's MindSpore, not imported: for the cache and the preflight.

    Raises WorkError where there is none.
    """
    env = {**os.environ, **request.env}
    command = [request.python, "-c", _PROBE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=env)
        info: Dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise WorkError(_no_mindspore(request.python, f"{type(error).__name__}: {error}")) from error
    if not info["package"]:
        raise WorkError(_no_mindspore(request.python, "No module named 'mindspore'"))
    return info


def open_pool(request: Request, info: Optional[Dict[str, Any]] = None) -> Pool:
    """A pool whose zygote runs, or with `info` one that starts it with the first try. Raises WorkError."""
    jobs = request.jobs or max(1, os.cpu_count() or 1)
    resident = request.target != "CPU" if request.resident is None else request.resident
    limit = Limits(memory_mb=request.memory_mb or memory_limit(jobs))
    pool = Pool(Settings(python=request.python, jobs=jobs, limits=limit, env=request.env, resident=resident))
    if info is not None:
        pool.info = dict(info)
        return pool
    try:
        pool.start()
    except PoolError as error:
        pool.close()
        raise WorkError(_no_mindspore(request.python, str(error))) from error
    except BaseException:
        pool.close()
        raise
    return pool


def _no_mindspore(python: str, words: str) -> str:
    hint = "install it there (pip install mindspore 'numpy<2'), or name another interpreter with --python"
    return f"verify needs MindSpore in {python}, and it could not be imported: {words}; {hint}"


def preflight(request: Request, info: Dict[str, Any], system: Optional[System] = None) -> List[Check]:
    """All checks for this run; an `error` among them means that it can't be done."""
    checks = devices.preflight_python(info)
    if request.target == "Ascend":
        checks += devices.preflight_ascend(
            request.numbers, str(info["package"]), str(info["mindspore"]), system
        )
    return checks


def refuse(request: Request, checks: Sequence[Check], command: str) -> Optional[str]:
    """Why the run can't be done, with the CPU command to run instead; None where it can."""
    bad = [check for check in checks if check.status == devices.ERROR]
    if not bad:
        return None
    said = "; ".join(f"{check.what}: {check.found}" for check in bad)
    instead = f". On this machine's CPU: {command} --device-target CPU" if request.target != "CPU" else ""
    return f"can't verify on {request.target}: {said}{instead}"


def verify(
    result: CheckResult,
    files: Sequence[str],
    root: str,
    entries: Sequence[Entry],
    plan: Plan,
    request: Request,
    cache: Cache,
    progress: Optional[Progress] = None,
    command: str = "graphlint verify",
    system: Optional[System] = None,
) -> VerifyResult:
    """Run everything. Raises WorkError where nothing can be run; ends every process it started, whatever
    happens."""
    began = time.monotonic()
    pools: List[Pool] = []
    with _terminable():
        try:
            info = probe(request)
            checks = preflight(request, info, system)
            why = refuse(request, checks, command)
            if why is not None:
                raise WorkError(why)
            for _ in request.numbers or (0,):
                pools.append(open_pool(request, info))
            sessions = _sessions(pools, result, files, root, entries, plan, request, cache, progress)
            _run_all(sessions)
        except PoolError as error:
            raise WorkError(_no_mindspore(request.python, str(error))) from error
        finally:
            for pool in pools:
                pool.close()
    merged = _merge(sessions, result)
    merged.info, merged.checks = {**info, **pools[0].info}, checks
    merged.seconds = round(time.monotonic() - began, 3)
    merged.device = plan.device
    merged.cpu = round(sum(pool.cpu for pool in pools), 3)
    if cache.trouble:
        merged.notes.append(cache.trouble)
    restarts = sum(pool.restarts for pool in pools)
    if restarts:
        merged.notes.append(f"workers died and were started again: {restarts}")
    return merged


def _sessions(
    pools: Sequence[Pool],
    result: CheckResult,
    files: Sequence[str],
    root: str,
    entries: Sequence[Entry],
    plan: Plan,
    request: Request,
    cache: Cache,
    progress: Optional[Progress],
) -> List[Session]:
    """One a device; the targets are dealt out among them."""
    sessions = []
    lock = threading.Lock()
    tallies: List[Tally] = []

    def report(tally: Tally, name: str) -> None:
        if progress is not None:
            with lock:
                progress(_sum(tallies), name)

    for number, pool in enumerate(pools):
        own = Plan(**{**vars(plan), "device": request.target})
        own.device_id = request.numbers[number] if request.numbers else 0
        session = Session(pool, result, files, root, entries, own, cache, report)
        session.part = (number, len(pools))
        tallies.append(session.tally)
        sessions.append(session)
    return sessions


def _sum(tallies: Sequence[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        for name, value in vars(tally).items():
            setattr(total, name, getattr(total, name) + value)
    return total


def _run_all(sessions: Sequence[Session]) -> None:
    """One device in this thread, several in one thread each; the first exception is raised here."""
    if len(sessions) == 1:
        sessions[0].run()
        return
    raised: List[BaseException] = []

    def work(session: Session) -> None:
        try:
            session.run()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(session,), daemon=True) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.2)
    if raised:
        raise raised[0]


def _merge(sessions: Sequence[Session], result: CheckResult) -> VerifyResult:
    findings = []
    for index in range(len(result.findings)):
        found = [session.findings[index] for session in sessions]
        done = [one for one in found if one.verdict is not None and one.verdict["status"] != "not-run"]
        findings.append((done or found)[0])
    cells = [cell for session in sessions for cell in session.cells]
    return VerifyResult(findings, cells, {}, [], _sum([session.tally for session in sessions]))


class _terminable:
    """SIGTERM becomes KeyboardInterrupt while this holds, so that every `finally` runs."""

    def __enter__(self) -> None:
        self.before: Any = None
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGTERM, self._raise)

    @staticmethod
    def _raise(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    def __exit__(self, *_: Any) -> None:
        if self.before is not None:
            signal.signal(signal.SIGTERM, self.before)
