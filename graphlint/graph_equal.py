"""One Cell in one mode: what it returns and leaves behind, as plain data. Imports MindSpore."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from graphlint.verify.worker import framework, values


class State(NamedTuple):
    """The data of a Cell's Parameters, and the plain attributes of it and of its sub-Cells."""

    parameters: Dict[str, Any]
    attributes: List[Tuple[Any, Dict[str, Any]]]


def state_of(net: Any) -> State:
    """A copy of the state; empty for a function."""
    if not framework.is_cell(net):
        return State({}, [])
    parameters = {name: parameter.asnumpy().copy() for name, parameter in net.parameters_and_names()}
    return State(parameters, [(cell, dict(_plain(cell))) for _, cell in net.cells_and_names()])


def _plain(cell: Any) -> Iterator[Tuple[str, Any]]:
    """The user's own attributes that hold data; those of MindSpore's classes aren't touched."""
    if framework.is_framework(type(cell)):
        return
    known = framework.plain_attributes()
    for name, value in list(cell.__dict__.items()):
        plain = isinstance(value, (int, float, str, list, dict, tuple, type(None)))
        if plain and name not in known and not name.startswith("__"):
            yield name, values.fresh(value)


def put_back(net: Any, kept: State) -> None:
    """Sets Parameters and attributes to what `state_of` gave."""
    for cell, attributes in kept.attributes:
        cell.__dict__.update({name: values.fresh(value) for name, value in attributes.items()})
    for name, parameter in net.parameters_and_names() if kept.parameters else ():
        if name in kept.parameters:
            parameter.set_data(framework.ms.Tensor(kept.parameters[name], dtype=parameter.dtype))


def observe(
    net: Any, inputs: Sequence[Any], calls: int, mode: str, level: str, kept: State
) -> Dict[str, Any]:
    """Calls `net` several times in one mode, each with fresh copies of `inputs`; its state is put back after.

    Gives results, arguments, Parameters and attributes by name; raises what the call raises.
    """
    framework.use_mode(mode, level)
    framework.set_seed(1)
    found: Dict[str, Any] = {}
    called = net if framework.is_cell(net) or mode == "pynative" else framework.as_jit(net, level)
    try:
        for number in range(1, calls + 1):
            arguments = [values.fresh(value) for value in inputs]
            found[f"result of call {number}"] = values.encode(called(*arguments))
            found[f"arguments of call {number}"] = values.encode(arguments)
            if framework.is_cell(net):
                found[f"Parameters after call {number}"] = values.parameters(net)
        if framework.is_cell(net):
            found["attributes"] = values.attributes(net)
    finally:
        put_back(net, kept)
    return found
