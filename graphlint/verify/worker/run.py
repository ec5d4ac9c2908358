"""One try in one child: build the target, call it in one mode, write down what it left behind.

Reads `job.json` in the working directory, appends a line to `stages` before each risky step (so that a
crash or a hang can be told from where it happened), writes `result.json`, and `snapshot.pickle` where
asked. Exit code 0: result.json is complete.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pickle
import re
import sys
import time
import traceback
from typing import Any, Callable, Dict, List, Optional

from graphlint.verify.worker import limits, load


class StageError(Exception):
    """A step failed: `stage` says which; the cause is chained."""

    def __init__(self, stage: str) -> None:
        super().__init__(stage)
        self.stage = stage


class Log:
    """The stage a child is in, kept in a file that outlives it."""

    def __init__(self, path: str = "stages") -> None:
        self.handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.stage = "start"
        self.began = time.perf_counter()
        self.seconds: Dict[str, float] = {}

    def enter(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[self.stage] = round(self.seconds.get(self.stage, 0.0) + now - self.began, 4)
        self.stage, self.began = stage, now
        os.write(self.handle, stage.encode() + b"\n")


def flush() -> None:
    """Python's and C's standard streams: the graph prints from C++."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    ctypes.CDLL(None).fflush(None)


def size_of(name: str) -> int:
    try:
        return os.stat(name).st_size
    except OSError:
        return 0


def read_from(name: str, start: int, most: int = 1 << 20) -> str:
    try:
        with open(name, "rb") as stream:
            stream.seek(start)
            return stream.read(most).decode("utf-8", "replace")
    except OSError:
        return ""


def describe_error(error: BaseException, stage: str) -> Dict[str, Any]:
    """Type, whole message and the Python frames (file, line, function) of an exception."""
    frames = []
    for frame in traceback.extract_tb(error.__traceback__)[-60:]:
        frames.append([frame.filename, frame.lineno or 0, frame.name])
    try:
        message = str(error)
    except BaseException:
        message = ""
    return {"stage": stage, "type": type(error).__name__, "message": message[:20000], "frames": frames}


def main() -> int:
    """Run job.json; returns the process's exit code."""
    with open("job.json", encoding="utf-8") as stream:
        job = json.load(stream)
    limits.apply(job.get("limits", {}))
    sys.stdout = os.fdopen(1, "w", buffering=1, errors="replace", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="replace", closefd=False)
    result = execute(job)
    flush()
    temporary = "result.json.part"
    with open(temporary, "w", encoding="utf-8") as stream:
        json.dump(result, stream, default=str)
    os.replace(temporary, "result.json")
    return 0


def execute(job: Dict[str, Any]) -> Dict[str, Any]:
    """What main() writes; usable in a long-lived worker too. Never raises for the user's errors."""
    log = Log()
    result: Dict[str, Any] = {"mode": job["mode"]}
    try:
        kind = job.get("kind", "try")
        if kind == "try":
            attempt(job, log, result)
        elif kind == "guess":
            from graphlint.verify.worker import guess

            guess.run(job, log, result)
        elif kind == "harvest":
            from graphlint.verify.worker import harvest

            harvest.run(job, log, result)
        else:
            raise ValueError(f"unknown job kind {kind!r}")
    except BaseException as error:
        stage = log.stage
        from graphlint.verify.worker import framework

        if stage == "execute" and framework.COUNTS.compiling:
            stage = "compile"
        result["error"] = describe_error(error, stage)
    log.enter("end")
    result["seconds"] = log.seconds
    finish(job, result)
    return result


def finish(job: Dict[str, Any], result: Dict[str, Any]) -> None:
    from graphlint.verify.worker import framework

    result["compilations"] = framework.COUNTS.compilations
    result["compile_seconds"] = round(framework.COUNTS.seconds, 4)
    result["mindspore"] = framework.VERSION
    result["device"] = framework.current_device()
    result["device_id"] = job.get("device_id", 0)


def attempt(job: Dict[str, Any], log: Log, result: Dict[str, Any]) -> None:
    """One mode, all calls. Fills `result`; exceptions pass through with log.stage telling where."""
    from graphlint.verify.worker import build, framework, values

    log.enter("device")
    if job.get("device"):
        framework.use_device(job["device"], int(job.get("device_id", 0)))
    if job.get("front_end_only"):
        os.environ["MS_DEV_PRECOMPILE_ONLY"] = "1"
    framework.use_mode(job["mode"], job.get("level", "lax"))
    framework.count_compilations()
    log.enter("import")
    module = load.load(job)
    log.enter("build")
    framework.set_seed(1)
    watch = job["mode"] == "pynative" and job.get("trace")
    layers: Any = framework.layers_made() if watch else contextlib.nullcontext({})
    with layers as made:
        target = build.build(job, module, log)
    result["facts"] = build.facts_of(target.cell) if target.cell is not None else {}
    result["facts"]["made"] = dict(made)
    if job["mode"] == "graph" and target.is_function and not target.is_method:
        target.function = framework.as_jit(target.function, job.get("level", "lax"))
    if target.cell is not None:
        values.remember(target.cell)
    call = build.backward(target) if job.get("grad") else target.callable()
    log.enter("inputs")
    calls = target.calls()
    result["calls"] = len(calls)
    result["signatures"] = len({values.signature(list(arguments)) for arguments in calls})
    framework.set_seed(int(job.get("seed", 1)))
    before = parameters_of(target)
    flush()
    out, err = size_of("out"), size_of("err")
    log.enter("execute")
    tracer = Tracer(job) if job.get("trace") else None
    results = run_calls(call, calls, target, tracer, job)
    flush()
    log.enter("observe")
    result["printed"] = read_from("out", out, 1 << 16)
    result["fallback"] = parse_fallback(read_from("err", err, 1 << 22))
    result["repeats"] = repeats(results)
    if tracer is not None:
        result["reached"] = tracer.lines()
    snapshot = observe(job, target, module, results, before, result["printed"])
    if job.get("snapshot"):
        with open(job["snapshot"], "wb") as stream:
            pickle.dump(snapshot, stream, protocol=4)
    if job.get("reference"):
        from graphlint.verify.worker import compare

        with open(job["reference"], "rb") as stream:
            reference = pickle.load(stream)
        result["differences"] = compare.compare(reference, snapshot)
    if job.get("export"):
        log.enter("export")
        result["export"] = build.export(target, calls, job["export"])


def run_calls(
    call: Callable[..., Any], calls: List[Any], target: Any, tracer: Optional["Tracer"], job: Dict[str, Any]
) -> List[Dict[str, Any]]:
    from graphlint.verify.worker import framework, values

    results = []
    for arguments in calls:
        keywords = values.fresh({**target.keywords, **getattr(arguments, "keywords", {})})
        arguments = () if hasattr(arguments, "keywords") else values.fresh(tuple(arguments))
        if tracer is not None:
            tracer.start()
        try:
            returned = call(*arguments, **keywords)
        finally:
            if tracer is not None:
                tracer.stop()
        flush()
        encoded = values.settled(returned)
        results.append({"result": encoded, "arguments": values.encode([*arguments, *keywords.values()])})
        if job["mode"] == "graph" and framework.COUNTS.compiling:
            framework.COUNTS.compiling = 0
    return results


def repeats(results: List[Dict[str, Any]]) -> bool:
    """True where every call gave what the first one gave."""
    from graphlint.verify.worker import compare

    return all(not compare.compare(results[0]["result"], other["result"]) for other in results[1:])


def parameters_of(target: Any) -> Dict[str, Any]:
    from graphlint.verify.worker import values

    return values.parameters(target.cell) if target.cell is not None else {}


def observe(
    job: Dict[str, Any], target: Any, module: Any, results: List[Any], before: Dict[str, Any], printed: str
) -> Dict[str, Any]:
    """The snapshot: calls, attributes, changed Parameters, module globals, what WATCH and OBSERVE name,
    printed text."""
    from graphlint.verify.worker import compare, values

    snapshot: Dict[str, Any] = {"calls": results, "printed": ("str", printed)}
    if target.cell is not None:
        snapshot["attributes"] = values.attributes(target.cell)
        after = values.parameters(target.cell)
        snapshot["parameters"] = {
            name: value
            for name, value in after.items()
            if name not in before or compare.compare(before[name], value)
        }
    snapshot["watched"] = target.watched()
    modules = [module]
    for other in list(sys.modules.values()):
        file = getattr(other, "__file__", None) or ""
        ours = bool(job.get("root")) and file.startswith(job["root"] + os.sep) and "site-packages" not in file
        if ours and other is not module and not getattr(other, "__name__", "").startswith("graphlint."):
            modules.append(other)
    snapshot["globals"] = values.module_globals(modules)
    return snapshot


_BLOCK = re.compile(r"After Optimizer Phase \(total: (\d+)\)\n-+\n(.*?)\n-{20,}", re.S)
_ENTRY = re.compile(r"# No\. \d+:\n(?:Script: (.*)\n)?\s*(?:In file (.+?):(\d+)(?:~(\d+))?, (\d+)~(\d+))?")


def parse_fallback(text: str) -> List[Dict[str, Any]]:
    """The PyExecute nodes that MS_DEV_FALLBACK_DUMP_NODE=1 printed: script, and file, line, columns where
    it has them.

    Only the optimizer phase counts; the parser phase lists constants that fold away. Measured on 2.6.0.dev,
    2.7.0 and 2.10.0; 2.0.0 prints nothing.
    """
    nodes = []
    for block in _BLOCK.finditer(text):
        for script, file, line, end, start, stop in _ENTRY.findall(block.group(2)):
            node: Dict[str, Any] = {"script": script[:200]}
            if file:
                node.update(
                    file=file,
                    line=int(line),
                    end_line=int(end or line),
                    column=int(start),
                    end_column=int(stop),
                )
            nodes.append(node)
    return nodes


class Tracer:
    """The lines of the user's files that PyNative really executed."""

    def __init__(self, job: Dict[str, Any]) -> None:
        self.files = set(job["trace"])
        self.seen: Dict[str, set] = {}

    def start(self) -> None:
        sys.settrace(self._global)

    def stop(self) -> None:
        sys.settrace(None)

    def _global(self, frame: Any, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in self.files:
            return None
        lines = self.seen.setdefault(name, set())
        lines.add(frame.f_lineno)

        def local(inner: Any, what: str, value: Any) -> Any:
            lines.add(inner.f_lineno)
            return local

        return local

    def lines(self) -> Dict[str, List[int]]:
        return {name: sorted(lines) for name, lines in self.seen.items()}
