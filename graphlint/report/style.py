"""Colour for terminals, or none."""

from __future__ import annotations

import os
from typing import IO, Any, Mapping, Optional

_SEVERITY = {"error": "1;31", "warning": "1;33", "info": "1;36"}


class Style:
    """Wraps text in terminal colours where `color` is true, and gives it back as it is elsewhere."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def severity(self, severity: str, text: str) -> str:
        """Text in the colour of `error`, `warning` or `info`."""
        return self._paint(_SEVERITY[severity], text)

    def strong(self, text: str) -> str:
        """Bold text."""
        return self._paint("1", text)

    def margin(self, text: str) -> str:
        """The frame around source lines."""
        return self._paint("34", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text


def wants_color(stream: IO[Any], environment: Optional[Mapping[str, str]] = None) -> bool:
    """Colour on a terminal only, never with NO_COLOR, always with FORCE_COLOR."""
    variables = os.environ if environment is None else environment
    if variables.get("NO_COLOR"):
        return False
    if variables.get("FORCE_COLOR"):
        return True
    return stream.isatty() and variables.get("TERM") != "dumb"
