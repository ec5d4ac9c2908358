"""A long-lived worker for devices that don't survive a fork: one process, one device, one try after another.

On Ascend MindSpore's after-fork handler puts the child's device back to CPU (read in the sources), so
nothing is forked there. The messages are the zygote's; in addition `"retire": true` where the worker ends
itself, which it does after every try that raised (a failed compile leaves traces) so that the next one
starts clean. Never run on Ascend hardware; the tests run it on a CPU.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
import time
from typing import Any, Dict

from graphlint.verify.worker import limits
from graphlint.verify.worker.wire import Wire


def main() -> None:
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    limits.die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wire = Wire(socket.socket(fileno=descriptor))
    began = time.time()
    try:
        from graphlint.verify.worker import framework

        info = framework.describe()
    except BaseException as error:
        wire.send({"ready": False, "error": f"{type(error).__name__}: {error}"})
        raise SystemExit(3) from error
    wire.send({"ready": True, "seconds": round(time.time() - began, 3), "threads": 0, **info})
    modules = set(sys.modules)
    while not wire.closed:
        for message in wire.receive():
            if message["op"] == "preload":
                wire.send({"preloaded": message["id"], "kept": False})
            elif message["op"] == "run" and not _run(message, wire, modules):
                return


def _run(message: Dict[str, Any], wire: Wire, modules: set) -> bool:
    """False where the worker should not be used again."""
    wire.send({"started": message["id"], "pid": os.getpid()})
    before = resource.getrusage(resource.RUSAGE_SELF)
    os.chdir(message["dir"])
    for name, number in (("out", 1), ("err", 2)):
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    from graphlint.verify.worker import framework, run

    with open("job.json", encoding="utf-8") as stream:
        job = json.load(stream)
    framework.COUNTS.compilations = framework.COUNTS.compiling = 0
    framework.COUNTS.seconds = 0.0
    sys.stdout = os.fdopen(1, "w", buffering=1, errors="replace", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="replace", closefd=False)
    result = run.execute(job)
    run.flush()
    with open("result.json.part", "w", encoding="utf-8") as stream:
        json.dump(result, stream, default=str)
    os.replace("result.json.part", "result.json")
    for name in set(sys.modules) - modules:
        if name.partition(".")[0] not in ("mindspore", "numpy", "graphlint", "scipy"):
            del sys.modules[name]
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    usage = {"rss_mb": after.ru_maxrss >> 10, "cpu": round(used, 4)}
    wire.send({"ended": message["id"], "status": 0, **usage, "retire": "error" in result})
    return "error" not in result


if __name__ == "__main__":
    main()
