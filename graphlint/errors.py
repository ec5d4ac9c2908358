"""The errors that end a command with one line: wrong usage (exit 2), work that can't be done (exit 3)."""

from __future__ import annotations

import difflib
from typing import Iterable


class GraphlintError(Exception):
    """An error whose text is written for the user; `exit_code` is what the command returns."""

    exit_code = 3


class UsageError(GraphlintError):
    """Wrong options or arguments, or a PATH that doesn't exist."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration file that says something graphlint doesn't know."""


class WorkError(GraphlintError):
    """The work could not be done here: no MindSpore, no such device, out of time."""

    exit_code = 3


def nearest(word: str, known: Iterable[str]) -> str:
    """The member of `known` that looks most like `word`, or the empty string."""
    candidates = list(known)
    folded = {name.casefold(): name for name in candidates}
    close = difflib.get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.5)
    return folded[close[0]] if close else ""
