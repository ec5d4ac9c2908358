"""The rules' examples: what they say of themselves, what check says of them, what the compiler did."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from graphlint.config import Settings
from graphlint.engine import check
from graphlint.finding import CheckResult, Effect, Finding
from graphlint.target import LEVELS, NEWEST, Target

ROOT = Path(__file__).parents[1] / "fixtures"
_EXPECT = re.compile(r"#\s*expect:\s*(GL\d{3}(?:\s*,\s*GL\d{3})*)\s*$")
_TARGET = re.compile(r"^target:\s*(\S+)\s+(lax|strict)\s*$", re.MULTILINE)
_DEVICE = re.compile(r"^device:\s*(Ascend|CPU|GPU)\s*$", re.MULTILINE)
_PYTHON = re.compile(r"^python:\s*3\.(\d+)\s*$", re.MULTILINE)
_UNMEASURED = re.compile(r"^measured: no$", re.MULTILINE)
_DOCSTRING = re.compile(r'\A(?:#.*\n)*"""(.*?)"""', re.DOTALL)
RUNS = ("ok", "fallback", "recompiles", "printed-differs")
"""Outcomes of a graph that gives PyNative's results."""


@dataclass(frozen=True)
class Example:
    """One module of tests/fixtures/<CODE>/. `python` is the oldest minor version that can parse it."""

    code: str
    path: Path
    text: str
    target: Target
    python: int = 9

    @property
    def name(self) -> str:
        """As evidence names it: `bad_dead.py`."""
        return self.path.name

    @property
    def ident(self) -> str:
        return f"{self.code}/{self.path.stem}"

    @property
    def bad(self) -> bool:
        return self.path.stem.startswith("bad")

    @property
    def measurable(self) -> bool:
        """False for what a CPU and MindSpore alone can't show."""
        match = _DOCSTRING.match(self.text)
        return self.target.device == "CPU" and not (match is not None and _UNMEASURED.search(match.group(1)))

    def expected(self) -> Counter:
        """(code, line) of each `# expect:` marker, with how often."""
        found: Counter = Counter()
        for number, line in enumerate(self.text.splitlines(), 1):
            match = _EXPECT.search(line)
            if match is not None:
                found.update((code.strip(), number) for code in match.group(1).split(","))
        return found

    def at(self, version: str, level: str) -> Target:
        """The target with another version and level, on this example's device."""
        return Target(version, level, self.target.device)


def read(path: Path) -> Example:
    """One example with what its docstring says."""
    text = path.read_text("utf-8")
    match = _DOCSTRING.match(text)
    said = match.group(1) if match is not None else ""
    target, device, python = _TARGET.search(said), _DEVICE.search(said), _PYTHON.search(said)
    version, level = (target[1], target[2]) if target is not None else (NEWEST, "lax")
    return Example(
        path.parent.name,
        path,
        text,
        Target(version, level, device[1] if device is not None else "CPU"),
        int(python[1]) if python is not None else 9,
    )


def examples(codes: Iterable[str] = ()) -> List[Example]:
    """All examples, or those of the given rules, in the order of their paths."""
    wanted = set(codes)
    paths = sorted([*ROOT.glob("GL[0-9]*/bad*.py"), *ROOT.glob("GL[0-9]*/good*.py")])
    return [read(path) for path in paths if not wanted or path.parent.name in wanted]


def findings(example: Example, target: Optional[Target] = None) -> List[Finding]:
    """What check says of the example alone, at its own target or another. Raises where it can't be read."""
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder, example.name)
        alone.write_text(example.text, "utf-8")
        result = check([str(alone)], Settings(targets=(target or example.target,), root=folder))
    assert not result.errors, result.errors
    return [finding.with_(path=str(example.path), via=()) for finding in result.findings]


@dataclass(frozen=True)
class Measured:
    """What the compiler did with one example: `outcome` as in verify's oracle, `message` in a line."""

    outcome: str
    message: str
    mindspore: str
    verdicts: Tuple[Tuple[str, str], ...] = ()
    """(code, verdict) of each porting finding."""


def measure(
    python: str, chosen: Sequence[Example], level: str, jobs: int = 0, timeout: float = 120.0
) -> Dict[Path, Measured]:
    """Runs examples in PyNative and as a graph with an interpreter's MindSpore, on the CPU.

    Raises graphlint.errors.WorkError where MindSpore can't be imported there.
    """
    from graphlint.verify.cache import Cache
    from graphlint.verify.run import Request, verify
    from graphlint.verify.session import Plan

    porting = [
        finding
        for one in chosen
        if one.code.startswith("GL6")
        for finding in findings(one, one.at(NEWEST, level))
        if finding.code == one.code
    ]
    plan = Plan(level=level, all_cells=True, guess=False, timeout=timeout)
    request = Request(python=python, jobs=jobs)
    with tempfile.TemporaryDirectory() as folder:
        done = verify(
            CheckResult(porting),
            [str(one.path) for one in chosen],
            str(ROOT),
            [],
            plan,
            request,
            Cache(None),
            command=folder,
        )
    verdicts: Dict[str, List[Tuple[str, str]]] = {}
    for finding in done.findings:
        status = (finding.verdict or {}).get("status", "")
        verdicts.setdefault(os.path.realpath(finding.path), []).append((finding.code, status))
    found: Dict[Path, Measured] = {}
    for one in chosen:
        real = os.path.realpath(one.path)
        for cell in done.cells:
            if os.path.realpath(cell.path) == real and cell.cell in ("Net", "fn") and cell.rung == "entry":
                words = " ".join(cell.reason.replace(str(one.path), one.name).split())
                found[one.path] = Measured(cell.status, words, cell.mindspore, tuple(verdicts.get(real, ())))
    return found


def stated(found: Sequence[Finding]) -> str:
    """The gravest effect of an example's findings, in words for a failing test."""
    return ", ".join(f"{f.code} {f.effect.value}" for f in found) or "nothing"


def disagreement(example: Example, found: Sequence[Finding], outcome: str, message: str = "") -> str:
    """Why what check says of an example doesn't fit what the compiler did; empty where it does.

    `found` are the findings at the target that was measured, `outcome` and `message` what happened there. A kernel
    that a CPU lacks says nothing of the compiler, and a difference that is refused instead is no less told.
    """
    effects = {finding.effect for finding in found}
    if outcome == "pynative-fails" and effects & {Effect.PORTING, Effect.PLATFORM}:
        return "" if example.bad else f"a good example that fails in PyNative: {message}"
    if outcome == "error" and "Kernel select failed" in message:
        return ""
    if outcome in ("pynative-fails", "not-tried"):
        return f"can't be run: {message}"
    if Effect.COMPILE_ERROR in effects:
        return "" if outcome in ("error", "broken") else f"refusal stated, but {outcome}: {message}"
    if Effect.DIVERGES in effects:
        return "" if outcome in ("diverges", "error") else f"divergence stated, but {outcome}: {message}"
    if Effect.SIDE_EFFECT in effects:
        printed = outcome == "printed-differs" or (outcome == "diverges" and message.startswith("printed"))
        return "" if printed else f"other printing stated, but {outcome}: {message}"
    return "" if outcome in RUNS else f"{stated(found)} stated, but {outcome}: {message}"


def parsable(example: Example) -> bool:
    """True where this Python's parser can read the example."""
    return sys.version_info >= (3, example.python)


__all__ = [
    "LEVELS",
    "Example",
    "Measured",
    "disagreement",
    "examples",
    "findings",
    "measure",
    "parsable",
    "stated",
]
