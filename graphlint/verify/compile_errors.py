"""Reads the user's file and line out of a compile error's text.

Read off 2.7 and 2.10 (facts/compiler_front_end.md in short): frames stand as `In file PATH:LINE[~LINE][,
COL~COL]`, with or without `#` and a number, mostly after "The Traceback of Net Construct Code:". Inference
errors list the call chain, outer first, numbered; parse errors the definition and then the statement, or
only the call site of the helper that holds it; joins name the last assignment of each branch before that
heading.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple

_HEADING = "The Traceback of Net Construct Code:"
_FRAME = re.compile(
    r"(#?\s*\d*\s*)In file (?P<path>[^\n:]+?):(?P<line>\d+)(?:~(?P<end>\d+))?(?:, (?P<c1>\d+)~(?P<c2>\d+))?"
)
_UNSUPPORTED = re.compile(r"Unsupported (?:statement|expression) '")
_JOIN = re.compile(
    r"[Jj]oin|not defined in (?:true|false) branch|cannot be used outside"
    r"|[Bb]ranch(?:es)?\b.*(?:type|shape|abstract)"
)


@dataclass(frozen=True)
class Frame:
    """One place that the compiler names; `end` is the last line of the statement."""

    path: str
    line: int
    end: int
    numbered: bool = False

    def meets(self, path: str, line: int, end: int) -> bool:
        return same_file(self.path, path) and self.line <= end and line <= self.end


@dataclass(frozen=True)
class Refusal:
    """A compile error, read: `frames` of the user's files, outermost first; `culprits` the ones that count.

    `parse` where the parser refused a statement (then a culprit may be only the call site of a helper),
    `join` where branches didn't fit together (then the culprits lie inside the `if` that is to blame).
    """

    type: str
    message: str
    frames: Tuple[Frame, ...]
    culprits: Tuple[Frame, ...]
    parse: bool = False
    join: bool = False


def same_file(first: str, second: str) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)


def read(error: Mapping[str, Any], package: str, renamed: Optional[Mapping[str, str]] = None) -> Refusal:
    """From worker/run.py's `error`. Frames inside `package` (MindSpore) are dropped; `renamed` maps
    rewritten copies back to the files that they stand for."""
    message = str(error.get("message", ""))
    before, _, after = message.partition(_HEADING)
    late = _frames(after, package, renamed or {})
    early = _frames(before, package, renamed or {})
    join = bool(_JOIN.search(before))
    frames = late or early
    culprits: List[Frame] = []
    if early and (join or not late):
        culprits = list(early)
    elif late:
        culprits = [late[-1]]
    if not culprits and not frames:
        culprits = _from_python(error, package, renamed or {})
        frames = list(culprits)
    return Refusal(
        str(error.get("type", "")),
        message,
        tuple(frames),
        tuple(culprits),
        bool(_UNSUPPORTED.search(before)),
        join,
    )


def _frames(text: str, package: str, renamed: Mapping[str, str]) -> List[Frame]:
    found = []
    for match in _FRAME.finditer(text):
        path = match.group("path").strip()
        if package and path.startswith(package):
            continue
        path = _original(path, renamed)
        line = int(match.group("line"))
        numbered = any(character.isdigit() for character in match.group(1))
        found.append(Frame(path, line, int(match.group("end") or line), numbered))
    return found


def _original(path: str, renamed: Mapping[str, str]) -> str:
    return renamed.get(path) or renamed.get(os.path.realpath(path)) or path


def _from_python(error: Mapping[str, Any], package: str, renamed: Mapping[str, str]) -> List[Frame]:
    """The innermost Python frame in the user's code, where the exception came from executing it (fallback
    nodes)."""
    frames: List[Dict[str, Any]] = list(error.get("frames", []))
    found: List[Frame] = []
    for path, line, _name in reversed(frames):
        if (
            (package and str(path).startswith(package))
            or "graphlint/verify/worker" in str(path)
            or str(path).startswith("<")
        ):
            continue
        found.append(Frame(_original(str(path), renamed), int(line), int(line)))
        break
    return found
