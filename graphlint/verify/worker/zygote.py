"""The zygote: imports MindSpore once, then forks one child for each try.

Started by the pool as `python -m graphlint.verify.worker.zygote FD PARENT`; the control socket is FD.

    → {"op": "run", "id": 7, "dir": "/tmp/…/7"}        job.json stands in dir; the child writes there
    → {"op": "preload", "id": 8, "dir": …}              import the user's package, if a probe allows
    ← {"ready": true, "mindspore": "2.10.0", …}         once, after the import
    ← {"started": 7, "pid": 4242}
    ← {"ended": 7, "status": <wait status>, "rss_mb": …, "cpu": …}

Measured on 2.7.0 and 2.10.0: a fork is safe until the first operation, and hangs after it. The guard is the
number of threads (`/proc/self/task`), which stays at its baseline until then.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any, Dict, List

from graphlint.verify.worker import limits
from graphlint.verify.worker.wire import Wire


def thread_count() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


class Zygote:
    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.children: Dict[int, int] = {}
        self.baseline = 1

    def start(self) -> None:
        began = time.time()
        try:
            from graphlint.verify.worker import framework

            info = framework.describe()
            _import_what_children_need()
        except BaseException as error:
            self.wire.send({"ready": False, "error": f"{type(error).__name__}: {error}"})
            raise SystemExit(3) from error
        self.baseline = thread_count()
        self.wire.send(
            {"ready": True, "seconds": round(time.time() - began, 3), "threads": self.baseline, **info}
        )

    def serve(self) -> None:
        """Until the control socket closes."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        os.set_blocking(wake_read, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        while not self.wire.closed:
            watched: List[Any] = [self.wire, wake_read]
            ready, _, _ = select.select(watched, [], [], 5.0)
            if wake_read in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake_read, 4096)
            self.reap()
            if self.wire in ready:
                for message in self.wire.receive():
                    if message["op"] == "run":
                        self.fork(message)
                    elif message["op"] == "preload":
                        self.preload(message)

    def reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            ident = self.children.pop(pid, None)
            if ident is not None:
                self.wire.send(_ended(ident, status, usage))

    def fork(self, message: Dict[str, Any]) -> int:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _child(message, parent, self.wire)
        self.children[pid] = message["id"]
        self.wire.send({"started": message["id"], "pid": pid})
        return pid

    def preload(self, message: Dict[str, Any]) -> None:
        """Import here what a probe child could import without starting a thread; report what was kept out
        and why."""
        with open(os.path.join(message["dir"], "job.json"), encoding="utf-8") as stream:
            job = json.load(stream)
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _child({**message, "probe": self.baseline}, parent, self.wire)
        deadline = time.time() + float(job.get("timeout", 60))
        status = None
        while time.time() < deadline:
            done, code = os.waitpid(pid, os.WNOHANG)
            if done:
                status = code
                break
            time.sleep(0.01)
        if status is None:
            _kill_group(pid)
            os.waitpid(pid, 0)
        kept = False
        if status == 0:
            from graphlint.verify.worker import load

            try:
                load.preload(job)
                kept = thread_count() <= self.baseline
            except BaseException:
                kept = False
            if not kept:
                os._exit(114)
        self.wire.send({"preloaded": message["id"], "kept": kept})


def _import_what_children_need() -> None:
    """Once here instead of in each child."""
    import importlib
    import pickle
    import traceback

    for name in (
        "run",
        "load",
        "build",
        "values",
        "compare",
        "recipe",
        "inputs",
        "harvest",
        "guess",
        "recorded",
    ):
        importlib.import_module("graphlint.verify.worker." + name)
    assert pickle and traceback


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(pid, signal.SIGKILL)


def _ended(ident: int, status: int, usage: Any) -> Dict[str, Any]:
    return {
        "ended": ident,
        "status": status,
        "rss_mb": usage.ru_maxrss >> 10,
        "cpu": round(usage.ru_utime + usage.ru_stime, 4),
    }


def _child(message: Dict[str, Any], parent: int, wire: Wire) -> None:
    """Never returns: runs one job in its own session, its own directory, its own standard streams."""
    code = 120
    try:
        os.setsid()
        limits.die_with_parent(parent)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        wire.sock.close()
        os.chdir(message["dir"])
        _redirect()
        if "probe" in message:
            from graphlint.verify.worker import load

            with open("job.json", encoding="utf-8") as stream:
                job = json.load(stream)
            limits.apply(job.get("limits", {}))
            load.preload(job)
            code = 0 if thread_count() <= message["probe"] else 121
        else:
            from graphlint.verify.worker import run

            code = run.main()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:
            pass
        os._exit(code)


def _redirect() -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for name, number in (("out", 1), ("err", 2)):
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    os.close(null)


def main() -> None:
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    limits.die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    zygote = Zygote(Wire(socket.socket(fileno=descriptor)))
    zygote.start()
    zygote.serve()
    for pid in zygote.children:
        _kill_group(pid)


if __name__ == "__main__":
    main()
