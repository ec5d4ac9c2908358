"""How far a long run is, on a terminal's standard error."""

from __future__ import annotations

import time
from typing import IO, Any

from graphlint.lang import say

_PATIENCE = 0.7
_INTERVAL = 0.1


class Progress:
    """Called with (done, total) while files are read; writes one line that it wipes at the end.

    Says nothing where `stream` is no terminal, and nothing in the first moments.
    """

    def __init__(self, stream: IO[Any], lang: str) -> None:
        self._stream = stream
        self._lang = lang
        self._on = stream.isatty()
        self._next = time.monotonic() + _PATIENCE
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._on or now < self._next:
            return
        self._next = now + _INTERVAL
        text = say("progress", self._lang, done=done, total=total)
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = max(self._width, len(text))

    def __exit__(self, *_: object) -> None:
        if self._width:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
