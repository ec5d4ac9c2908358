"""What MindSpore's own functions, Tensor methods and layers give back: kind, dtype, rank and shape where they follow."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

from graphlint.graph_code import values as v
from graphlint.graph_code.frames import Args
from graphlint.graph_code.values import NOCONST, Ref, Value, number, sequence, tensor, to_python

Shape = Optional[Tuple[Optional[int], ...]]

DTYPES = frozenset(
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 complex64 complex128 "
    "int_ uint float_ half float byte char short int long double".split()
)
_DTYPE_ALIAS = {
    "bool_": "bool", "bool": "bool", "int_": "int64", "long": "int64", "int": "int32", "float_": "float32",
    "half": "float16", "double": "float64", "float": "float32", "short": "int16", "byte": "uint8",
}  # fmt: skip
FLOATS = ("float16", "float32", "float64", "bfloat16")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")

SAME = frozenset(
    "abs neg negative relu relu6 sigmoid tanh exp log sqrt rsqrt square sin cos tan floor ceil round sign gelu silu elu "
    "selu softplus mish hardswish softmax log_softmax clamp clip dropout stop_gradient contiguous copy clone detach "
    "zeros_like ones_like cumsum flip roll masked_fill fill_diagonal tril triu leaky_relu hsigmoid hswish erf log1p "
    "expm1 reciprocal identity sort_ logsigmoid softsign hardtanh hardsigmoid rand_like randn_like full_like erfc "
    "layer_norm batch_norm group_norm normalize l2_normalize depend nan_to_num logit deg2rad rad2deg trunc frac add_ "
    "sub_ mul_ div_ copy_ zero_ fill_ clamp_ exp_ relu_ masked_fill_ floor_divide_ floor_ neg_ sigmoid_ tanh_".split()
)
UNCHANGED = frozenset("stop_gradient identity contiguous detach".split())
"""Operations whose result is their argument: both modes share the data."""
BINARY = frozenset(
    "add sub subtract mul multiply div divide true_divide floor_divide floor_div maximum minimum pow fmod mod remainder "
    "bias_add atan2 lerp addcmul addcdiv xlogy real_div floor_mod".split()
)
COMPARISON = frozenset(
    "equal not_equal greater greater_equal less less_equal gt ge lt le eq ne logical_and logical_or logical_not isnan "
    "isinf isfinite isclose logical_xor".split()
)
REDUCTION = frozenset(
    "sum mean prod std var amax amin logsumexp norm median nansum reduce_sum reduce_mean reduce_max reduce_min "
    "reduce_prod".split()
)
EXTREME = frozenset("max min".split())
BOOL_REDUCTION = frozenset("all any reduce_all reduce_any".split())
INT_REDUCTION = frozenset("argmax argmin".split())
VIEWS = frozenset(
    "view reshape transpose permute expand_dims squeeze unsqueeze flatten swapaxes swapdims narrow diagonal select "
    "broadcast_to expand expand_as view_as split chunk unbind t movedim ravel".split()
)
DYNAMIC = frozenset("nonzero masked_select unique unique_consecutive where_index argwhere".split())
LISTS = frozenset(
    "split chunk unbind unstack meshgrid tensor_split hsplit vsplit dsplit broadcast_tensors".split()
)
PAIRS = frozenset(
    "topk sort max_with_index min_with_index var_mean std_mean cummax cummin mode frexp aminmax".split()
)
GROWING = frozenset(
    "concat cat concatenate stack pad tile repeat_interleave repeat hstack vstack append".split()
)
CREATION = frozenset(
    "zeros ones full eye arange linspace rand randn randint randperm tri range logspace empty standard_normal uniform "
    "normal standard_laplace gamma multinomial bernoulli".split()
)
FACTORIES = ("mindspore.Tensor", "mindspore.tensor", "mindspore.Parameter", "mindspore.from_numpy",
             "mindspore.common.Tensor", "mindspore.Tensor.from_numpy", "mindspore.mint.tensor")  # fmt: skip
CASTS = {
    "float": "float32", "half": "float16", "int": "int32", "long": "int64", "bool": "bool", "double": "float64",
    "short": "int16", "byte": "uint8", "bfloat16": "bfloat16",
}  # fmt: skip
HOST = frozenset("asnumpy numpy tolist".split())


def dtype_of(value: Optional[Value]) -> Optional[str]:
    """The name of the dtype that an argument means: `mindspore.float32`, `numpy.int64`, `"float32"`, `x.dtype`."""
    if value is None or value.const is NOCONST or not isinstance(value.const, str):
        return None
    return _DTYPE_ALIAS.get(value.const, value.const)


def _axis(args: Args, first: int, *names: str) -> Any:
    found = args.get(first, *names)
    return to_python(found) if found is not None else None


def _reduced(x: Value, args: Args, first: int) -> Shape:
    axis = _axis(args, first, "axis", "dim")
    keep = args.get(first + 1, "keepdims", "keepdim", "keep_dims")
    keeps = keep is not None and keep.const is not False
    given = args.get(first, "axis", "dim")
    if given is None or given.kind == v.NONE or axis == ():
        if keeps and x.rank is None:
            return None
        return tuple([1] * x.rank) if keeps and x.rank is not None else ()
    if x.shape is None and x.rank is None or axis is NOCONST:
        return None
    rank = x.rank if x.rank is not None else 0
    shape = list(x.shape) if x.shape is not None else [None] * rank
    axes = [axis] if isinstance(axis, int) else list(axis) if isinstance(axis, (tuple, list)) else []
    if not all(isinstance(a, int) and -rank <= a < rank for a in axes):
        return None
    gone = {a % rank for a in axes}
    if keeps:
        return tuple(1 if i in gone else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in gone)


def promote(a: Value, b: Value, division: bool = False) -> Optional[str]:
    """The dtype of `a op b` where one is a Tensor; None where it isn't known."""
    if a.kind == v.TENSOR and b.kind == v.TENSOR:
        if a.dtype is None or b.dtype is None:
            return None
        if a.dtype == b.dtype:
            found: Optional[str] = a.dtype
        else:
            both = (a.dtype, b.dtype)
            floats = [d for d in both if d in FLOATS]
            found = floats[0] if len(floats) == 1 else None
    else:
        t, other = (a, b) if a.kind == v.TENSOR else (b, a)
        found = t.dtype
        if other.kind == v.NUMBER and other.dtype == "float" and t.dtype in INTS:
            found = "float32"
        elif other.kind != v.NUMBER or other.dtype is None or (t.dtype == "bool" and other.dtype != "bool"):
            found = None if t.dtype not in FLOATS else t.dtype
    if division and found in INTS:
        return "float32"
    return found


def broadcast(a: Shape, b: Shape) -> Shape:
    if a is None or b is None:
        return None
    out = []
    for i in range(1, max(len(a), len(b)) + 1):
        x = a[-i] if i <= len(a) else 1
        y = b[-i] if i <= len(b) else 1
        out.append(y if x == 1 else x if y == 1 or x == y else None)
    return tuple(reversed(out))


def shape_of(x: Value) -> Shape:
    if x.kind == v.TENSOR:
        return x.shape
    return () if x.kind == v.NUMBER else None


def elementwise(a: Value, b: Value, division: bool = False, comparison: bool = False) -> Value:
    """The Tensor that an operator makes of two operands, at least one of them a Tensor."""
    dtype = "bool" if comparison else promote(a, b, division)
    sure = (a.sure or a.kind != v.TENSOR) and (b.sure or b.kind != v.TENSOR)
    sure = sure or any(x.kind == v.TENSOR and x.sure for x in (a, b))
    dynamic = a.dynamic or b.dynamic
    return tensor(dtype, broadcast(shape_of(a), shape_of(b)), sure=sure, dynamic=dynamic)


def _shape_arg(args: Args, first: int) -> Shape:
    got = args.pos[first:]
    if len(got) == 1 and got[0].kind in v.SEQUENCES:
        items: Optional[Sequence[Value]] = got[0].items
    elif got and all(g.kind == v.NUMBER for g in got):
        items = got
    else:
        items = None
    if items is None:
        return None
    return tuple(i.const if isinstance(i.const, int) and i.const >= 0 else None for i in items)


def apply(name: str, x: Value, args: Args, first: int = 0) -> Value:
    """What the operation `name` makes of the Tensor `x`; the other arguments start at index `first` of `args`."""
    sure = x.sure
    if name in UNCHANGED:
        return tensor(x.dtype, x.shape, x.rank, sure, dynamic=x.dynamic, ref=Ref(base=x.ref))
    if name in SAME:
        return tensor(x.dtype, x.shape, x.rank, sure, dynamic=x.dynamic)
    if name in CASTS:
        return tensor(CASTS[name], x.shape, x.rank, sure)
    if name in ("astype", "to", "type", "type_as", "cast"):
        given = args.get(first, "dtype")
        dtype = given.dtype if given is not None and given.kind == v.TENSOR else dtype_of(given)
        if name == "type" and given is None:
            return v.string()
        shared = Ref(base=x.ref) if dtype is not None and dtype == x.dtype else Ref()
        return tensor(dtype, x.shape, x.rank, sure, ref=shared)
    if name in BINARY or name in COMPARISON:
        other = args.get(first, "other", "y")
        if other is None:
            return tensor("bool" if name in COMPARISON else None, x.shape, x.rank, sure)
        return elementwise(x, other, "div" in name and "floor" not in name, name in COMPARISON)
    if name in REDUCTION or name in EXTREME:
        if name in EXTREME and args.get(first, "dim") is not None and "axis" not in args.kw:
            return sequence(v.TUPLE, [tensor(x.dtype, sure=sure), tensor(sure=sure)])
        dtype = x.dtype if x.dtype in FLOATS or name in EXTREME else None
        return tensor(dtype, _reduced(x, args, first), sure=sure)
    if name in BOOL_REDUCTION:
        return tensor("bool", _reduced(x, args, first), sure=sure)
    if name in INT_REDUCTION:
        return tensor("int64", _reduced(x, args, first), sure=sure)
    if name in DYNAMIC:
        found = tensor(x.dtype if name != "nonzero" else "int64", sure=sure, dynamic=True)
        return sequence(v.TUPLE, [found, tensor(sure=sure)]) if name == "unique" else found
    if name in LISTS:
        return sequence(v.TUPLE, _pieces(name, x, args, first), element=tensor(x.dtype, sure=sure))
    if name in PAIRS:
        return sequence(v.TUPLE, [tensor(x.dtype, sure=sure), tensor(sure=sure)])
    if name in VIEWS:
        shape = _viewed(name, x, args, first)
        link = "" if _keeps(name, x, shape) else "copy"
        return tensor(x.dtype, shape, sure=sure, ref=Ref(base=x.ref, link=link), dynamic=x.dynamic)
    if name in GROWING:
        return tensor(x.dtype, sure=sure, origin="grown")
    if name in ("matmul", "bmm", "mm", "dot", "batch_matmul", "gather", "index_select", "gather_elements", "where",
                "interpolate", "fillv2", "scatter", "take_along_dim"):  # fmt: skip
        return tensor(x.dtype, sure=sure)
    if name in ("one_hot", "onehot"):
        return tensor(sure=sure)
    return tensor(sure=sure)


def _keeps(name: str, x: Value, shape: Shape) -> bool:
    """True for a view that changes nothing: the graph leaves it out."""
    if name in ("flatten", "ravel", "transpose", "permute"):
        return x.rank == 1
    return (
        name in ("reshape", "view")
        and x.shape is not None
        and (shape == x.shape or x.rank == 1 and shape == (None,))
    )


def _pieces(name: str, x: Value, args: Args, first: int) -> Optional[Sequence[Value]]:
    size = args.get(first, "split_size_or_sections", "chunks", "output_num")
    if x.shape and isinstance(x.shape[0], int) and args.get(first + 1, "axis", "dim") is None:
        length = x.shape[0]
        if name == "split" and size is not None and isinstance(size.const, int) and size.const > 0:
            count = -(-length // size.const)
        elif name in ("unbind", "unstack"):
            count = length
        else:
            return None
        return [
            tensor(x.dtype, rank=None, sure=x.sure, ref=Ref(base=x.ref, link="copy"))
            for _ in range(min(count, 64))
        ]
    return None


def _viewed(name: str, x: Value, args: Args, first: int) -> Shape:
    if name in ("view", "reshape", "broadcast_to", "expand"):
        return _shape_arg(args, first)
    if name in ("flatten", "ravel") and len(args.pos) <= first and not args.kw:
        return (None,)
    if name in ("expand_dims", "unsqueeze") and x.rank is not None:
        return tuple([None] * (x.rank + 1))
    if name in ("transpose", "permute", "swapaxes", "swapdims", "t", "movedim") and x.rank is not None:
        return tuple([None] * x.rank)
    return None


def method(x: Value, name: str, args: Args) -> Value:
    """What `x.name(args)` gives for a Tensor `x`."""
    if name == "item":
        return number(pytype=_number_type(x.dtype), variable=True, sure=x.sure, origin="item")
    if name in HOST:
        return Value(v.EXTERNAL, variable=True, origin="numpy" if name != "tolist" else "tolist", sure=x.sure)
    if name in ("dim", "ndimension"):
        return number(x.rank if x.rank is not None else NOCONST, "int", shape_derived=True)
    if name in ("numel", "nelement", "element_size"):
        return number(pytype="int", shape_derived=True, dynamic=x.dynamic)
    if name == "size":
        return v.unknown
    if name in ("is_floating_point", "is_complex", "is_contiguous", "is_signed", "has_init"):
        return number(pytype="bool")
    return apply(name, x, args)


def _number_type(dtype: Optional[str]) -> Optional[str]:
    if dtype is None:
        return None
    return "bool" if dtype == "bool" else "int" if dtype in INTS else "float"


def attribute(x: Value, name: str) -> Optional[Value]:
    """What `x.name` is for a Tensor `x`, methods aside; None for names that aren't such attributes."""
    if name == "shape":
        if x.shape is not None:
            dims = [
                number(d if d is not None else NOCONST, "int", shape_derived=True, dynamic=x.dynamic)
                for d in x.shape
            ]
            return sequence(v.TUPLE, dims, shape_derived=True, dynamic=x.dynamic)
        length = number(pytype="int", shape_derived=True, dynamic=x.dynamic)
        return Value(v.TUPLE, element=length, shape_derived=True, dynamic=x.dynamic, ref=Ref(), sure=True)
    if name in ("ndim", "rank"):
        return number(x.rank if x.rank is not None else NOCONST, "int", shape_derived=True)
    if name in ("size", "itemsize", "nbytes"):
        total: Any = NOCONST
        if name == "size" and x.shape is not None and all(isinstance(d, int) for d in x.shape):
            total = 1
            for d in x.shape:
                total *= d
        return number(total, "int", shape_derived=True, dynamic=x.dynamic)
    if name == "dtype":
        return Value(v.DTYPE, const=x.dtype if x.dtype is not None else NOCONST)
    if name in ("T", "mT", "H"):
        rank = x.rank
        return tensor(
            x.dtype,
            tuple([None] * rank) if rank is not None else None,
            sure=x.sure,
            ref=Ref(base=x.ref, link="copy"),
        )
    if name in ("real", "imag", "data"):
        return tensor(sure=x.sure, ref=Ref(base=x.ref))
    if name == "strides":
        return Value(v.TUPLE, element=number(pytype="int", shape_derived=True), ref=Ref())
    if name in ("name", "device"):
        return v.string()
    if name in ("requires_grad", "has_init", "is_parameter", "layerwise_parallel", "parallel_optimizer"):
        return number(pytype="bool")
    if name == "grad":
        return v.unknown
    return None


def index(x: Value, key: Value) -> Value:
    """What `x[key]` is for a Tensor `x`."""
    if key.kind == v.NUMBER and not key.variable:
        rank = x.rank - 1 if x.rank else None
        shape = x.shape[1:] if x.shape else None
        return tensor(x.dtype, shape, rank, x.sure, ref=Ref(base=x.ref, link="copy"))
    if key.kind == v.SLICE or (key.kind == v.TUPLE and key.items is not None):
        parts = list(key.items or ()) if key.kind == v.TUPLE else [key]
        if all(p.kind in (v.NUMBER, v.SLICE, v.NONE) for p in parts) and x.rank is not None:
            ints = sum(p.kind == v.NUMBER for p in parts)
            added = sum(p.kind == v.NONE for p in parts)
            if ints <= x.rank:
                return tensor(
                    x.dtype, rank=x.rank - ints + added, sure=x.sure, ref=Ref(base=x.ref, link="copy")
                )
        if key.const is Ellipsis:
            return tensor(x.dtype, x.shape, x.rank, x.sure, ref=Ref(base=x.ref))
        return tensor(x.dtype, sure=x.sure, ref=Ref(base=x.ref, link="copy"))
    if key.kind == v.TENSOR and key.dtype == "bool":
        return tensor(x.dtype, sure=x.sure, dynamic=True)
    return tensor(x.dtype, sure=x.sure)


def nested_shape(data: Any) -> Shape:
    """The shape of a Python number or of nested lists of numbers."""
    if isinstance(data, (list, tuple)):
        inner = nested_shape(data[0]) if data else ()
        return (len(data), *inner) if inner is not None else None
    return ()


def factory(dotted: str, args: Args) -> Value:
    """What `Tensor(...)`, `ms.tensor(...)` or `Parameter(...)` makes of its arguments.

    Its ref is `literal` where the Tensor is a constant of the graph.
    """
    made = _factory(dotted, args)
    if made.ref is not None and not any(a.runtime or a.variable is None for a in args.all()):
        made.ref.literal = True
    return made


def _factory(dotted: str, args: Args) -> Value:
    data = args.get(0, "input_data", "input", "default_input")
    dtype = dtype_of(args.get(1, "dtype")) if not dotted.endswith("Parameter") else None
    parameter = dotted.endswith("Parameter")
    shape_arg = args.get(2, "shape") if not parameter else None
    if data is None or data.kind == v.NONE:
        dims = to_python(shape_arg) if shape_arg is not None else NOCONST
        shape = tuple(dims) if isinstance(dims, (tuple, list)) else None
        dynamic = shape is not None and any(d is None or d == -1 for d in shape)
        shape = (
            tuple(d if isinstance(d, int) and d >= 0 else None for d in shape) if shape is not None else None
        )
        return tensor(dtype, shape, parameter=parameter, dynamic=dynamic)
    if data.kind == v.TENSOR or data.origin == "numpy":
        return tensor(dtype or data.dtype, data.shape, data.rank, parameter=parameter)
    if data.kind == v.NUMBER:
        default = {"int": "int64", "float": "float32", "bool": "bool"}.get(data.dtype or "")
        return tensor(dtype or default, (), parameter=parameter)
    if data.kind in v.SEQUENCES:
        flat = v.element_of(data)
        while flat.kind in v.SEQUENCES:
            flat = v.element_of(flat)
        default = {"int": "int64", "float": "float32", "bool": "bool"}.get(flat.dtype or "")
        return tensor(dtype or default, nested_shape(_skeleton(data)), parameter=parameter)
    return tensor(dtype, parameter=parameter)


def _skeleton(value: Value) -> Any:
    if value.kind in v.SEQUENCES and value.items is not None:
        return [_skeleton(i) for i in value.items]
    return 0
