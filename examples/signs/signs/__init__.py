"""A small traffic-sign detector, ported from PyTorch."""

from signs.detector import SignDetector

__all__ = ["SignDetector"]
