"""Candidate inputs of a built Cell or function: from the layers that its parameters feed, names,
annotations, a pool."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from typing import Any, Dict, Iterator, List, Optional

from graphlint.verify.worker import framework

Spec = Dict[str, Any]


def tensor(dtype: str, *shape: int, high: Optional[int] = None) -> Spec:
    spec: Spec = {"k": "tensor", "dtype": dtype, "shape": list(shape)}
    if high is not None:
        spec["high"] = high
    return spec


def floats(*shape: int) -> Spec:
    return tensor("float32", *shape)


def value(content: Any) -> Spec:
    return {"k": "value", "value": content}


def small(*shape: int) -> Spec:
    """Positive numbers of one magnitude: no logarithm or root of a negative one."""
    return {"k": "tensor", "dtype": "float32", "shape": list(shape), "low": 0.5, "high": 2.0}


GENERIC = [small(2, 3), small(2), small(2, 3, 8, 8), floats(2, 16)]
"""For a parameter of which nothing is known."""
POOL = [
    *GENERIC,
    floats(2, 16),
    floats(2, 16, 16),
    floats(2, 16, 8, 8),
    floats(2, 3, 32, 32),
    floats(2, 3),
    floats(4),
    floats(2, 4, 16),
    floats(1, 3, 224, 224),
    floats(2, 64, 8, 8),
    floats(2, 8),
    floats(2, 1, 28, 28),
    floats(2, 64),
    floats(2, 16, 8, 8, 8),
    tensor("int32", 2, 8, high=8),
    tensor("int32", 2, high=2),
    floats(4, 4),
    floats(1, 16, 16),
    floats(),
]


def parameters(subject: Any) -> List[inspect.Parameter]:
    """The required parameters of construct or the function (at least the first one, where all have
    defaults)."""
    function = type(subject).construct if framework.is_cell(subject) else subject
    try:
        found = list(inspect.signature(inspect.unwrap(function)).parameters.values())
    except (TypeError, ValueError):
        return []
    if framework.is_cell(subject):
        found = found[1:]
    required = []
    for parameter in found:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            required.append(parameter)
            continue
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        if parameter.kind in positional and parameter.default is inspect.Parameter.empty:
            required.append(parameter)
    return required


def candidates(subject: Any) -> Iterator[List[Spec]]:
    """Lists of specs, the likeliest first."""
    needed = parameters(subject)
    if not needed:
        yield []
        return
    by_layer = [_by_layer(subject, parameter.name) for parameter in needed]
    by_name = [_by_name(parameter) for parameter in needed]
    first_leaf = _first_leaf(subject) if framework.is_cell(subject) else []
    options: List[List[Spec]] = []
    for layer, name in zip(by_layer, by_name):
        options.append([*layer, *name, *first_leaf] or list(GENERIC))
    best = [choices[0] for choices in options]
    yield best
    lead = first_leaf or options[0]
    for spec in [*by_layer[0], *lead]:
        yield [spec if not name else name[0] for name in by_name]
        yield [spec for _ in needed]
    for combination in itertools.islice(itertools.product(*[choices[:4] for choices in options]), 24):
        yield list(combination)
    for spec in POOL:
        yield [spec if not name else name[0] for name in by_name]
        yield [spec for _ in needed]
    for spec in POOL[:6]:
        yield [spec, *[tensor("int32", 2, high=2) for _ in needed[1:]]]
        yield [spec, *[tensor("int32", *spec["shape"], high=2) for _ in needed[1:]]]


def _by_name(parameter: inspect.Parameter) -> List[Spec]:
    """What a name or annotation says by itself; empty where it says nothing."""
    name = parameter.name.lower()
    annotation = "" if parameter.annotation is inspect.Parameter.empty else str(parameter.annotation)
    if "Tensor" not in annotation:
        if "bool" in annotation:
            return [value(False), value(True)]
        if "int" in annotation and "List" not in annotation and "Tuple" not in annotation:
            return [value(2), value(1)]
        if "float" in annotation:
            return [value(0.5)]
    if "mask" in name:
        return [value(None), tensor("bool", 2, 16), floats(2, 16)]
    if name in ("h", "hx", "state", "hidden", "h0", "hidden_state"):
        return [floats(2, 16), floats(1, 2, 16)]
    if any(part in name for part in ("ids", "idx", "index", "indices", "token")):
        return [tensor("int32", 2, 8, high=8), tensor("int32", 2, high=2), tensor("int32", 2, 8, high=2)]
    if name in ("label", "labels", "target", "targets", "y_true", "gt", "logits_label"):
        return []
    if name in ("gradients", "grads", "gradient"):
        return [{"k": "tuple", "items": [floats(16, 16), floats(16)]}]
    if name in ("training", "train", "flag", "is_training"):
        return [value(False)]
    if name in ("h_size", "w_size", "height", "width", "hh", "ww", "num_frames"):
        return [value(8)]
    return []


def _by_layer(subject: Any, name: str) -> List[Spec]:
    """The needs of the layers that construct feeds with this parameter."""
    if not framework.is_cell(subject):
        return []
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(type(subject).construct)))
    except (OSError, TypeError, SyntaxError):
        return []
    found: List[Spec] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = node.func.value
        if not (isinstance(owner, ast.Name) and owner.id == "self"):
            continue
        if node.args and isinstance(node.args[0], ast.Name) and node.args[0].id == name:
            layer = getattr(subject, node.func.attr, None)
            if framework.is_cell(layer):
                found.extend(spec for spec in _needs(layer) if spec not in found)
    return found


def _first_leaf(subject: Any) -> List[Spec]:
    """The needs of the first layer that has any, in the order of registration."""
    for _, cell in framework.sub_cells(subject):
        if cell is not subject and not dict(cell.name_cells()):
            specs = _leaf(cell)
            if specs:
                return specs
    return _leaf(subject)


def _needs(layer: Any) -> List[Spec]:
    specs = _leaf(layer)
    return specs or _first_leaf(layer)


def _number(cell: Any, *names: str) -> Optional[int]:
    for name in names:
        found = getattr(cell, name, None)
        if isinstance(found, int) and not isinstance(found, bool) and found > 0:
            return found
    return None


def _leaf(cell: Any) -> List[Spec]:
    """The inputs of a framework layer by its class and live attributes."""
    kind = type(cell).__name__
    channels = _number(cell, "in_channels", "num_features", "num_channels", "input_size", "embed_dim")
    if "Embedding" in kind:
        size = _number(cell, "vocab_size", "num_embeddings") or 8
        return [tensor("int32", 2, 8, high=min(size, 1000))]
    shape = getattr(cell, "normalized_shape", None)
    if isinstance(shape, (list, tuple)) and all(isinstance(size, int) for size in shape):
        return [floats(2, 4, *shape), floats(2, *shape), floats(2, 49, *shape), floats(2, 4, 4, *shape)]
    if channels is None:
        return []
    if "Conv1d" in kind or ("1d" in kind.lower() and "Norm" in kind):
        return [floats(2, channels, 16), floats(2, channels)]
    if "Conv3d" in kind or "3d" in kind.lower():
        return [floats(2, channels, 8, 8, 8)]
    if "Conv" in kind or "2d" in kind.lower() or "GroupNorm" in kind:
        return [
            floats(2, channels, 16, 16),
            floats(2, channels, 32, 32),
            floats(1, channels, 224, 224),
            floats(2, channels, 7, 7),
        ]
    if kind in ("LSTM", "GRU", "RNN"):
        return [floats(2, 4, channels), floats(4, 2, channels)]
    if "Cell" in kind and kind in ("LSTMCell", "GRUCell", "RNNCell"):
        return [floats(2, channels)]
    if "Dense" in kind or "Linear" in kind:
        return [
            floats(2, channels),
            floats(2, 4, channels),
            floats(2, 8, 8, channels),
            floats(2, 49, channels),
        ]
    if "Attention" in kind:
        return [floats(2, 4, channels)]
    return []
