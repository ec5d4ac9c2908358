"""Lists what a module defines: Cells with their constructors' and constructs' parameters, functions."""

from __future__ import annotations

import inspect
from typing import Any, Dict, List

from graphlint.verify.worker import framework, load


def run(job: Dict[str, Any], log: Any, result: Dict[str, Any]) -> None:
    """Fills result["cells"]: name, line, parameters of __init__ and construct, the first lines of the docstring."""
    log.enter("import")
    module = load.load(job)
    log.enter("inspect")
    wanted = set(job.get("targets") or [])
    cells = []
    for name, value in list(vars(module).items()):
        if (
            inspect.isclass(value)
            and issubclass(value, framework.nn.Cell)
            and value.__module__ == module.__name__
        ):
            if not wanted or name in wanted:
                cells.append(describe(name, value))
    result["cells"] = cells


def describe(name: str, cls: type) -> Dict[str, Any]:
    construct = getattr(cls, "construct", None)
    try:
        line = inspect.getsourcelines(cls)[1]
    except (OSError, TypeError):
        line = 0
    return {
        "name": name,
        "line": line,
        "init": parameters(cls.__init__),
        "construct": parameters(construct),
        "own_construct": "construct" in vars(cls),
        "doc": (inspect.getdoc(cls) or "")[:4000],
    }


def parameters(function: Any) -> List[Dict[str, Any]]:
    """Name, kind, default (its repr), annotation of each parameter but self."""
    try:
        found = list(inspect.signature(inspect.unwrap(function)).parameters.values())
    except (TypeError, ValueError):
        return []
    described = []
    for parameter in found[1:] if found and found[0].name in ("self", "cls") else found:
        described.append(
            {
                "name": parameter.name,
                "kind": parameter.kind.name,
                "default": None
                if parameter.default is inspect.Parameter.empty
                else repr(parameter.default)[:200],
                "annotation": ""
                if parameter.annotation is inspect.Parameter.empty
                else str(parameter.annotation)[:200],
            }
        )
    return described
