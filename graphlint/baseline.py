"""The baseline: known findings by rule, file, scope and source text, never by line; only new ones count.

A finding is known as long as its text occurs no more often in its scope than the baseline says. An entry that
matches nothing any more is stale, and is reported.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from graphlint.config import Settings, relative_path
from graphlint.errors import ConfigError, WorkError
from graphlint.finding import CheckResult, Finding
from graphlint.lang import say

DEFAULT_NAME = "graphlint-baseline.json"
_VERSION = 1
_LONGEST = 120


class Entry(NamedTuple):
    """What a known finding is known by; `path` is relative to the project root, `text` normalized."""

    path: str
    rule: str
    scope: str
    text: str


Known = Dict[Entry, int]
"""How often each entry may occur."""


def entry_of(finding: Finding, root: str) -> Entry:
    """The entry that stands for a finding; long texts are cut, with a digest of the whole."""
    text = " ".join(finding.text.split())
    if len(text) > _LONGEST:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        text = f"{text[:_LONGEST]}… {digest}"
    return Entry(relative_path(finding.path, root), finding.code, finding.symbol, text)


def location(settings: Settings) -> str:
    """The baseline's file: the configured one, else the default name in the project root."""
    return settings.baseline or os.path.join(os.path.relpath(settings.root), DEFAULT_NAME)


def read(path: str, lang: str) -> Known:
    """The entries of a baseline file; raises ConfigError where it isn't there or isn't one."""
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
        if data["version"] != _VERSION:
            raise ValueError(f"version {data['version']}")
        known: Known = {}
        for row in data["findings"]:
            entry = Entry(row["path"], row["rule"], row["scope"], row["text"])
            count = row.get("count", 1)
            if not all(isinstance(part, str) for part in entry) or type(count) is not int or count < 1:
                raise ValueError(f"not an entry: {row}"[:_LONGEST])
            known[entry] = known.get(entry, 0) + count
        return known
    except FileNotFoundError as error:
        raise ConfigError(say("no-baseline", lang, path=path)) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(say("bad-baseline", lang, path=path, detail=detail)) from error


def write(path: str, known: Known) -> None:
    """Writes the file, one line an entry, in a fixed order; raises WorkError where it can't be written."""
    rows = []
    for entry, count in sorted(known.items()):
        row: Dict[str, Any] = {**entry._asdict(), "count": count}
        rows.append("  " + json.dumps(row, ensure_ascii=False))
    head = f'{{"version": {_VERSION}, "findings": ['
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.write("\n".join([head, ",\n".join(rows), "]}\n"]) if rows else head + "]}\n")
    except OSError as error:
        raise WorkError(f"{path}: {error.strerror or error}") from error


def collect(findings: Iterable[Finding], root: str) -> Known:
    """The entries that would make all these findings known."""
    return dict(Counter(entry_of(finding, root) for finding in findings))


def subtract(result: CheckResult, settings: Settings, shown: Sequence[str]) -> None:
    """Takes the known findings out of `result`, and fills its `known` and `stale`.

    An entry is stale where its file was read, or is gone, and less of it was found than it allows.
    Raises ConfigError where the baseline can't be read.
    """
    if settings.baseline is None:
        return
    left = read(settings.baseline, settings.lang)
    fresh: List[Finding] = []
    for finding in result.findings:
        entry = entry_of(finding, settings.root)
        if left.get(entry, 0) > 0:
            left[entry] -= 1
        else:
            fresh.append(finding)
    result.known = len(result.findings) - len(fresh)
    result.findings = fresh
    result.stale = stale(left, settings, shown, {error.path for error in result.errors})


def stale(left: Known, settings: Settings, shown: Sequence[str], unread: Set[str]) -> List[Tuple[Entry, int]]:
    """The entries that allow more than was found, with how many more; those of files not read don't count."""
    read_files = {relative_path(path, settings.root) for path in shown if path not in unread}
    found = []
    for entry, count in sorted(left.items()):
        gone = not os.path.exists(os.path.join(settings.root, entry.path))
        if count > 0 and (entry.path in read_files or gone) and settings.selects(entry.rule, path=entry.path):
            found.append((entry, count))
    return found


def merged(
    known: Optional[Known], findings: Known, settings: Settings, shown: Sequence[str], prune: bool
) -> Known:
    """The new baseline: `known` for files that weren't checked, what was found for those that were.

    With `prune`, nothing is added: an entry stays as far as it was known and still occurs.
    """
    checked = {relative_path(path, settings.root) for path in shown}
    result: Known = {}
    for entry, count in (known or {}).items():
        exists = os.path.exists(os.path.join(settings.root, entry.path))
        off = not settings.selects(entry.rule, path=entry.path)
        if exists and (entry.path not in checked or off):
            result[entry] = count
    for entry, count in findings.items():
        allowed = count if not prune else min(count, (known or {}).get(entry, 0))
        if allowed:
            result[entry] = allowed
    return result
