"""Constructor arguments from names, annotations and defaults."""

from __future__ import annotations

import inspect
import re
from typing import Any, Dict, Iterator, List, Optional, Tuple

Spec = Dict[str, Any]


def value(content: Any) -> Spec:
    return {"k": "value", "value": content}


def expression(text: str) -> Spec:
    return {"k": "py", "expr": text}


def sequence(*items: Any) -> Spec:
    return {"k": "list", "items": [item if isinstance(item, dict) else value(item) for item in items]}


_EXACT: Dict[str, Spec] = {}


def _fill(names: str, spec: Spec) -> None:
    for name in names.split():
        _EXACT[name] = spec


_fill(
    "num_heads heads n_head n_heads nhead head_num num_attention_heads num_groups attention_heads", value(4)
)
_fill("kernel_size kernel k ksize kernel_sizes patch_size dw_kernel_size", value(3))
_fill("stride strides s block_size upscale_factor scale_factor scale", value(1))
_fill("dilation groups group padding pad cardinality expansion expand_ratio", value(1))
_fill("num_classes n_classes nclass nc class_num classes num_labels", value(10))
_fill(
    "depth num_layers n_layers layers_num num_blocks n_blocks num_convs repeat n num_stages",
    value(2),
)
_fill(
    "drop dropout drop_rate drop_path attn_drop proj_drop p p_dropout prob",
    value(0.0),
)
_fill("keep_prob", value(1.0))
_fill("ratio mlp_ratio reduction rd_ratio se_ratio radix reduction_ratio", value(4))
_fill("eps epsilon", value(1e-5))
_fill("momentum", value(0.9))
_fill("alpha beta gamma temperature weight lr learning_rate", value(1.0))
_fill("vocab_size num_embeddings n_vocab vocab", value(32))
_fill(
    "max_len max_length seq_len seq_length max_position_embeddings max_seq_len length sequence_length",
    value(16),
)
_fill("batch_size", value(2))
_fill(
    "window_size img_size image_size input_resolution resolution size input_size_hw feat_size crop_size",
    value(8),
)
_fill("act activation act_layer act_func nonlinearity act_type", expression("nn.ReLU"))
_fill("norm norm_layer norm_func", expression("nn.BatchNorm2d"))
_fill("block", expression("nn.Dense"))
_fill("layers layer_nums", sequence(1, 1, 1, 1))
_fill("depths", sequence(1, 1))
_fill("dims embed_dims channels_list filters", sequence(16, 16))
_fill("axis dim_axis dim_", value(-1))
_fill("mode", value("bilinear"))
_fill("reduction_mode", value("mean"))
_fill("loss loss_fn criterion loss_func", expression("nn.MSELoss()"))
_fill(
    "net network model backbone cell fn_cell module layer encoder decoder fn func head body",
    expression("nn.Dense(16, 16)"),
)
_fill(
    "networks cells modules branches ops_list",
    expression("nn.CellList([nn.Dense(16, 16), nn.Dense(16, 16)])"),
)
_fill("optimizer", expression("nn.SGD(nn.Dense(16, 16).trainable_params(), 0.1)"))
_fill("dtype compute_dtype param_dtype data_type type", expression("ms.float32"))
_fill("shape normalized_shape dims_shape", sequence(16))
_fill("name prefix", value("x"))
_fill("params parameters", expression("nn.Dense(16, 16).trainable_params()"))
_fill("scale_sense", expression("ms.Tensor(1.0, ms.float32)"))

_CONTAINS: List[Tuple[str, Spec]] = [
    ("head_dim", value(4)),
    ("num_head", value(4)),
    ("kernel", value(3)),
    ("stride", value(1)),
    ("dilat", value(1)),
    ("group", value(1)),
    ("pad", value(1)),
    ("drop", value(0.0)),
    ("prob", value(0.0)),
    ("ratio", value(1.0)),
    ("expan", value(1)),
    ("num_class", value(10)),
    ("num_layer", value(2)),
    ("vocab", value(32)),
    ("len", value(16)),
    ("resolution", sequence(8, 8)),
    ("use_", value(True)),
    ("with_", value(True)),
    ("is_", value(True)),
    ("has_", value(True)),
    ("eps", value(1e-5)),
    ("act", expression("nn.ReLU")),
    ("norm", expression("nn.BatchNorm2d")),
    ("loss", expression("nn.MSELoss()")),
    ("net", expression("nn.Dense(16, 16)")),
    ("shape", sequence(16)),
    ("size", value(16)),
]
_CHANNELS = (
    "chan",
    "plane",
    "dim",
    "feature",
    "filter",
    "width",
    "hidden",
    "embed",
    "inp",
    "oup",
    "in_",
    "out_",
    "c1",
    "c2",
    "ch",
)


def guess(name: str, annotation: str, size: int) -> Spec:
    """One required argument."""
    low = name.lower()
    if low in _EXACT:
        return _EXACT[low]
    if "bool" in annotation:
        return value(True)
    if "float" in annotation and "int" not in annotation:
        return value(0.5)
    if "str" in annotation:
        return value("relu")
    if any(
        word in annotation for word in ("List[int]", "list[int]", "Tuple[int", "tuple[int", "Sequence[int")
    ):
        return sequence(size, size, size, size)
    if low.endswith("s") and any(part in low for part in ("channels_", "dims", "planes_list")):
        return sequence(size, size)
    for part, spec in _CONTAINS:
        if part in low:
            return spec
    if any(part in low for part in _CHANNELS) or "int" in annotation:
        return value(size)
    return value(size)


def candidates(cls: type, scope: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """Defaults alone where nothing is required; then guesses at several sizes."""
    parameters = _parameters(cls)
    required = [parameter for parameter in parameters if parameter.default is inspect.Parameter.empty]
    if not required:
        yield {"args": [], "kwargs": {}}
    for size in (16, 64, 8, 32, 3, 1, 96):
        kwargs = {p.name: guess(p.name, _annotation(p), size) for p in required}
        yield {"args": [], "kwargs": kwargs}
        if size == 16:
            yield from _variants(required, kwargs)
        if not required:
            return


def completed(call: Dict[str, Any], error: BaseException) -> Optional[Dict[str, Any]]:
    """The call with the argument that a TypeError misses: decorators hide some signatures."""
    match = re.search(r"missing a required argument: '(\w+)'", str(error))
    names = (
        [match.group(1)]
        if match
        else re.findall(r"'(\w+)'", str(error))
        if "required positional" in str(error)
        else []
    )
    missing = [name for name in names if name not in call["kwargs"]]
    if not missing or not isinstance(error, TypeError):
        return None
    return {
        "args": call["args"],
        "kwargs": {**call["kwargs"], **{name: guess(name, "", 16) for name in missing}},
    }


def _variants(required: List[inspect.Parameter], kwargs: Dict[str, Spec]) -> Iterator[Dict[str, Any]]:
    """One argument changed at a time: pairs for numbers, instances for classes."""
    for parameter in required:
        spec = kwargs[parameter.name]
        for other in _others(spec):
            yield {"args": [], "kwargs": {**kwargs, parameter.name: other}}
    pairs = {
        name: sequence(spec["value"], spec["value"]) if _is_int(spec) else spec
        for name, spec in kwargs.items()
    }
    if pairs != kwargs:
        yield {"args": [], "kwargs": pairs}


def _others(spec: Spec) -> List[Spec]:
    if _is_int(spec):
        number = spec["value"]
        return [
            {"k": "tuple", "items": [value(number), value(number)]},
            sequence(number, number, number, number),
            value("relu"),
        ]
    if spec.get("k") == "py":
        swaps = {"nn.ReLU": "nn.ReLU()", "nn.BatchNorm2d": "nn.LayerNorm", "nn.Dense": "nn.Conv2d"}
        swapped = swaps.get(spec["expr"])
        others = [expression(swapped)] if swapped else []
        return [*others, value("relu"), value(16)]
    return []


def _is_int(spec: Spec) -> bool:
    content = spec.get("value")
    return spec.get("k") == "value" and isinstance(content, int) and not isinstance(content, bool)


def _parameters(cls: Any) -> List[inspect.Parameter]:
    try:
        found = list(inspect.signature(inspect.unwrap(cls.__init__)).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [parameter for parameter in found if parameter.kind not in kinds]


def _annotation(parameter: inspect.Parameter) -> str:
    return "" if parameter.annotation is inspect.Parameter.empty else str(parameter.annotation)
