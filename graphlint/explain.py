"""From an error text of the graph compiler to the rule and the rewrite (table: knowledge/errors.json)."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Dict, List, NamedTuple, Pattern, Tuple

_TABLE = Path(__file__).parent / "knowledge" / "errors.json"
_PLACE = re.compile(r"(?P<path>[^\s\"':,]+\.(?:py|ipynb))(?:\", line |:)(?P<line>\d+)(?:~(?P<last>\d+))?")
_NOT_THE_USERS = re.compile(
    r"[\\/](?:site-packages|dist-packages)[\\/]|[\\/]mindspore[\\/](?:nn|ops|common|train)[\\/]"
)


class Explanation(NamedTuple):
    """One row that fits: the rules that find its cause, the likeliest first; the rewrite; its text."""

    rules: Tuple[str, ...]
    rewrite: str
    matched: str
    start: int


class Place(NamedTuple):
    """A place in the user's code that the error names, both lines included."""

    path: str
    line: int
    last: int


@lru_cache(maxsize=1)
def _table() -> List[Tuple[Pattern[str], Tuple[str, ...], str, str]]:
    rows = json.loads(_TABLE.read_text(encoding="utf-8"))["errors"]
    return [(re.compile(row["pattern"]), tuple(row["rules"]), row["en"], row["zh"]) for row in rows]


def explain(text: str, lang: str = "en") -> List[Explanation]:
    """What the error text says, the most specific first; empty where the table has nothing for it."""
    joined = " ".join(text.split())
    found: List[Explanation] = []
    spans: List[Tuple[int, int]] = []
    for pattern, rules, english, chinese in _table():
        match = pattern.search(joined)
        if match is None or any(match.start() < end and start < match.end() for start, end in spans):
            continue
        spans.append(match.span())
        found.append(Explanation(rules, chinese if lang == "zh" else english, match[0], match.start()))
    return found


def places(text: str) -> List[Place]:
    """The places that the text names in the user's own files, each once, in order."""
    found: Dict[Place, None] = {}
    for match in _PLACE.finditer(text):
        if not _NOT_THE_USERS.search(match["path"]):
            line = int(match["line"])
            found[Place(match["path"], line, int(match["last"] or line))] = None
    return list(found)
