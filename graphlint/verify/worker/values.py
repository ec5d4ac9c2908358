"""Turns what a run leaves behind (results, arguments, attributes, globals) into plain data that can be
compared elsewhere.

Every value becomes a tuple whose first member is its kind; arrays stay NumPy arrays (large ones are
sampled). The result can be pickled without MindSpore or the user's classes.
"""

from __future__ import annotations

import types
from functools import lru_cache
from typing import Any, Dict, List, Set, Tuple

import numpy as np

from graphlint.verify.worker import framework

LARGE = 1 << 20
_SAMPLE = 1 << 14
_DEPTH = 8
_WIDTH = 4000


def array(value: Any) -> Any:
    """The array itself; of a large one 16384 evenly spread elements and the sum, so that weights stay
    cheap."""
    value = np.asarray(value)
    if value.size <= LARGE:
        return value.copy()
    flat = value.reshape(-1)
    sample = flat[:: max(1, flat.size // _SAMPLE)].copy()
    if np.issubdtype(value.dtype, np.number):
        sample = np.append(sample, flat.sum(dtype=np.float64).astype(sample.dtype, copy=False))
    return sample


def settled(value: Any) -> Tuple[Any, ...]:
    """encode(), after everything that was started has ended; raises what it raised."""
    framework.synchronize()
    _read(value)
    return encode(value)


def _read(value: Any, depth: int = 0) -> None:
    """Ask every Tensor for its values: what failed on the way to them is raised here."""
    if framework.is_tensor(value):
        try:
            framework.to_numpy(value)
        except (TypeError, AttributeError):
            return
    elif isinstance(value, (list, tuple)) and depth < _DEPTH:
        for item in value:
            _read(item, depth + 1)
    elif isinstance(value, dict) and depth < _DEPTH:
        _read(list(value.values()), depth + 1)


def encode(value: Any, depth: int = 0, seen: Tuple[int, ...] = ()) -> Tuple[Any, ...]:
    """Plain data for any value; what can't be looked into becomes its type's name."""
    if value is None:
        return ("none",)
    if isinstance(value, str):
        return ("str", str(value))
    if isinstance(value, (bool, np.bool_)):
        return ("bool", bool(value))
    if isinstance(value, (int, np.integer)) and not hasattr(value, "_value_"):
        return ("int", int(value))
    if isinstance(value, (float, np.floating)):
        return ("float", float(value))
    if isinstance(value, (complex, np.complexfloating)):
        return ("complex", complex(value))
    if framework.is_tensor(value):
        try:
            return (
                "tensor",
                framework.dtype_name(value.dtype),
                tuple(value.shape),
                array(framework.to_numpy(value)),
            )
        except (RuntimeError, ValueError, TypeError, AttributeError) as error:
            return ("opaque", f"Tensor ({type(error).__name__})")
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return ("opaque", "ndarray of objects")
        return ("array", str(value.dtype), value.shape, array(value))
    if depth > _DEPTH or id(value) in seen:
        return ("opaque", type(value).__name__)
    seen = (*seen, id(value))
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return (kind, [encode(item, depth + 1, seen) for item in value[:_WIDTH]], len(value))
    if isinstance(value, dict) or (
        hasattr(value, "items") and hasattr(value, "keys") and not isinstance(value, type)
    ):
        try:
            items = list(value.items())[:_WIDTH]
        except (TypeError, RuntimeError):
            return ("opaque", type(value).__name__)
        return ("dict", {_key(k): encode(v, depth + 1, seen) for k, v in items})
    if isinstance(value, (set, frozenset)):
        return ("set", sorted(repr(item) for item in value))
    if isinstance(value, (bytes, bytearray)):
        return ("str", bytes(value).decode("latin-1"))
    if framework.is_cell(value):
        return ("cell", type(value).__name__, attributes(value, depth + 1, seen))
    if isinstance(
        value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)
    ):
        return ("opaque", getattr(value, "__name__", "") or type(value).__name__)
    if hasattr(value, "_value_") and hasattr(value, "_name_"):
        return ("str", str(value))
    if (type(value).__module__ or "").split(".")[0] in (
        "mindspore",
        "numpy",
        "builtins",
        "_io",
        "threading",
        "logging",
    ):
        return ("opaque", type(value).__name__)
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict):
        members = {str(k): encode(v, depth + 1, seen) for k, v in list(own.items())[:200]}
        return ("object", type(value).__name__, members)
    return ("opaque", type(value).__name__)


def _key(key: Any) -> str:
    if isinstance(key, (str, int, float, bool, tuple)) or key is None:
        return repr(key)
    return f"<{type(key).__name__}>"


_BUILT: Dict[int, frozenset] = {}


def remember(net: Any) -> None:
    """Note which attributes each Cell has before its first call: what comes later may be MindSpore's own."""
    _BUILT.clear()
    for _, cell in framework.sub_cells(net):
        _BUILT[id(cell)] = frozenset(cell.__dict__)


@lru_cache(maxsize=256)
def names_in_code(cls: type) -> frozenset:
    """Every name and text in the methods of a class and its bases outside MindSpore."""
    found: Set[str] = set()
    stack = [
        member.__code__
        for base in cls.__mro__
        if not framework.is_framework(base)
        for member in vars(base).values()
        if isinstance(member, types.FunctionType)
    ]
    while stack:
        code = stack.pop()
        found.update(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, str):
                found.add(constant)
            elif isinstance(constant, types.CodeType):
                stack.append(constant)
    return frozenset(found)


def _is_users(net: Any, name: str) -> bool:
    built = _BUILT.get(id(net))
    if name in framework.plain_attributes() or name.startswith("__"):
        return False
    return built is None or name in built or name in names_in_code(type(net))  # type: ignore[arg-type]


def attributes(net: Any, depth: int = 0, seen: Tuple[int, ...] = ()) -> Dict[str, Any]:
    """The user's own attributes of a Cell; of sub-Cells too, where their class is the user's."""
    found: Dict[str, Any] = {}
    for name, value in list(net.__dict__.items()):
        if not _is_users(net, name) or framework.is_parameter(value):
            continue
        if framework.is_cell(value) and framework.is_framework(type(value)):
            continue
        found[name] = encode(value, depth + 1, seen)
    for name, child in list(getattr(net, "_cells", {}).items()):
        users = child is not None and not framework.is_framework(type(child))
        if users and id(child) not in seen and depth <= _DEPTH:
            found[name] = ("cell", type(child).__name__, attributes(child, depth + 1, (*seen, id(child))))
    return found


def parameters(net: Any) -> Dict[str, Any]:
    """Every Parameter by its name."""
    found: Dict[str, Any] = {}
    for name, parameter in net.parameters_and_names():
        if getattr(parameter, "has_init", False):
            continue
        found[name] = encode(parameter)
    return found


def module_globals(modules: List[Any]) -> Dict[str, Any]:
    """The data (no functions, classes, modules, Cells) that the user's modules hold at their top level."""
    found: Dict[str, Any] = {}
    for module in modules:
        for name, value in list(vars(module).items()):
            if name.startswith("__") or isinstance(value, (types.ModuleType, types.FunctionType, type)):
                continue
            if framework.is_cell(value) or (callable(value) and not hasattr(value, "__dict__")):
                continue
            encoded = encode(value)
            if encoded[0] != "opaque":
                found[f"{module.__name__}.{name}"] = encoded
    return found


def fresh(value: Any) -> Any:
    """A copy for one call: new Tensors with the same values, containers rebuilt, everything else as it is."""
    if framework.is_parameter(value):
        return value
    if framework.is_tensor(value):
        try:
            copied = framework.ms.Tensor(framework.to_numpy(value), value.dtype)
            return framework.ms.mutable(copied) if getattr(value, "__ms_mutable__", False) else copied
        except (RuntimeError, TypeError, ValueError):
            return value
    if type(value) in (list, tuple):
        return type(value)(fresh(item) for item in value)
    if type(value) is dict:
        return {key: fresh(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.copy()
    if getattr(value, "__ms_mutable__", False) and isinstance(value, (list, tuple, dict)):
        if isinstance(value, dict):
            return framework.ms.mutable({key: fresh(item) for key, item in value.items()})
        return framework.ms.mutable(type(value)(fresh(item) for item in list(value)))
    return value


def signature(arguments: Any) -> str:
    """What a compilation may rightly depend on: types and shapes of Tensors, not the values of scalars."""
    if framework.is_tensor(arguments):
        return f"{arguments.dtype}{tuple(arguments.shape)}"
    if isinstance(arguments, (list, tuple)):
        return "(" + ",".join(signature(item) for item in arguments) + ")"
    if isinstance(arguments, dict):
        return "{" + ",".join(f"{key}:{signature(item)}" for key, item in arguments.items()) + "}"
    return type(arguments).__name__
