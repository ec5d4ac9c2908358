"""Makes the thing to verify from a job's entry: a Cell instance or a function, and the arguments of each
call."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Tuple

from graphlint.verify.worker import framework, load, values


class Named(tuple):
    """The arguments of one call that are all given by name."""

    def __new__(cls, keywords: Dict[str, Any]) -> "Named":
        made = super().__new__(cls, tuple(keywords.values()))
        made.keywords = dict(keywords)  # type: ignore[attr-defined]
        return made


class Target:
    """A Cell instance (`cell`) or a function, the list of argument tuples to call it with, and what else to
    watch."""

    def __init__(self) -> None:
        self.cell: Any = None
        self.function: Any = None
        self.is_method = False
        self.argument_lists: List[Tuple[Any, ...]] = []
        self.keywords: Dict[str, Any] = {}
        self.wrap: Any = None
        self.watch: Callable[[], Dict[str, Any]] = dict
        self.facts: Dict[str, Any] = {}

    @property
    def is_function(self) -> bool:
        return self.cell is None

    def callable(self) -> Callable[..., Any]:
        call = self.function if self.cell is None else self.cell
        made: Callable[..., Any] = self.wrap(call, self.cell) if self.wrap is not None else call
        return made

    def calls(self) -> List[Tuple[Any, ...]]:
        return self.argument_lists

    def watched(self) -> Dict[str, Any]:
        return self.watch()


def build(job: Dict[str, Any], module: Any, log: Any) -> Any:
    """A Target, by job["entry"]["kind"]: `case` (names in the module itself), `spec` (a written or guessed
    recipe), `harvest`."""
    kind = job["entry"]["kind"]
    if kind == "case":
        return from_case(job, module, log)
    if kind == "spec":
        from graphlint.verify.worker import recipe

        return recipe.build(job, module, log)
    if kind == "harvest":
        from graphlint.verify.worker import harvest

        return harvest.build(job, module, log)
    raise ValueError(f"unknown entry kind {kind!r}")


def backward(target: Target) -> Callable[..., Any]:
    """What returns the value and the gradients: over the trainable Parameters, or the first argument where
    there are none."""
    subject = target.function if target.cell is None else target.cell
    weights = list(target.cell.trainable_params()) if target.cell is not None else []
    if weights:
        made = framework.ms.value_and_grad(subject, None, framework.ms.ParameterTuple(weights))
    else:
        made = framework.ms.value_and_grad(subject, 0)
    call: Callable[..., Any] = target.wrap(made, target.cell) if target.wrap is not None else made
    return call


def facts_of(cell: Any) -> Dict[str, Any]:
    """What the built layers themselves say: {"bias": {"conv1": False, …}} for the Cell's own attributes
    and, where the name is unique, for those further down."""
    bias: Dict[str, Any] = {}
    clashes = set()
    for path, layer in framework.sub_cells(cell):
        has = getattr(layer, "has_bias", None)
        if not path or not isinstance(has, bool):
            continue
        for name in {path, path.rpartition(".")[2]}:
            if name in bias and bias[name] != has:
                clashes.add(name)
            bias.setdefault(name, has)
    return {"bias": {name: value for name, value in bias.items() if name not in clashes}}


def from_case(job: Dict[str, Any], module: Any, log: Any) -> Target:
    """graphlint's own case format: INPUTS (list or function), INPUTS2, CALLS, KWARGS, WATCH, OBSERVE, WRAP
    in the module."""
    target = Target()
    member = load.resolve(module, job["target"])
    if inspect.isclass(member):
        target.cell = member()
        if job.get("train") is not None:
            target.cell.set_train(bool(job["train"]))
    else:
        target.function = member
    log.enter("inputs")
    target.argument_lists = case_calls(module, int(job.get("calls", 2)))
    keywords = getattr(module, "KWARGS", {})
    target.keywords = keywords() if callable(keywords) else dict(keywords)
    target.wrap = getattr(module, "WRAP", None)
    names = list(getattr(module, "WATCH", []))
    look = getattr(module, "OBSERVE", None)

    def watch() -> Dict[str, Any]:
        scope = dict(vars(module), NET=target.cell)
        found = {}
        for name in names:
            try:
                found[name] = values.encode(eval(name, scope))
            except (AttributeError, NameError, KeyError, IndexError) as error:
                found[name] = ("opaque", type(error).__name__)
        if look is not None:
            found["OBSERVE"] = values.encode(look(target.cell))
        return found

    target.watch = watch
    return target


def case_calls(module: Any, count: int) -> List[Tuple[Any, ...]]:
    """The arguments of each call. CALLS: a number of calls, or a function that gives every call's
    arguments."""
    calls = getattr(module, "CALLS", None)
    if callable(calls):
        return [tuple(arguments) for arguments in calls()]
    number = calls if isinstance(calls, int) else count
    sets = []
    for name in ("INPUTS", "INPUTS2"):
        inputs = getattr(module, name, None)
        if inputs is not None:
            sets.append(inputs)
    if not sets:
        return [()] * number
    if isinstance(calls, int) and number == 1:
        sets = sets[:1]
    made: List[Tuple[Any, ...]] = []
    for index in range(max(number, len(sets))):
        inputs = sets[index % len(sets)] if index < len(sets) else sets[-1]
        arguments = inputs() if callable(inputs) else inputs
        if isinstance(arguments, dict):
            made.append(Named(arguments))
            continue
        made.append(tuple(arguments) if isinstance(arguments, (list, tuple)) else (arguments,))
    return made


def export(target: Target, calls: List[Tuple[Any, ...]], path: str) -> Dict[str, Any]:
    """Write the Cell as MindIR to `path`; {"ok": bool, "error": …}."""
    try:
        framework.ms.export(target.cell, *values.fresh(tuple(calls[0])), file_name=path, file_format="MINDIR")
        return {"ok": True}
    except Exception as error:
        return {
            "ok": False,
            "error": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}",
        }
