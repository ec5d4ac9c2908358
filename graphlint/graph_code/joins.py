"""Which values two branches of a Tensor condition may leave under one name (measured on 2.0 to 2.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from graphlint.graph_code import values as v
from graphlint.graph_code.values import Value
from graphlint.target import Target

_WORDS = {
    v.TENSOR: "a Tensor",
    v.NUMBER: "a number",
    v.STR: "a string",
    v.NONE: "None",
    v.LIST: "a list",
    v.TUPLE: "a tuple",
    v.DICT: "a dict",
    v.FUNCTION: "a function",
    v.CELL: "a Cell",
}
_PLAIN = (v.TENSOR, v.NUMBER, v.STR, v.LIST, v.TUPLE, v.DICT)


@dataclass(frozen=True)
class Unlike:
    """Why two values don't join.

    `outcome`: `error`; `fallback` where the interpreter takes over; `diverges` where the graph gives something else.
    `returned_only`: it shows only where the value itself is returned, not where it is computed with.
    """

    text: str
    outcome: str = "error"
    returned_only: bool = False


def word(value: Value) -> str:
    """The value's kind in words, with a Tensor's dtype where it is known."""
    if value.kind == v.TENSOR and value.dtype:
        return f"a {value.dtype} Tensor"
    if value.kind == v.NUMBER and value.dtype:
        return f"{'an' if value.dtype == 'int' else 'a'} {value.dtype}"
    if value.kind in v.SEQUENCES and value.items is not None:
        return f"{_WORDS[value.kind]} of {len(value.items)}"
    return _WORDS.get(value.kind, "another kind of value")


def unlike(a: Value, b: Value, target: Target, returned: bool = False) -> Optional[Unlike]:
    """Why the graph compiler can't join `a` and `b`, or None where it can or where too little is known.

    `returned` where the values are the function's results: then numbers in tuples must be alike too.
    """
    if not (a.sure and b.sure):
        return None
    both = f"{word(a)} on one path, {word(b)} on the other"
    if a.kind == b.kind:
        return _same_kind(a, b, both, target, returned)
    if v.NONE in (a.kind, b.kind):
        other = b if a.kind == v.NONE else a
        if other.kind not in _PLAIN:
            return None
        return Unlike(both, "error" if target.strict else "fallback")
    if a.kind in _PLAIN and b.kind in _PLAIN:
        return Unlike(both)
    return None


def _same_kind(a: Value, b: Value, both: str, target: Target, returned: bool) -> Optional[Unlike]:
    if a.kind == v.TENSOR and a.dtype and b.dtype and a.dtype != b.dtype:
        return Unlike(both)
    if a.kind == v.NUMBER and a.dtype and b.dtype and a.dtype != b.dtype:
        return Unlike(both, returned_only=True)
    if a.kind == v.STR and a.known and b.known and a.const != b.const:
        return Unlike(f"the string {a.const!r} on one path, {b.const!r} on the other")
    if a.kind == v.TUPLE and a.items is not None and b.items is not None:
        for x, y in zip(a.items, b.items):
            reason = unlike(x, y, target, returned)
            if reason is not None and (returned or not reason.returned_only):
                return reason
    if a.kind == v.LIST and a.items is not None and b.items is not None and len(a.items) != len(b.items):
        if not (a.items and b.items):
            return None if target.strict else Unlike(both)
        return Unlike(both, "diverges") if returned else None
    if a.kind == v.DICT and a.keys is not None and b.keys is not None and a.keys != b.keys:
        return Unlike("a dict with other keys on each path", "fallback" if returned else "error")
    if a.kind == v.DTYPE and a.known and b.known and a.const != b.const:
        return Unlike(f"{a.const} on one path, {b.const} on the other")
    return None


def grows(old: Value, new: Value) -> bool:
    """True where a loop makes a tensor of another size each round, as far as the source tells."""
    if old.kind != v.TENSOR or new.kind != v.TENSOR:
        return False
    if old.shape is not None and new.shape is not None:
        known = zip(old.shape, new.shape)
        return len(old.shape) != len(new.shape) or any(
            x is not None and y is not None and x != y for x, y in known
        )
    return new.origin == "grown"
