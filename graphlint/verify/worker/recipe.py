"""Builds a Cell or function from a written or guessed recipe.

The job's entry: {"kind": "spec", "args": [spec…], "kwargs": {…}, "inputs": [spec…], "keywords": {…},
"made_by": "name" | None, "calls": 2, "train": None | bool}. `made_by` names a function in the module that
returns (Cell, inputs…), the form of graphlint_cells.py; otherwise the target itself is called with args and
kwargs (a class or a factory), or is the function to compile.
"""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Tuple

from graphlint.verify.worker import framework, inputs, load


def build(job: Dict[str, Any], module: Any, log: Any) -> Any:
    """A build.Target. Raises whatever the user's constructor or factory raises."""
    from graphlint.verify.worker.build import Target

    entry = job["entry"]
    target = Target()
    scope = vars(module)
    if entry.get("made_by"):
        made = load.resolve(module, entry["made_by"])()
        parts = made if isinstance(made, tuple) else (made,)
        subject, given = parts[0], list(parts[1:])
    else:
        subject = make_subject(load.resolve(module, job["target"]), entry, scope)
        given = None
    if framework.is_cell(subject):
        target.cell = subject
        if entry.get("train") is not None:
            target.cell.set_train(bool(entry["train"]))
    elif callable(subject):
        target.function = subject
    else:
        raise TypeError(f"{job['target']} gave a {type(subject).__name__}, not a Cell or a function")
    log.enter("inputs")
    target.argument_lists = argument_lists(entry, scope, given)
    target.keywords = {key: inputs.make(spec, scope) for key, spec in entry.get("keywords", {}).items()}
    return target


def make_subject(member: Any, entry: Dict[str, Any], scope: Dict[str, Any]) -> Any:
    """The instance that a class or factory makes; a function that is itself to be compiled stays."""
    args = [inputs.make(spec, scope) for spec in entry.get("args", [])]
    kwargs = {key: inputs.make(spec, scope) for key, spec in entry.get("kwargs", {}).items()}
    if inspect.isclass(member) or entry.get("factory"):
        return member(*args, **kwargs)
    return member


def argument_lists(entry: Dict[str, Any], scope: Dict[str, Any], given: Any) -> List[Tuple[Any, ...]]:
    """One tuple a call; the second call gets other numbers of the same shapes."""
    lists = []
    for index in range(int(entry.get("calls", 2))):
        if given is not None:
            lists.append(tuple(_notation(item, scope, index) for item in given))
        else:
            lists.append(tuple(inputs.make_all(entry.get("inputs", []), scope, salt=1000 * index)))
    return lists


def _notation(value: Any, scope: Dict[str, Any], salt: int) -> Any:
    """A text in graphlint's notation becomes what it says; everything else is used as it is."""
    if not isinstance(value, str):
        return value
    from graphlint.verify.spec import SpecError, parse

    try:
        return inputs.make(parse(value), scope, 1000 * salt)
    except SpecError:
        return value
