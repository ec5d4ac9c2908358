"""Text of values: what Python writes, and what the graph's own f-strings write (measured on 2.0 to 2.10)."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from graphlint.graph_code import values as v
from graphlint.graph_code.numbers import graph_number
from graphlint.graph_code.values import NOCONST, Value, from_python, to_python

_CONVERSIONS: Dict[int, Callable[[Any], str]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}
_WRITTEN = (v.NUMBER, v.STR, v.NONE, v.LIST, v.TUPLE, v.DICT, v.RANGE)


def graph_python(value: Value) -> Any:
    """The object that the graph hands to a function of Python's: its floats are float32 where computed."""
    if value.kind in v.SEQUENCES and value.items is not None:
        parts = [graph_python(item) for item in value.items]
        if any(p is NOCONST for p in parts):
            return NOCONST
        return tuple(parts) if value.kind == v.TUPLE else parts
    if value.kind == v.DICT and value.items is not None and value.keys is not None:
        parts = [graph_python(item) for item in value.items]
        return NOCONST if any(p is NOCONST for p in parts) else dict(zip(value.keys, parts))
    return value.graph_const


def written(value: Value, conversion: int = -1, spec: str = "") -> Optional[str]:
    """What Python's f-string writes for a value; None where that isn't known."""
    known = to_python(value) if value.holds(lambda x: x.kind in _WRITTEN) else NOCONST
    if known is NOCONST or any(x.kind not in _WRITTEN for x in value.walk()):
        return None
    try:
        return format(_CONVERSIONS[conversion](known) if conversion in _CONVERSIONS else known, spec)
    except (TypeError, ValueError, OverflowError):
        return None


def graph_written(value: Value) -> Optional[str]:
    """What the graph's f-string writes: it looks at neither conversion nor specification."""
    if value.kind == v.NUMBER:
        return _number(value.graph_const)
    if value.kind == v.STR:
        return value.graph_const if isinstance(value.graph_const, str) else None
    if value.kind == v.NONE:
        return "None"
    if value.kind == v.RANGE and isinstance(value.const, range):
        return f"({', '.join(map(str, value.const))})"
    if value.items is None or value.kind not in (v.LIST, v.TUPLE, v.DICT):
        return None
    parts = [graph_written(item) for item in value.items]
    if any(p is None for p in parts):
        return None
    texts = [p for p in parts if p is not None]
    if value.kind == v.DICT:
        return "{" + ", ".join(f"{key!r}: {text}" for key, text in zip(value.keys or (), texts)) + "}"
    return ("[%s]" if value.kind == v.LIST else "(%s)") % ", ".join(texts)


def _number(const: Any) -> Optional[str]:
    if isinstance(const, bool):
        return "true" if const else "false"
    if isinstance(const, int):
        return str(const)
    if isinstance(const, float):
        return f"{graph_number(const):g}"
    return None


def applied(function: Callable[..., Any], *args: Value) -> Optional[Value]:
    """A function of Python's on constants, on Python's own and on the graph's; None where one isn't known."""
    known = [to_python(a) for a in args]
    graph = [graph_python(a) for a in args]
    if any(k is NOCONST for k in (*known, *graph)):
        return None
    try:
        made, other = function(*known), function(*graph)
    except Exception:  # whatever Python raises here it raises in PyNative too
        return None
    value = from_python(made)
    if type(made) is type(other) and made != other and value.kind in (v.STR, v.NUMBER):
        return value.but(graph=other)
    return value
