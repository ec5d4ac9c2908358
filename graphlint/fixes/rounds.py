"""The rounds of `--fix`: check, take the rewrites that don't meet, apply them, and again until nothing
changes.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections import Counter
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from graphlint import engine
from graphlint.config import Settings
from graphlint.engine.store import Store
from graphlint.finding import Applicability, CheckResult, Edit, Finding
from graphlint.fixes.edits import apply_edits, apply_to_notebook, fits
from graphlint.source import SourceError, SourceFile

MAX_ROUNDS = 100
"""More rounds than any file needs: each takes at least one rewrite for every function that has some."""

Stdin = Optional[Tuple[str, str]]
Key = Tuple[str, str, str, str]
Place = Tuple[str, str, str]


class Change(NamedTuple):
    """One file before and after its rewrites."""

    path: str
    before: bytes
    after: bytes


class Outcome(NamedTuple):
    """What a check finds after the rewrites, the files that change, and how many rewrites were made."""

    result: CheckResult
    changes: Sequence[Change]
    fixed: int


def run(paths: Sequence[str], settings: Settings, stdin: Stdin = None) -> Outcome:
    """Makes all rewrites that the settings allow, in memory. The same call on its result changes nothing."""
    state = _Files(settings, stdin)
    refused: Set[Key] = set()
    fixed = 0
    store = Store(None)
    result = engine.check(paths, settings, stdin=stdin, store=store)
    idle: Set[str] = set()
    for _ in range(MAX_ROUNDS):
        taken = _choose([f for f in result.findings if f.fingerprint not in idle], settings, refused)
        if not any(taken.values()):
            break
        made: List[Finding] = []
        for path, findings in taken.items():
            done, failed = state.apply(path, findings)
            made += done
            refused.update(_key(f) for f in failed)
        fixed += len(made)
        if made:
            before = Counter(_place(f) for f in result.findings)
            result = engine.check(paths, settings, stdin=stdin, given=state.given(), store=store)
            after = Counter(_place(f) for f in result.findings)
            left = {f.fingerprint for f in result.findings}
            idle.update(
                f.fingerprint for f in made if f.fingerprint in left and after[_place(f)] >= before[_place(f)]
            )
    return Outcome(result, state.changes(), fixed)


def applies(finding: Finding, settings: Settings) -> bool:
    """True where the settings let the finding's rewrite be made."""
    if finding.fix is None or not finding.fix.edits:
        return False
    kind = finding.fix.applicability
    return kind is Applicability.SAFE or (settings.unsafe_fixes and kind is Applicability.UNSAFE)


def _choose(findings: Iterable[Finding], settings: Settings, refused: Set[Key]) -> Dict[str, List[Finding]]:
    """The rewrites of one round by file: in a function either one that has several edits, or several of one
    each.
    """
    taken: Dict[str, List[Finding]] = {}
    edits: Dict[str, List[Edit]] = {}
    busy: Dict[Tuple[str, str], bool] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or not applies(finding, settings) or _key(finding) in refused:
            continue
        scope = (finding.path, finding.symbol.split(".")[0])
        several = len(fix.edits) > 1
        if scope in busy and (several or busy[scope]):
            continue
        shifted = _in_file(finding)
        accepted = edits.setdefault(finding.path, [])
        if fits(shifted, accepted):
            accepted.extend(shifted)
            busy[scope] = several
            taken.setdefault(finding.path, []).append(finding)
    return taken


def _place(finding: Finding) -> Place:
    """Rule and function: a rewrite that leaves as many findings as before isn't tried again at the same
    text.
    """
    return finding.code, finding.path, finding.symbol


def _key(finding: Finding) -> Key:
    fix = finding.fix
    return finding.code, finding.path, finding.symbol, repr(fix.edits if fix is not None else "")


def _in_file(finding: Finding) -> List[Edit]:
    """The edits of a finding; for a notebook the cell is put into the line, so that cells don't meet."""
    assert finding.fix is not None
    shift = (finding.cell or 0) * 10_000_000
    return [
        Edit(e.line + shift, e.column, e.end_line + shift, e.end_column, e.text) for e in finding.fix.edits
    ]


class _Files:
    """The files as the rewrites leave them."""

    def __init__(self, settings: Settings, stdin: Stdin) -> None:
        self.settings = settings
        self.stdin = stdin
        self.before: Dict[str, bytes] = {}
        self.after: Dict[str, bytes] = {}
        self.states: Dict[str, Set[int]] = {}

    def given(self) -> Dict[str, bytes]:
        return dict(self.after)

    def changes(self) -> List[Change]:
        return [
            Change(p, self.before[p], after) for p, after in self.after.items() if after != self.before[p]
        ]

    def _read(self, path: str) -> bytes:
        if path not in self.after:
            if self.stdin is not None and os.path.realpath(path) == os.path.realpath(self.stdin[0]):
                data = self.stdin[1].encode("utf-8", "surrogatepass")
            else:
                with open(path, "rb") as stream:
                    data = stream.read()
            self.before[path] = self.after[path] = data
            self.states[path] = {hash(data)}
        return self.after[path]

    def apply(self, path: str, findings: Sequence[Finding]) -> Tuple[List[Finding], List[Finding]]:
        """Applies the rewrites of these findings to one file; gives those that it took and those that it
        refused.
        """
        data = self._read(path)
        attempt = self._attempt(path, data, findings)
        taken: List[Finding] = list(findings)
        failed: List[Finding] = []
        if attempt is None:
            taken, attempt = [], data
            for finding in findings:
                tried = self._attempt(path, data, [*taken, finding])
                if tried is None:
                    failed.append(finding)
                else:
                    taken.append(finding)
                    attempt = tried
        if hash(attempt) in self.states[path]:
            return [], list(findings)
        self.states[path].add(hash(attempt))
        self.after[path] = attempt
        return taken, failed

    def _attempt(self, path: str, data: bytes, findings: Sequence[Finding]) -> Optional[bytes]:
        """The file after these rewrites; None where it would no longer be readable Python."""
        try:
            source = SourceFile(path, data, self.settings.lang)
            if source.cells is not None:
                return self._notebook(source, data, findings)
            edits = [e for f in findings if f.fix is not None for e in f.fix.edits]
            text = apply_edits(source.text, edits)
            return source.encode(text) if _parses(text) else None
        except (SourceError, ValueError):
            return None

    def _notebook(self, source: SourceFile, data: bytes, findings: Sequence[Finding]) -> Optional[bytes]:
        edits = []
        assert source.cells is not None
        for finding in findings:
            if finding.fix is None or finding.cell is None:
                return None
            first = source.cells.line(finding.cell, 1) - 1
            edits += [
                Edit(e.line + first, e.column, e.end_line + first, e.end_column, e.text)
                for e in finding.fix.edits
            ]
        after = apply_to_notebook(data, edits)
        if after is None or not _parses(SourceFile(source.path, after, self.settings.lang).text):
            return None
        return after


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
