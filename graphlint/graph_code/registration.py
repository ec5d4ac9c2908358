"""Which Cells an object registers, and which it only keeps in a plain list, tuple or dict."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Instance
from graphlint.graph_code.values import Ref, Value

WEIGHT_AND_BIAS = frozenset(
    "Dense Linear Conv1d Conv2d Conv3d Conv1dTranspose Conv2dTranspose Conv3dTranspose BiDense".split()
)
OTHER_WEIGHTS = frozenset(
    "Embedding EmbeddingLookup LSTM GRU RNN LSTMCell GRUCell RNNCell MultiheadAttention BatchNorm1d BatchNorm2d "
    "BatchNorm3d LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d SyncBatchNorm PReLU".split()
)


def weights_of(value: Value) -> Optional[str]:
    """A name shared by Cells whose Parameters have the same names; None for a Cell without weights."""
    if value.kind != v.CELL:
        return None
    if isinstance(value.target, str):
        tail = value.target.rsplit(".", 1)[-1]
        if tail in WEIGHT_AND_BIAS:
            return "weight"
        if tail == "SequentialCell":
            inner = [weights_of(item) for item in value.items or ()]
            return "sequential:" + ",".join(w or "" for w in inner) if any(inner) else None
        return tail if tail in OTHER_WEIGHTS else None
    if isinstance(value.target, Instance):
        if any(
            weights_of(a) or a.parameter for a in value.target.attrs.values() if a.kind in (v.CELL, v.TENSOR)
        ):
            return value.target.cls.qualname
    return None


def plain_holder(instance: Instance, ref: Ref) -> Optional[Tuple[str, str]]:
    """The attribute and kind of the plain container that alone holds a Cell; None where the Cell is registered."""
    found: Optional[Tuple[str, str]] = None
    for name, value in instance.attrs.items():
        if value.kind == v.CELL and (value.ref is ref or any(i.ref is ref for i in value.items or ())):
            return None
        if value.kind in (v.LIST, v.TUPLE, v.DICT) and any(part.ref is ref for part in value.walk(2)):
            found = (name, value.kind)
    return found


class Reached:
    """The unregistered Cells that one graph has reached so far, by the names of their Parameters."""

    def __init__(self) -> None:
        self._held: Dict[str, List[Ref]] = {}

    def clashes(self, weights: str, ref: Ref) -> bool:
        """Adds a Cell; True from the second on with the same Parameter names."""
        held = self._held.setdefault(weights, [])
        if not any(r is ref for r in held):
            held.append(ref)
        return len(held) > 1
