"""Better inputs from PyNative's own error texts. Patterns read off 2.7.0 and 2.10.0."""

from __future__ import annotations

import copy
import re
from typing import Any, Dict, List

Spec = Dict[str, Any]

_EQUAL_CHANNELS = re.compile(
    r"(?:in_channels|'C_in'|channel|C_in|input channel)\D{0,60}?(?:must be|should be|equal to|be equal)"
    r"\D{0,40}?(\d+)\D{0,60}?but got\D{0,60}?(\d+)",
    re.I | re.S,
)
_DIM = re.compile(
    r"(?:dimension|dim|rank|length of (?:input )?shape|ndim|D)\D{0,60}?(?:must be|should be|equal to|in)"
    r"\D{0,20}?(\d)\D{0,60}?but got\D{0,40}?(\d)",
    re.I | re.S,
)
_NEED_ND = re.compile(r"(\d)\s*-?\s*D\b.*?but got.*?(\d)\s*-?\s*D?", re.I | re.S)
_MATMUL = re.compile(r"(?:\[|\()([\d, ]+)(?:\]|\)).{0,80}?(?:\[|\()([\d, ]+)(?:\]|\))", re.S)
_INT = re.compile(
    r"(?:must be|should be|in)[^.]{0,60}\bint(?:32|64)?\b|[Ii]ndices|expected .* int|dtype.*Int", re.I
)
_BOOL = re.compile(r"must be.{0,30}bool", re.I)


def repair(specs: List[Spec], error: BaseException, subject: Any) -> List[List[Spec]]:
    """Other lists of specs that the message suggests, the likeliest first; empty where there are none."""
    message = str(error)
    found: List[List[Spec]] = []
    match = _EQUAL_CHANNELS.search(message)
    if match:
        found.extend(_replace_size(specs, int(match.group(2)), int(match.group(1))))
        found.extend(_replace_size(specs, int(match.group(1)), int(match.group(2))))
    for pattern in (_DIM, _NEED_ND):
        match = pattern.search(message)
        if match:
            found.extend(_rank(specs, int(match.group(2)), int(match.group(1))))
            break
    if "MatMul" in message or "Dense" in message or "matmul" in message or "Linear" in message:
        match = _MATMUL.search(message)
        if match:
            sizes = [[int(n) for n in group.replace(" ", "").split(",") if n] for group in match.groups()]
            for wanted in {sizes[1][-1], sizes[1][0], sizes[0][-1]}:
                found.extend(_last_size(specs, wanted))
    if "only one element" in message or "ambiguous" in message or "size of 1" in message:
        for shape in ([1], []):
            found.append([{**spec, "shape": shape} if spec["k"] == "tensor" else spec for spec in specs])
    if _INT.search(message):
        found.extend(_dtype(specs, "int32"))
    if _BOOL.search(message):
        found.extend(_dtype(specs, "bool"))
    if re.search(r"not iterable|unpack|tuple|list|subscriptable|NoneType", message):
        for index in range(len(specs)):
            if specs[index]["k"] == "tensor":
                pair = {"k": "tuple", "items": [specs[index], specs[index]]}
                found.append([*specs[:index], pair, *specs[index + 1 :]])
    if "broadcast" in message.lower() or ("shape" in message.lower() and len(specs) > 1):
        found.append([specs[0] for _ in specs])
    if re.search(r"missing (\d+) required positional|construct requires|got (\d+)", message):
        missing = re.search(r"missing (\d+) required", message)
        if missing:
            more = [specs[-1] if specs else _default()] * int(missing.group(1))
            found.append([*specs, *more])
    return found


def _default() -> Spec:
    return {"k": "tensor", "dtype": "float32", "shape": [2, 16]}


def _replace_size(specs: List[Spec], old: int, new: int) -> List[List[Spec]]:
    changed = copy.deepcopy(specs)
    hit = False
    for spec in changed:
        if spec["k"] == "tensor" and new > 0:
            for position in (1, len(spec["shape"]) - 1, 0):
                if 0 <= position < len(spec["shape"]) and spec["shape"][position] == old:
                    spec["shape"][position] = new
                    hit = True
                    break
    return [changed] if hit else []


def _last_size(specs: List[Spec], size: int) -> List[List[Spec]]:
    changed = copy.deepcopy(specs)
    hit = False
    for spec in changed:
        if spec["k"] == "tensor" and spec["shape"] and spec["shape"][-1] != size > 0:
            spec["shape"][-1] = size
            hit = True
    return [changed] if hit else []


def _rank(specs: List[Spec], old: int, new: int) -> List[List[Spec]]:
    """All tensors of one rank with dimensions added at the end or taken away."""
    changed = copy.deepcopy(specs)
    hit = False
    for spec in changed:
        if spec["k"] == "tensor" and len(spec["shape"]) == old and 0 <= new <= 5:
            shape = spec["shape"]
            spec["shape"] = shape[:new] if new < old else shape + [8] * (new - old)
            hit = True
    return [changed] if hit else []


def _dtype(specs: List[Spec], name: str) -> List[List[Spec]]:
    """Each float tensor in turn, then all of them, in another dtype."""
    found = []
    places = [
        index
        for index, spec in enumerate(specs)
        if spec["k"] == "tensor" and spec["dtype"].startswith("float")
    ]
    for index in [*reversed(places)]:
        changed = copy.deepcopy(specs)
        changed[index].update(dtype=name)
        if name.startswith("int"):
            changed[index].setdefault("high", 2)
        found.append(changed)
    if len(places) > 1:
        changed = copy.deepcopy(specs)
        for index in places:
            changed[index].update(dtype=name)
        found.append(changed)
    return found
