"""Values that a PyNative run writes down and a rewritten copy of the same file reads back as constants."""

from __future__ import annotations

import pickle
from typing import Any, Callable, Dict

from graphlint.verify.worker import framework

_LOADED: Dict[str, Dict[int, Any]] = {}


def _store(path: str, values: Dict[int, Any]) -> None:
    with open(path, "wb") as stream:
        pickle.dump(values, stream)


def record_of(path: str) -> Callable[[int, Any], Any]:
    """A function that passes its second argument through and keeps its first value under the number."""
    values = _LOADED.setdefault(path, {})

    def record(index: int, value: Any) -> Any:
        if index not in values:
            try:
                values[index] = pack(value)
                _store(path, values)
            except TypeError:
                pass
        return value

    return record


def count_of(path: str) -> Callable[[int, bool], bool]:
    """A function that counts how often its second argument was true before it was first false."""
    values = _LOADED.setdefault(path, {})
    closed = set()

    def count(index: int, value: bool) -> bool:
        if index not in closed:
            values[index] = ("value", values.get(index, ("value", 0))[1] + (1 if value else 0))
            if not value:
                closed.add(index)
            _store(path, values)
        return value

    return count


def value_of(path: str, index: int) -> Any:
    """Raises KeyError where PyNative never came by."""
    with open(path, "rb") as stream:
        return unpack(pickle.load(stream)[index])


def pack(value: Any) -> Any:
    """Plain data, or TypeError for what can't be a constant of a graph."""
    if framework.is_tensor(value) and not framework.is_parameter(value):
        return ("tensor", framework.to_numpy(value), framework.dtype_name(value.dtype))
    if value is None or isinstance(value, (bool, int, float, str)):
        return ("value", value)
    if type(value) in (list, tuple):
        return (type(value).__name__, [pack(item) for item in value])
    if type(value) is dict:
        return ("dict", {key: pack(item) for key, item in value.items()})
    raise TypeError(type(value).__name__)


def unpack(packed: Any) -> Any:
    kind, content = packed[0], packed[1]
    if kind == "tensor":
        return framework.ms.Tensor(content, framework.dtype(packed[2]))
    if kind in ("list", "tuple"):
        items = [unpack(item) for item in content]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {key: unpack(item) for key, item in content.items()}
    return content
