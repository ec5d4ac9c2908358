"""Job kind `guess`: build a Cell without an entry and find inputs that PyNative accepts; a bounded search
in one child.

Fills result["recipe"]: what graphlint/verify/entries.py would make of a written entry, or a docstring
producer. Order: the class's own docstring examples; then constructor arguments (literal calls found in the
project, defaults, annotations, names) times inputs (the layer that a parameter feeds, parameter names,
annotations, a pool of shapes), each repaired from PyNative's own error texts.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from graphlint.verify.worker import (
    framework,
    guess_arguments,
    guess_inputs,
    inputs,
    load,
    recipe,
    repair,
    values,
)

Spec = Dict[str, Any]


def run(job: Dict[str, Any], log: Any, result: Dict[str, Any]) -> None:
    """result["recipe"] and result["rung"], or an exception that says how far it came: import, build or
    inputs."""
    log.enter("device")
    if job.get("device"):
        framework.use_device(job["device"], int(job.get("device_id", 0)))
    framework.use_mode("pynative", job.get("level", "lax"))
    log.enter("import")
    module = load.load(job)
    member = load.resolve(module, job["target"])
    documented = inspect.isclass(member) and ">>>" in (inspect.getdoc(member) or "")
    if documented and _docstring(job, member, module, log, result):
        return
    log.enter("build")
    deadline = time.perf_counter() + float(job.get("seconds", 10))
    last: Optional[BaseException] = None
    built = False
    scope = vars(module)
    attempts = 0
    waiting = _constructions(member, job, scope)
    more: List[Dict[str, Any]] = []
    while True:
        arguments = more.pop() if more else next(waiting, None)
        if arguments is None:
            break
        if time.perf_counter() > deadline:
            break
        framework.set_seed(1)
        try:
            subject = recipe.make_subject(member, arguments, scope)
        except Exception as error:
            last = error if not built else last
            fuller = guess_arguments.completed(arguments, error)
            if fuller is not None:
                more.append(fuller)
            continue
        if inspect.isclass(member) and not framework.is_cell(subject):
            raise TypeError(f"{job['target']} is not a Cell")
        built = True
        log.enter("inputs")
        found, trouble, used = search(subject, deadline, scope)
        attempts += used
        if found is not None:
            result["recipe"] = {**arguments, "kind": "spec", "inputs": found, "calls": 2}
            result["rung"] = "guess"
            result["attempts"] = attempts
            return
        last = trouble or last
        log.enter("build")
    if built:
        log.enter("inputs")
    raise last if last is not None else RuntimeError("nothing left to try")


_LARGEST = 4_000_000
"""Elements of a docstring's arguments above which a guess is cheaper: some convolve a gigabyte."""


def _elements(value: Any) -> int:
    if framework.is_tensor(value):
        size = 1
        for length in value.shape:
            size *= int(length)
        return size
    if isinstance(value, dict):
        value = list(value.values())
    return sum(_elements(item) for item in value) if isinstance(value, (list, tuple)) else 0


def _docstring(job: Dict[str, Any], member: Any, module: Any, log: Any, result: Dict[str, Any]) -> bool:
    from graphlint.verify.worker import harvest

    wanted = harvest.where(member)
    producer = {"module": job["module"], "file": job["file"], "target": job["target"], "doctest": True}
    kept: List[Any] = []

    def seen(cell: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        if harvest.where(type(cell)) == wanted and not kept:
            kept.append((cell, args, kwargs))
            raise harvest.Captured

    log.enter("build")
    with harvest.watching(seen), contextlib.suppress(harvest.Captured):
        harvest.produce(producer, log)
    if not kept:
        return False
    cell, args, kwargs = kept[0]
    if _elements([args, kwargs]) > _LARGEST:
        return False
    try:
        framework.set_seed(1)
        values.settled(cell(*values.fresh(tuple(args)), **values.fresh(dict(kwargs))))
    except Exception:
        return False
    result["recipe"] = {"kind": "harvest", "producer": producer, "class": list(wanted)}
    result["rung"] = "docstring"
    return True


def _constructions(member: Any, job: Dict[str, Any], scope: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """{"args": [...], "kwargs": {...}} in the order in which to try them."""
    if not inspect.isclass(member):
        yield {"args": [], "kwargs": {}}
        return
    seen: List[Any] = []
    for call in itertools.chain(job.get("call_sites", []), guess_arguments.candidates(member, scope)):
        if call not in seen:
            seen.append(call)
            yield call


def search(
    subject: Any, deadline: float, scope: Dict[str, Any], most: int = 80
) -> Tuple[Optional[List[Spec]], Any, int]:
    """Inputs that PyNative takes: (specs or None, the last error, tries made)."""
    last: Any = None
    tried: List[Any] = []
    waiting = list(itertools.islice(guess_inputs.candidates(subject), 60))
    made = 0
    while waiting and made < most and time.perf_counter() < deadline:
        specs = waiting.pop(0)
        if specs in tried:
            continue
        tried.append(specs)
        made += 1
        framework.set_seed(1)
        try:
            arguments = inputs.make_all(specs, scope)
            returned = subject(*arguments)
            values.settled(returned)
            return specs, None, made
        except Exception as error:
            last = error
            repaired = [other for other in repair.repair(specs, error, subject) if other not in tried]
            waiting[:0] = repaired[:4]
    return None, last, made
