"""Compares two snapshots (see values.py): where they differ, and how it looks on each side."""

from __future__ import annotations

from collections import Counter
from typing import Any, Dict, List, Tuple

import numpy as np

TOLERANCE = {
    "float64": 1e-6,
    "float32": 2e-4,
    "float16": 1e-2,
    "bfloat16": 5e-2,
    "complex64": 2e-4,
    "complex128": 1e-6,
}
ABSOLUTE = {"float64": 1e-9, "float32": 2e-6, "float16": 1e-3, "bfloat16": 1e-2}
"""Noise around zero, where sums cancel."""
SCALAR = 2e-6
"""Python floats are float32 in the graph: relative noise up to 6e-8 a step, no divergence."""
_MOST = 40

Difference = Dict[str, str]


def compare(left: Any, right: Any) -> List[Difference]:
    """`left` from PyNative, `right` from the graph. Each difference: `where`, `kind` (value, dtype, shape,
    type, length, missing), `pynative`, `graph`."""
    found: List[Difference] = []
    _walk(left, right, "", found)
    return found


def _add(found: List[Difference], where: str, kind: str, left: Any, right: Any) -> None:
    if len(found) < _MOST:
        found.append({"where": where or "result", "kind": kind, "pynative": show(left), "graph": show(right)})


def _walk(left: Any, right: Any, where: str, found: List[Difference]) -> None:
    if isinstance(left, dict) and isinstance(right, dict):
        _mapping(left, right, where, found)
        return
    if isinstance(left, list) and isinstance(right, list):
        _sequence(left, right, where, found)
        return
    if where == "printed":
        _printed(left[1], right[1], found)
        return
    if not (isinstance(left, tuple) and isinstance(right, tuple)):
        if left != right:
            _add(found, where, "value", left, right)
        return
    if left[0] != right[0]:
        _kinds(left, right, where, found)
        return
    kind = left[0]
    if kind in ("tensor", "array"):
        _arrays(left, right, where, found)
    elif kind in ("list", "tuple"):
        _sequence(left[1], right[1], where, found)
    elif kind == "dict":
        _mapping(left[1], right[1], where, found)
    elif kind in ("cell", "object"):
        _mapping(left[2], right[2], where, found)
    elif kind == "float":
        if not _close(np.float64(left[1]), np.float64(right[1]), SCALAR):
            _add(found, where, "value", left, right)
    elif kind not in ("opaque", "none") and left[1:] != right[1:]:
        _add(found, where, "value", left, right)


def _printed(left: str, right: str, found: List[Difference]) -> None:
    """Printed text by its words: the graph breaks lines elsewhere (`print("it", 0)` gives two). `lost`
    where the graph printed less of the same."""
    first, second = left.split(), right.split()
    if first == second:
        return
    missing = Counter(first) - Counter(second)
    kind = "lost" if missing and not Counter(second) - Counter(first) else "value"
    _add(found, "printed", kind, left, right)


def _kinds(left: Tuple[Any, ...], right: Tuple[Any, ...], where: str, found: List[Difference]) -> None:
    numbers = {"int", "float", "bool"}
    kinds = {left[0], right[0]}
    if "opaque" in kinds and kinds & {"object", "cell"}:
        return
    if left[0] in numbers and right[0] in numbers and left[1] == right[1]:
        _add(found, where, "type", left, right)
        return
    if {left[0], right[0]} == {"list", "tuple"}:
        before = len(found)
        _sequence(left[1], right[1], where, found)
        if len(found) == before:
            _add(found, where, "type", left, right)
        return
    values = [_plain(left), _plain(right)]
    alike = values[0] is not None and values[1] is not None and values[0].shape == values[1].shape
    same = alike and _close(values[0], values[1], TOLERANCE["float32"])
    _add(found, where, "type" if same else "value", left, right)


def _plain(value: Tuple[Any, ...]) -> Any:
    if value[0] in ("tensor", "array"):
        return value[3]
    if value[0] in ("int", "float", "bool"):
        return np.asarray(value[1])
    return None


def _sequence(left: List[Any], right: List[Any], where: str, found: List[Difference]) -> None:
    if len(left) != len(right):
        _add(found, where, "length", f"{len(left)} items", f"{len(right)} items")
        return
    for index, (first, second) in enumerate(zip(left, right)):
        _walk(first, second, f"{where}[{index}]", found)


def _mapping(left: Dict[str, Any], right: Dict[str, Any], where: str, found: List[Difference]) -> None:
    for key in left:
        name = f"{where}.{key}" if where else key
        if key not in right:
            _add(found, name, "missing", left[key], "nothing")
        else:
            _walk(left[key], right[key], name, found)
    for key in right:
        if key not in left:
            _add(found, f"{where}.{key}" if where else key, "missing", "nothing", right[key])


def _arrays(left: Tuple[Any, ...], right: Tuple[Any, ...], where: str, found: List[Difference]) -> None:
    if left[2] != right[2]:
        _add(found, where, "shape", left, right)
        return
    tolerance = max(TOLERANCE.get(left[1], 0.0), TOLERANCE.get(right[1], 0.0))
    absolute = max(ABSOLUTE.get(left[1], 0.0), ABSOLUTE.get(right[1], 0.0))
    if not _close(left[3], right[3], tolerance, absolute):
        _add(found, where, "value", left, right)
    elif left[1] != right[1]:
        _add(found, where, "dtype", left, right)


def _close(left: Any, right: Any, tolerance: float, absolute: float = 0.0) -> bool:
    left, right = np.asarray(left), np.asarray(right)
    if left.shape != right.shape:
        return False
    if left.dtype.kind in "USO" or right.dtype.kind in "USO" or tolerance == 0.0:
        return bool(np.array_equal(left, right))
    wide: Any = np.complex128 if left.dtype.kind == "c" or right.dtype.kind == "c" else np.float64
    left, right = left.astype(wide), right.astype(wide)
    finite = np.isfinite(left) & np.isfinite(right)
    if not np.array_equal(np.where(finite, 0, left), np.where(finite, 0, right), equal_nan=True):
        return False
    left, right = left[finite], right[finite]
    if not left.size:
        return True
    size = np.abs(left)
    bound = tolerance * (size + min(float(np.mean(size)), 1e30)) + absolute
    return bool(np.all(np.abs(left - right) <= bound))


def show(value: Any, width: int = 160) -> str:
    """One line for people."""
    text = _show(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def _show(value: Any) -> str:
    if not isinstance(value, tuple) or not value:
        return str(value)
    kind = value[0]
    if kind in ("tensor", "array"):
        flat = np.asarray(value[3]).reshape(-1)
        body = ", ".join(_number(item) for item in flat[:6]) + (", …" if flat.size > 6 else "")
        name = "Tensor" if kind == "tensor" else "array"
        return f"{name} {value[1]}{list(value[2])} {body}"
    if kind in ("list", "tuple"):
        opening, closing = ("[", "]") if kind == "list" else ("(", ")")
        return opening + ", ".join(_show(item) for item in value[1][:6]) + closing
    if kind == "dict":
        return "{" + ", ".join(f"{key}: {_show(item)}" for key, item in list(value[1].items())[:6]) + "}"
    if kind == "none":
        return "None"
    if kind == "str":
        return repr(value[1])
    if kind in ("cell", "object"):
        return f"{value[1]} object"
    return str(value[1])


def _number(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return str(value)
