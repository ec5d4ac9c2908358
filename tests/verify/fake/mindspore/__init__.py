"""A stand-in for MindSpore with just enough to drive the workers: NumPy underneath, every device accepted.

FAKE_DEVICE makes `get_context("device_target")` say something else than what was asked for, as MindSpore
does after a fork on Ascend. "Compiling" runs the Python code; a construct whose docstring says `refused` is
refused.
"""

import os

import numpy as np

__version__ = "2.7.0"
PYNATIVE_MODE, GRAPH_MODE, STRICT, LAX = 1, 0, 0, 2
_CONTEXT = {"mode": PYNATIVE_MODE, "device_target": "CPU", "device_id": 0}


class DType(str):
    pass


float32, float16, int32, bool_ = DType("Float32"), DType("Float16"), DType("Int32"), DType("Bool")


class Tensor:
    def __init__(self, data, dtype=None):
        self.data = np.asarray(data.data if isinstance(data, Tensor) else data)
        self.dtype = dtype or DType(str(self.data.dtype).capitalize())
        self.shape = self.data.shape

    def asnumpy(self):
        return self.data

    def __add__(self, other):
        return Tensor(self.data + (other.data if isinstance(other, Tensor) else other))


class Parameter(Tensor):
    pass


def set_context(**values):
    _CONTEXT.update(values)


def get_context(name):
    if name == "device_target":
        return os.environ.get("FAKE_DEVICE", _CONTEXT[name])
    return _CONTEXT[name]


def set_device(target, device_id=0):
    if target == "Ascend" and device_id > 7:
        raise RuntimeError("Device 8 call rtSetDevice failed, ret[107001]")
    _CONTEXT.update(device_target=target, device_id=device_id)


def set_seed(seed):
    pass


def mutable(value):
    return value


from . import nn, ops  # noqa: E402, F401
