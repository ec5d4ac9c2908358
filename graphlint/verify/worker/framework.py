"""The one seam to MindSpore: its versions' differences live here and nowhere else.

Importing this module imports MindSpore. Measured on 2.0.0, 2.6.0.dev, 2.7.0, 2.8.0, 2.9.0 and 2.10.0 unless
a line says otherwise.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, Callable, Dict, Iterator, List

os.environ.setdefault("MS_DEV_FALLBACK_DUMP_NODE", "1")  # real from 2.6 on; must stand before the import
os.environ.setdefault("GLOG_v", "3")

import mindspore
import mindspore.nn

ms: Any = mindspore
nn: Any = mindspore.nn
VERSION = getattr(ms, "__version__", "0")
_KEY = tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in VERSION.split(".")[:3])


def describe() -> Dict[str, Any]:
    """Versions of what was imported, for the preflight and every record."""
    import numpy

    return {
        "mindspore": VERSION,
        "numpy": numpy.__version__,
        "python": sys.version.split()[0],
        "package": os.path.dirname(ms.__file__),
    }


def numpy_fits() -> bool:
    """False for NumPy 2 under MindSpore up to 2.10: there every PyNative operation fails while graphs
    compile."""
    import numpy

    return int(numpy.__version__.split(".")[0]) < 2


class Counts:
    """Compilations in this process, and whether one is under way."""

    def __init__(self) -> None:
        self.compilations = 0
        self.compiling = 0
        self.seconds = 0.0


COUNTS = Counts()


class _CountingExecutor:
    """Stands before MindSpore's C++ executor; counts its compile()."""

    def __init__(self, real: Any) -> None:
        self.__dict__["_real"] = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._real(*args, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        import time

        COUNTS.compilations += 1
        COUNTS.compiling += 1
        began = time.perf_counter()
        result = self._real.compile(*args, **kwargs)
        COUNTS.seconds += time.perf_counter() - began
        COUNTS.compiling -= 1  # stays up where compile raised: the stage of an error is read from it
        return result


def count_compilations() -> None:
    """Have COUNTS follow every compilation of Cells and of jit functions in this process."""
    api = _api()
    if api is None:
        return
    cell_executor = api._cell_graph_executor
    if not isinstance(cell_executor._graph_executor, _CountingExecutor):
        cell_executor._graph_executor = _CountingExecutor(cell_executor._graph_executor)
    real = getattr(api, "GraphExecutor_", None)
    if real is not None and not getattr(real, "graphlint", False):

        class Factory:
            graphlint = True

            @staticmethod
            def get_instance() -> Any:
                return _CountingExecutor(real.get_instance())  # type: ignore[union-attr]

        api.GraphExecutor_ = Factory


def use_device(device: str, device_id: int) -> str:
    """Choose the device; returns what MindSpore says afterwards. Raises what MindSpore raises for a device
    it lacks.

    `set_device` came with 2.5; older versions take `set_context(device_target=, device_id=)`.
    """
    if hasattr(ms, "set_device"):
        if device == "CPU":
            ms.set_device("CPU")
        else:
            ms.set_device(device, device_id)
    elif device == "CPU":
        ms.set_context(device_target="CPU")
    else:
        ms.set_context(device_target=device, device_id=device_id)
    return current_device()


def current_device() -> str:
    return str(ms.get_context("device_target"))


def use_mode(mode: str, level: str) -> None:
    """`pynative`, where the user's jit decorators do nothing, or `graph` at the JIT syntax level."""
    if mode == "pynative":
        _user_jit_off(True)
        ms.set_context(mode=ms.PYNATIVE_MODE)
        return
    _user_jit_off(False)
    ms.set_context(mode=ms.GRAPH_MODE)
    os.environ["MS_DEV_JIT_SYNTAX_LEVEL"] = "0" if level == "strict" else "2"
    with contextlib.suppress(ValueError, TypeError, AttributeError):
        ms.set_context(jit_syntax_level=ms.STRICT if level == "strict" else ms.LAX)


class _Environment:
    """The `os` module for MindSpore's jit wrapper, which asks `os.getenv("MS_JIT")` on every call.

    MS_JIT=0 for the whole process would break what MindSpore itself compiles in PyNative (vmap recurses
    endlessly).
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    @staticmethod
    def getenv(name: str, default: Any = None) -> Any:
        if name == "MS_JIT":
            function = sys._getframe(1).f_locals.get("func")
            module = getattr(function, "__module__", "") or ""
            if function is not None and module.split(".")[0] != "mindspore":
                return "0"
        return os.getenv(name, default)


def _api() -> Any:
    for name in ("mindspore.graph.api", "mindspore.common.api"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "_cell_graph_executor"):
            return module
    return None


def _user_jit_off(off: bool) -> None:
    api = _api()
    if api is not None:
        api.os = _Environment() if off else os


def as_jit(function: Callable[..., Any], level: str) -> Callable[..., Any]:
    """`function` compiled as graph code; one that a jit decorator already wrapped is used as it stands."""
    if is_jit(function):
        return function
    made: Callable[..., Any] = ms.jit(function)
    return made


def is_jit(function: Any) -> bool:
    """True for what `ms.jit` returned: a wrapper that MindSpore's own files define."""
    code = getattr(function, "__code__", None)
    return hasattr(function, "__wrapped__") and code is not None and "mindspore" in code.co_filename


def synchronize() -> None:
    """Raise what an operation still under way in PyNative raises: errors of shape come late there."""
    executor = getattr(_api(), "_pynative_executor", None)
    if executor is not None and hasattr(executor, "sync"):
        executor.sync()


def set_seed(seed: int) -> None:
    import random

    import numpy

    ms.set_seed(seed)
    random.seed(1)
    numpy.random.seed(1)


def is_tensor(value: Any) -> bool:
    return isinstance(value, ms.Tensor)


def is_cell(value: Any) -> bool:
    return isinstance(value, nn.Cell)


def is_parameter(value: Any) -> bool:
    return isinstance(value, ms.Parameter)


def to_numpy(tensor: Any) -> Any:
    """The values; bfloat16, which NumPy lacks, as float32."""
    if "BFloat16" in str(tensor.dtype) or "bfloat16" in str(tensor.dtype):
        tensor = tensor.astype(ms.float32)
    return tensor.asnumpy()


def dtype(name: str) -> Any:
    """MindSpore's dtype by its name (`float32`, `bool`, `int64`). Raises AttributeError for a name it
    lacks."""
    return getattr(ms, "bool_" if name in ("bool", "bool_") else name)


def dtype_name(value: Any) -> str:
    return str(value).lower().replace("bool_", "bool")


_LAYERS = ("Conv1d", "Conv2d", "Conv3d", "Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose", "Dense")


@contextlib.contextmanager
def layers_made() -> Iterator[Dict[str, bool]]:
    """While this holds, {"file:line": has_bias} fills with the layers that user code makes, by that line."""
    made: Dict[str, bool] = {}
    package = os.path.dirname(ms.__file__)
    originals = {name: getattr(nn, name).__init__ for name in _LAYERS if hasattr(nn, name)}

    def wrapped(original: Any) -> Any:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            frame: Any = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename.startswith(package):
                frame = frame.f_back
            has = getattr(self, "has_bias", None)
            if frame is not None and isinstance(has, bool):
                key = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                made[key] = made.get(key, True) and has

        return init

    for name, original in originals.items():
        getattr(nn, name).__init__ = wrapped(original)
    try:
        yield made
    finally:
        for name, original in originals.items():
            getattr(nn, name).__init__ = original


_SET_LATER = frozenset({"current_phase", "sequence_modified", "_func_graph_flags", "_cell_init_args"})
"""Attributes that MindSpore gives a Cell when it is called or compiled (read off 2.0.0 to 2.10.0)."""
_PLAIN: frozenset = frozenset()


def plain_attributes() -> frozenset:
    """The attributes of a bare Cell: MindSpore's own, which differ between the modes and prove nothing."""
    global _PLAIN
    if not _PLAIN:
        _PLAIN = frozenset(nn.Cell().__dict__) | _SET_LATER
    return _PLAIN


def is_framework(cls: type) -> bool:
    return (getattr(cls, "__module__", "") or "").split(".")[0] == "mindspore"


def sub_cells(net: Any) -> List[Any]:
    """(name, Cell) of the Cell and all below it."""
    return list(net.cells_and_names())
