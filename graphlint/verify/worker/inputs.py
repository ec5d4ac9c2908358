"""Makes real arguments from parsed specs (graphlint/verify/spec.py)."""

from __future__ import annotations

import zlib
from typing import Any, Dict, List

import numpy as np

from graphlint.verify.worker import framework


def make(spec: Dict[str, Any], scope: Dict[str, Any], salt: int = 0) -> Any:
    """One value. Numbers are the same in every process; `salt` makes another set. `scope` is where `=
    expression` is read."""
    kind = spec["k"]
    if kind == "value":
        return spec["value"]
    if kind == "tensor":
        return tensor(spec, salt)
    if kind == "tuple":
        return tuple(make(item, scope, salt + index + 1) for index, item in enumerate(spec["items"]))
    if kind == "list":
        return [make(item, scope, salt + index + 1) for index, item in enumerate(spec["items"])]
    if kind == "dict":
        return {
            key: make(item, scope, salt + index + 1)
            for index, (key, item) in enumerate(spec["items"].items())
        }
    if kind == "mutable":
        return framework.ms.mutable(make(spec["item"], scope, salt))
    if kind == "py":
        known = {"ms": framework.ms, "mindspore": framework.ms, "nn": framework.nn, "ops": framework.ms.ops}
        return eval(spec["expr"], {**known, **scope})
    raise ValueError(f"unknown spec {spec!r}")


def tensor(spec: Dict[str, Any], salt: int = 0) -> Any:
    """Normal numbers for floats (within bounds where given), 0 and 1 for bool, 0 up to `high` (2) for
    integers."""
    name, shape = spec["dtype"], tuple(spec["shape"])
    seed = zlib.crc32(f"{name}{shape}{salt}".encode())
    random = np.random.RandomState(seed)
    low, high = spec.get("low"), spec.get("high")
    if spec.get("fill") is not None:
        data = np.full(shape, spec["fill"])
    elif name == "bool":
        data = random.rand(*shape) > 0.5 if shape else np.array(True)
    elif name.startswith(("int", "uint")):
        start = int(low) if low is not None else 0
        data = np.asarray(random.randint(start, int(high) if high is not None else start + 2, size=shape))
    elif low is not None or high is not None:
        bottom = float(low) if low is not None else float(high or 0) - 1
        data = np.asarray(random.uniform(bottom, high if high is not None else bottom + 1, size=shape))
    else:
        data = np.asarray(random.randn(*shape)) if shape else np.array(random.randn())
    if name == "bfloat16":
        return framework.ms.Tensor(data.astype(np.float32), framework.dtype(name))
    return framework.ms.Tensor(
        data.astype(np.dtype("bool" if name == "bool" else name)), framework.dtype(name)
    )


def make_all(specs: List[Dict[str, Any]], scope: Dict[str, Any], salt: int = 0) -> List[Any]:
    return [make(spec, scope, salt + 10 * index) for index, spec in enumerate(specs)]
