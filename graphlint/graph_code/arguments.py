"""What is known of the arguments of a graph's top function: annotations, defaults and how they are used."""

from __future__ import annotations

import ast
from typing import FrozenSet, Optional

from graphlint.graph_code import values as v
from graphlint.graph_code.values import NOCONST, Ref, Value
from graphlint.project import FunctionInfo
from graphlint.tree import facts

_TENSOR_ONLY = frozenset(
    "shape astype ndim asnumpy reshape view transpose permute expand_dims squeeze unsqueeze flatten sum mean argmax "
    "argmin abs exp sqrt masked_fill dtype max min broadcast_to tile matmul swapaxes dim contiguous".split()
)
_CERTAIN = frozenset("shape astype ndim dtype asnumpy".split())
_SIMPLE = {"int": v.NUMBER, "float": v.NUMBER, "bool": v.NUMBER, "str": v.STR, "list": v.LIST, "tuple": v.TUPLE,
           "dict": v.DICT, "List": v.LIST, "Tuple": v.TUPLE, "Dict": v.DICT}  # fmt: skip


def describe(arg: ast.arg, default: Value, info: FunctionInfo) -> Value:
    """The value of a parameter that nobody passed in sight: from its annotation, its default and its uses."""
    ref = Ref("input", arg.arg)
    annotated = _annotated(arg, info, ref)
    if annotated is not None:
        return annotated
    if default.kind in (v.LIST, v.DICT, v.SET):
        return default
    if default.kind in (v.NUMBER, v.STR):
        return default.but(const=NOCONST, graph=NOCONST, sure=False)
    if default.kind == v.NONE:
        return Value(v.UNKNOWN, variable=None, sure=False, ref=ref)
    if arg.arg in tensor_parameters(info.node):
        return Value(v.TENSOR, variable=True, ref=ref)
    return Value(v.INPUT, variable=None, sure=False, ref=ref)


def _annotated(arg: ast.arg, info: FunctionInfo, ref: Ref) -> Optional[Value]:
    note = arg.annotation
    if isinstance(note, ast.Constant) and isinstance(note.value, str):
        try:
            note = ast.parse(note.value, mode="eval").body
        except (SyntaxError, ValueError):
            return None
    if isinstance(note, ast.Subscript):
        note = note.value
    name = info.module.dotted(note) if note is not None else None
    if name in ("mindspore.Tensor", "mindspore.common.Tensor"):
        return Value(v.TENSOR, variable=True, ref=ref)
    if isinstance(note, ast.Name) and note.id in _SIMPLE:
        kind = _SIMPLE[note.id]
        dtype = note.id if kind == v.NUMBER else None
        return Value(kind, dtype=dtype, ref=ref if kind in (v.LIST, v.TUPLE, v.DICT) else None)
    return None


def tensor_parameters(node: ast.AST) -> FrozenSet[str]:
    """Parameters that the function uses as only a Tensor can be used: `x.shape`, `x.astype(…)`."""
    known = facts(node)
    return frozenset(
        name
        for name, attributes in known.attributes.items()
        if attributes & (_CERTAIN if name in known.stores else _TENSOR_ONLY)
    )
