"""Limits that a child puts on itself before any user code runs. Linux first; what a system lacks is left
out."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from typing import Any, Dict

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent` ends; ends it now where that has already happened."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(113)


def adopt_orphans() -> None:
    """Grandchildren whose parent dies come to this process, not to init, so that it can end them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _set(kind: int, value: int) -> None:
    try:
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))
    except (ValueError, OSError):
        pass


def apply(limits: Dict[str, Any]) -> None:
    """`memory_mb` (address space, measured as compatible with MindSpore at 8192), `cpu_seconds`, `file_mb`;
    no core files.

    A child that writes a larger file dies by SIGXFSZ: Python ignores that signal, which would let an
    endless print look like an error of the user's code.
    """
    _set(resource.RLIMIT_CORE, 0)
    if limits.get("memory_mb"):
        _set(resource.RLIMIT_AS, int(limits["memory_mb"]) << 20)
    if limits.get("cpu_seconds"):
        _set(resource.RLIMIT_CPU, int(limits["cpu_seconds"]))
    if limits.get("file_mb"):
        _set(resource.RLIMIT_FSIZE, int(limits["file_mb"]) << 20)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
