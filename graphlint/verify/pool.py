"""Runs tries in children of a zygote, `jobs` at a time, each within limits; survives whatever the children
do.

The pool is a loop in the parent's main thread. It owns a scratch directory with one subdirectory a try. A
zygote that dies (killed, or by a child that kills its parent) is started again; each try it took with it is
repeated once, alone, and given up as `worker` if it takes its zygote with it again.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable, Deque, Dict, List, Optional

from graphlint.verify.tries import Outcome, Try, in_stage, signal_name
from graphlint.verify.worker.wire import Wire

_TOKEN = "GRAPHLINT_VERIFY_RUN"


class PoolError(Exception):
    """The workers could not be started: no MindSpore there, no such interpreter."""


@dataclass
class Limits:
    """For every child. `memory_mb` is both address space and resident size."""

    memory_mb: int = 8192
    cpu_seconds: int = 900
    file_mb: int = 64

    def as_job(self) -> Dict[str, int]:
        return {"memory_mb": self.memory_mb, "cpu_seconds": self.cpu_seconds, "file_mb": self.file_mb}


@dataclass
class _Running:
    ident: int
    attempt: Try
    done: Callable[[Outcome], None]
    directory: str
    began: float
    pid: int = 0
    tries: int = 0
    death: str = ""
    words: str = ""
    deadline: float = 0.0
    cpu: float = 0.0


@dataclass
class _Waiting:
    attempt: Try
    done: Callable[[Outcome], None]
    tries: int = 0


@dataclass
class Settings:
    """How to start workers: the interpreter, how many at a time, their limits and environment."""

    python: str = sys.executable
    jobs: int = 2
    limits: Limits = field(default_factory=Limits)
    env: Dict[str, str] = field(default_factory=dict)
    start_timeout: float = 120.0
    keep_scratch: bool = False
    resident: bool = False
    """Long-lived workers instead of forked children: for Ascend, and wherever a device has been opened."""


class Pool:
    """Submit tries, then run() until all are done. A context manager: leaving it ends every process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.scratch = tempfile.mkdtemp(prefix="graphlint-verify-")
        self.token = f"{os.getpid()}-{time.time_ns()}"
        self.zygote: Optional[subprocess.Popen] = None
        self.wire: Optional[Wire] = None
        self.info: Dict[str, Any] = {}
        self.waiting: Deque[_Waiting] = deque()
        self.running: Dict[int, _Running] = {}
        self.preloads: List[Dict[str, Any]] = []
        self.restarts = 0
        self.cpu = 0.0
        self._ident = 0
        self._alone = False

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    # -- the zygote

    def start(self) -> Dict[str, Any]:
        """Start the zygote; returns what it says of its MindSpore. Raises PoolError."""
        ours, theirs = socket.socketpair()
        env = dict(os.environ)
        env.update(self.settings.env)
        env[_TOKEN] = self.token
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        env["PYTHONPATH"] = os.pathsep.join(
            [root, *[p for p in env.get("PYTHONPATH", "").split(os.pathsep) if p]]
        )
        env.setdefault("PYTHONDONTWRITEBYTECODE", "1")
        log = open(os.path.join(self.scratch, "zygote.log"), "ab")  # noqa: SIM115
        module = "graphlint.verify.worker." + ("resident" if self.settings.resident else "zygote")
        command = [self.settings.python, "-m", module, str(theirs.fileno()), str(os.getpid())]
        try:
            self.zygote = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.scratch,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise PoolError(f"{self.settings.python} could not be started: {error}") from error
        finally:
            theirs.close()
            log.close()
        self.wire = Wire(ours)
        message = self._wait_for("ready", self.settings.start_timeout)
        if not message or not message["ready"]:
            words = message["error"] if message else self._tail()
            self._end_zygote()
            raise PoolError(words or "the worker ended before MindSpore was imported")
        self.info = message
        for job in self.preloads:
            self._preload(job)
        return message

    def _tail(self) -> str:
        try:
            with open(os.path.join(self.scratch, "zygote.log"), encoding="utf-8", errors="replace") as stream:
                lines = stream.read().strip().splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def _wait_for(self, key: str, seconds: float) -> Optional[Dict[str, Any]]:
        deadline = time.monotonic() + seconds
        assert self.wire is not None
        while time.monotonic() < deadline and not self.wire.closed:
            ready, _, _ = select.select([self.wire], [], [], 0.2)
            if ready:
                for message in self.wire.receive():
                    if key in message:
                        return message
        return None

    def preload(self, job: Dict[str, Any]) -> bool:
        """Import the user's modules in the zygote, if a probe child shows that it's safe. Only while
        nothing runs."""
        if self.zygote is None:
            self.start()
        kept = self._preload(job)
        if kept:
            self.preloads.append(job)
        return kept

    def _preload(self, job: Dict[str, Any]) -> bool:
        self._ident += 1
        directory = os.path.join(self.scratch, f"preload{self._ident}")
        os.makedirs(directory)
        self._write_job(directory, {**job, "limits": self.settings.limits.as_job()})
        assert self.wire is not None
        self.wire.send({"op": "preload", "id": self._ident, "dir": directory})
        answer = self._wait_for("preloaded", float(job.get("timeout", 60)) + 30)
        shutil.rmtree(directory, ignore_errors=True)
        if answer is None:
            self._end_zygote()
            self.start()
            return False
        return bool(answer["kept"])

    @staticmethod
    def _write_job(directory: str, job: Dict[str, Any]) -> None:
        with open(os.path.join(directory, "job.json"), "w", encoding="utf-8") as stream:
            json.dump(job, stream)

    def _end_zygote(self) -> None:
        if self.wire is not None:
            self.wire.sock.close()
            self.wire = None
        if self.zygote is not None:
            _kill(self.zygote.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.zygote.wait(10)
            self.zygote = None

    # -- tries

    def submit(self, attempt: Try, done: Callable[[Outcome], None]) -> None:
        """Queue a try; `done` is called from run() with its outcome."""
        self.waiting.append(_Waiting(attempt, done))

    @property
    def free(self) -> int:
        return (1 if self.settings.resident else self.settings.jobs) - len(self.running) - len(self.waiting)

    def run(self, more: Optional[Callable[[], bool]] = None) -> None:
        """Until nothing waits or runs and `more` (called whenever a slot is free) returns False."""
        while True:
            while more is not None and self.free > 0:
                if not more():
                    break
            if not self.waiting and not self.running:
                return
            self.step()

    def step(self, wait: float = 0.25) -> None:
        """Start what fits, then wait for one event."""
        if self.zygote is None:
            self.start()
        slots = 1 if self.settings.resident else self.settings.jobs
        while self.waiting and len(self.running) < slots:
            alone = self.waiting[0].tries > 0
            if (alone or self._alone) and self.running:
                break
            self._alone = alone
            self._launch(self.waiting.popleft())
        if not self.running:
            return
        assert self.wire is not None
        ready, _, _ = select.select([self.wire], [], [], wait)
        if ready:
            for message in self.wire.receive():
                if "started" in message and message["started"] in self.running:
                    self.running[message["started"]].pid = message["pid"]
                elif "ended" in message and message["ended"] in self.running:
                    self._finish(self.running.pop(message["ended"]), message)
                if message.get("retire"):
                    self._end_zygote()
                    return
            if self.wire is not None and self.wire.closed:
                self._zygote_died()
        self._watch()

    def _launch(self, waiting: _Waiting) -> None:
        self._ident += 1
        directory = os.path.join(self.scratch, str(self._ident))
        os.makedirs(directory)
        job = dict(waiting.attempt.job)
        job.setdefault("limits", self.settings.limits.as_job())
        self._write_job(directory, job)
        now = time.monotonic()
        running = _Running(self._ident, waiting.attempt, waiting.done, directory, now, tries=waiting.tries)
        running.deadline = now + waiting.attempt.timeout
        self.running[self._ident] = running
        assert self.wire is not None
        if not self.wire.send({"op": "run", "id": self._ident, "dir": directory}):
            self._zygote_died()

    def _watch(self) -> None:
        now = time.monotonic()
        for running in self.running.values():
            if running.death or not running.pid:
                if not running.pid and now - running.began > running.attempt.timeout + 30:
                    self._end_zygote()
                    self._zygote_died()
                    return
                continue
            if now > running.deadline and not _extended(running, now):
                running.death, running.words = "timeout", f"no end after {running.attempt.timeout:g} s"
                _kill(running.pid)
            elif _resident_mb(running.pid) > self.settings.limits.memory_mb:
                running.death, running.words = (
                    "memory",
                    f"more than {self.settings.limits.memory_mb} MB of memory",
                )
                _kill(running.pid)

    def _zygote_died(self) -> None:
        """Start anew; what ran is repeated once, alone, then given up."""
        lost = list(self.running.values())
        self.running.clear()
        for running in lost:
            if running.pid:
                _kill(running.pid)
        self._end_zygote()
        self.restarts += 1
        if self.settings.resident:
            for running in lost:
                self._lost_resident(running)
            return
        for running in reversed(lost):
            if running.tries:
                outcome = Outcome(
                    death="worker", words="it ended the process that runs the tries", stage=_stage(running)
                )
                self._dispose(running)
                running.done(outcome)
            else:
                self._dispose(running)
                self.waiting.appendleft(_Waiting(running.attempt, running.done, 1))
        self._sweep()

    def _lost_resident(self, running: _Running) -> None:
        """A resident worker dies with its try: the try is to blame."""
        outcome = Outcome(stage=_stage(running), seconds=round(time.monotonic() - running.began, 3))
        outcome.death, outcome.words = running.death or "signal", running.words or "the worker died"
        outcome.words = f"{outcome.words} {in_stage(outcome.stage)}".strip()
        self._dispose(running)
        running.done(outcome)

    def _finish(self, running: _Running, message: Dict[str, Any]) -> None:
        if running.pid and not self.settings.resident:
            _kill(running.pid)  # what it left running in its session
        self.cpu += message["cpu"]
        outcome = Outcome(
            seconds=round(time.monotonic() - running.began, 3),
            cpu=message["cpu"],
            rss_mb=message["rss_mb"],
            stage=_stage(running),
        )
        status = message["status"]
        path = os.path.join(running.directory, "result.json")
        if running.death:
            outcome.death, outcome.words = running.death, running.words
        elif os.WIFSIGNALED(status):
            _by_signal(outcome, os.WTERMSIG(status), self.settings.limits)
        else:
            try:
                with open(path, encoding="utf-8") as stream:
                    outcome.result = json.load(stream)
            except (OSError, ValueError):
                code = os.WEXITSTATUS(status)
                outcome.death, outcome.words = "exit", f"it ended its own process (exit code {code})"
        if outcome.death:
            where = in_stage(outcome.stage)
            outcome.words = f"{outcome.words} {where}".strip()
            outcome.stderr = _read_tail(os.path.join(running.directory, "err"))
            if outcome.death == "signal" and "bad_alloc" in outcome.stderr:
                outcome.death, outcome.words = (
                    "memory",
                    f"more than {self.settings.limits.memory_mb} MB of memory {where}",
                )
        asked, got = running.attempt.job.get("device"), outcome.result.get("device")
        if asked and got and asked != got and outcome.error is None:
            outcome.death, outcome.words = "device", f"it ran on {got}, not on {asked}: no verdict"
        error = outcome.error
        if error is not None and (error["type"] == "MemoryError" or "bad_alloc" in error["message"]):
            outcome.death = "memory"
            outcome.words = (
                f"more than {self.settings.limits.memory_mb} MB of memory {in_stage(error['stage'])}"
            )
        if outcome.clean:
            for target in running.attempt.keep:
                source = os.path.join(running.directory, os.path.basename(target))
                if os.path.exists(source):
                    shutil.move(source, target)
        self._dispose(running)
        running.done(outcome)

    def _dispose(self, running: _Running) -> None:
        if not self.settings.keep_scratch:
            shutil.rmtree(running.directory, ignore_errors=True)

    # -- the end

    def _sweep(self) -> None:
        """End every process that this run started, however it was reparented: they all bear the run's
        token."""
        needle = f"{_TOKEN}={self.token}".encode()
        for _ in range(3):
            found = False
            for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
                if not name.isdigit() or int(name) == os.getpid():
                    continue
                try:
                    with open(f"/proc/{name}/environ", "rb") as stream:
                        if needle not in stream.read():
                            continue
                    with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stream:
                        if stream.read().rpartition(")")[2].split()[0] == "Z":
                            continue
                    os.kill(int(name), signal.SIGKILL)
                    found = True
                except (OSError, IndexError):
                    continue
            if not found:
                return
            time.sleep(0.05)

    def close(self) -> None:
        """End every process and remove the scratch directory. Safe to call twice."""
        for running in self.running.values():
            if running.pid:
                _kill(running.pid)
        self.running.clear()
        self.waiting.clear()
        self._end_zygote()
        self._sweep()
        if not self.settings.keep_scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)


def _kill(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(pid, signal.SIGKILL)


def _extended(running: _Running, now: float) -> bool:
    """Grant more wall time to a try that hasn't had its processor time: the machine is busy, the try
    doesn't hang.

    Only while it makes progress, and at most four times the timeout in all.
    """
    used, before = _cpu_seconds(running.pid), running.cpu
    running.cpu = used
    timeout = running.attempt.timeout
    if used > 0.6 * timeout or used <= before + 0.02 * timeout or now - running.began > 4 * timeout:
        return False
    running.deadline = now + timeout / 2
    return True


def _cpu_seconds(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            fields = stream.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def _by_signal(outcome: Outcome, number: int, limits: Limits) -> None:
    if number == signal.SIGXFSZ:
        outcome.death, outcome.words = "output", f"more than {limits.file_mb} MB of output"
    elif number == signal.SIGXCPU:
        outcome.death, outcome.words = "timeout", f"more than {limits.cpu_seconds} s of processor time"
    else:
        outcome.death, outcome.words = "signal", f"killed by {signal_name(number)}"


def _stage(running: _Running) -> str:
    try:
        with open(os.path.join(running.directory, "stages"), encoding="utf-8") as stream:
            lines = stream.read().split()
    except OSError:
        return "start"
    return lines[-1] if lines else "start"


def _read_tail(path: str, size: int = 4000) -> str:
    try:
        with open(path, "rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - size))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _resident_mb(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except (OSError, ValueError, IndexError):
        return 0
