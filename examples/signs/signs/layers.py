"""Building blocks of the detector."""

import functools
import random

import mindspore.nn as nn
from mindspore import ops


def channels_checked(method):
    """Doubles as documentation: a layer that gets the wrong number of channels says so."""

    @functools.wraps(method)
    def wrapper(self, x):
        if x.shape[1] != self.channels_in:
            raise ValueError(f"expected {self.channels_in} channels, got {x.shape[1]}")
        return method(self, x) * self.gain

    return wrapper


class ConvBlock(nn.Cell):
    """Convolution, batch normalization, SiLU."""

    def __init__(self, channels_in, channels_out, kernel=3, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel, stride, pad_mode="pad", padding=kernel // 2)
        self.norm = nn.BatchNorm2d(channels_out)

    def construct(self, x):
        x = self.norm(self.conv(x))
        return x * ops.sigmoid(x)


class DropPath(nn.Cell):
    """Skips the residual branch of a whole batch now and then (stochastic depth)."""

    def __init__(self, probability):
        super().__init__()
        self.probability = probability

    def construct(self, x):
        if self.training and random.random() < self.probability:
            return ops.zeros_like(x)
        return x


class Residual(nn.Cell):
    """Two convolutions and a shortcut."""

    def __init__(self, channels, drop=0.1):
        super().__init__()
        self.channels_in = channels
        self.gain = 0.5
        self.first = ConvBlock(channels, channels, 1)
        self.second = ConvBlock(channels, channels)
        self.drop_path = DropPath(drop)

    @channels_checked
    def branch(self, x):
        return self.drop_path(self.second(self.first(x)))

    def construct(self, x):
        return x + self.branch(x)
