"""The oracle: PyNative against the graph for one target with one set of inputs, each in its own child.

`judge` is a generator: it yields a Try, is sent its Outcome, and returns a Judgement. The scheduler drives
many at once.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Generator, List, Optional, Tuple

from graphlint.verify.tries import Outcome, Try, in_stage

_NO_SOURCE = "can not compile temporary source code"

Steps = Generator[Try, Outcome, "Judgement"]


@dataclass
class Judgement:
    """What the compiler did with one target.

    `outcome` is one of
    `ok`, `error` (the graph refuses), `diverges`, `printed-differs`, `fallback`, `recompiles`: definite; and
    `pynative-fails` (also not runnable in PyNative, so nothing can be said), `broken` (crash, hang or
    memory in the graph alone: definite, `words` says which), `not-tried` (no child could run it: `words`
    says why).
    """

    outcome: str
    words: str = ""
    pynative: str = ""
    graph: str = ""
    stage: str = ""
    error: Optional[Dict[str, Any]] = None
    differences: List[Dict[str, str]] = field(default_factory=list)
    fallback: List[Dict[str, Any]] = field(default_factory=list)
    compilations: int = 0
    signatures: int = 0
    calls: int = 0
    reached: Dict[str, List[int]] = field(default_factory=dict)
    facts: Dict[str, Any] = field(default_factory=dict)
    device: str = ""
    mindspore: str = ""
    seconds: float = 0.0
    cpu: float = 0.0
    compile_seconds: float = 0.0
    export: Optional[Dict[str, Any]] = None
    rung: str = ""
    pynative_error: Optional[Dict[str, Any]] = None

    @property
    def definite(self) -> bool:
        return self.outcome not in ("pynative-fails", "not-tried")


def judge(job: Dict[str, Any], scratch: str, timeout: float, export: Optional[str] = None) -> Steps:
    """Run `job` (worker/run.py, without its mode) in PyNative and as a graph. `scratch` names this
    judgement's own files."""
    reference = scratch + ".pickle"
    total = Judgement("not-tried")
    first = yield Try({**job, "mode": "pynative", "snapshot": reference}, timeout)
    _count(total, first)
    total.reached = first.result.get("reached", {})
    total.facts = first.result.get("facts", {})
    if not first.clean:
        _remove(reference)
        return _pynative_failed(total, first)
    total.pynative = "ok"
    graph = yield Try(
        {**job, "mode": "graph", "reference": reference, "trace": None, "export": export}, timeout
    )
    _count(total, graph)
    if not graph.clean:
        _remove(reference)
        return _graph_failed(total, graph)
    total.graph = "ok"
    total.compilations = graph.result["compilations"]
    total.signatures = graph.result.get("signatures", 0)
    total.calls = graph.result.get("calls", 0)
    total.compile_seconds = graph.result["compile_seconds"]
    total.fallback = graph.result.get("fallback", [])
    total.export = graph.result.get("export")
    differences = graph.result.get("differences", [])
    frozen = False
    if differences:
        again = yield Try(
            {**job, "mode": "pynative", "reference": reference, "seed": 2, "trace": None}, timeout
        )
        _count(total, again)
        differences, frozen = _without_noise(differences, again.result, first.result, graph.result)
    _remove(reference)
    total.differences = differences
    _name(total, frozen)
    return total


def front_end(job: Dict[str, Any], timeout: float) -> Steps:
    """The front end alone, for operators that have no kernel on this device: it parses and infers, and
    calls give None (MS_DEV_PRECOMPILE_ONLY, measured on 2.7.0 and 2.10.0). `error` or `not-tried`."""
    total = Judgement("not-tried", "the front end accepts it; no kernel here to run it")
    graph = yield Try({**job, "mode": "graph", "trace": None, "front_end_only": True}, timeout)
    _count(total, graph)
    if graph.error is not None and not graph.death and graph.error["stage"] == "compile":
        total.error, total.stage, total.outcome = graph.error, "compile", "error"
        total.words = total.graph = graph.why()
    return total


def _count(total: Judgement, outcome: Outcome) -> None:
    total.seconds += outcome.seconds
    total.cpu += outcome.cpu
    total.device = outcome.result.get("device", total.device)
    total.mindspore = outcome.result.get("mindspore", total.mindspore)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)


def _pynative_failed(total: Judgement, outcome: Outcome) -> Judgement:
    total.outcome = "pynative-fails"
    total.words = total.pynative = outcome.why()
    total.stage = outcome.error["stage"] if outcome.error else outcome.stage
    total.pynative_error = outcome.error
    if outcome.death in ("worker", "device"):
        total.outcome = "not-tried"
    return total


def _graph_failed(total: Judgement, outcome: Outcome) -> Judgement:
    total.error = outcome.error
    total.stage = outcome.error["stage"] if outcome.error else outcome.stage
    total.graph = total.words = outcome.why()
    if outcome.death in ("worker", "start", "device"):
        total.outcome = "not-tried"
    elif outcome.death:
        total.outcome = "broken"
    elif total.error is not None and total.error["message"].lstrip().startswith("For set_inputs"):
        total.outcome, total.words = "not-tried", f"inputs: they don't fit its set_inputs ({total.words})"
    elif total.error is not None and _NO_SOURCE in total.error["message"]:
        total.outcome, total.words = "not-tried", f"made from code without a file ({total.words})"
    elif total.stage in ("compile", "execute"):
        total.outcome = "error"
        total.fallback = outcome.result.get("fallback", [])
    else:
        total.outcome = "not-tried"
        total.words = f"{total.words} {in_stage(total.stage)}"
    return total


def _without_noise(
    differences: List[Dict[str, str]], again: Dict[str, Any], first: Dict[str, Any], graph: Dict[str, Any]
) -> Tuple[List[Dict[str, str]], bool]:
    """Drop what differs between two PyNative runs too (random, clock). What PyNative gives anew on each
    call and the graph repeats is frozen at compile time: that stays."""
    noise = {difference["where"] for difference in again.get("differences", [])}
    if not noise:
        return differences, False
    frozen = bool(graph.get("repeats")) and not first.get("repeats", True)
    if frozen:
        return differences, True
    return [difference for difference in differences if difference["where"] not in noise], False


def _name(total: Judgement, frozen: bool) -> None:
    printed = [d for d in total.differences if d["where"] == "printed" and d["kind"] != "lost"]
    others = [d for d in total.differences if d["where"] != "printed" or d["kind"] == "lost"]
    if others:
        total.outcome = "diverges"
        worst = others[0]
        total.words = f"{worst['where']}: PyNative {worst['pynative']}, graph {worst['graph']}"
        if frozen:
            total.words = "frozen at compile time: " + total.words
    elif printed:
        total.outcome = "printed-differs"
        total.words = f"printed text: PyNative {printed[0]['pynative']}, graph {printed[0]['graph']}"
    elif any("line" in node or "file" not in node for node in total.fallback):
        total.outcome = "fallback"
        total.words = f"{len(total.fallback)} Python interpreter nodes"
    elif total.calls > total.signatures and total.compilations >= total.calls > 1:
        total.outcome = "recompiles"
        total.words = f"{total.compilations} compilations for {total.signatures} kinds of arguments"
    else:
        total.outcome = "ok"
        total.words = "same results, arguments, attributes, globals and printed text"
    if total.outcome in ("diverges", "printed-differs"):
        total.graph = total.words
