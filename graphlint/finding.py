"""What graphlint says about one place in the source: a Finding, with its effect, severity and fix."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Dict, Optional, Tuple


class Effect(str, Enum):
    """What happens at the flagged place when it is compiled for the target."""

    COMPILE_ERROR = "compile-error"
    DIVERGES = "diverges"
    SIDE_EFFECT = "side-effect"
    FALLBACK = "fallback"
    RECOMPILES = "recompiles"
    SLOW = "slow"
    PORTING = "porting"
    PLATFORM = "platform"
    NONE = "none"


class Severity(str, Enum):
    """How much a finding matters; ordered by `rank`, the gravest first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        return ("error", "warning", "info").index(self.value)

    def at_least(self, other: Severity) -> bool:
        """True where this severity is as grave as `other` or graver."""
        return self.rank <= other.rank


class Confidence(str, Enum):
    """How sure the analysis is; only `high` keeps the full severity of an effect."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


_SEVERITY_OF = {
    Effect.COMPILE_ERROR: Severity.ERROR,
    Effect.DIVERGES: Severity.ERROR,
    Effect.SIDE_EFFECT: Severity.WARNING,
    Effect.PORTING: Severity.WARNING,
    Effect.PLATFORM: Severity.WARNING,
    Effect.FALLBACK: Severity.INFO,
    Effect.RECOMPILES: Severity.INFO,
    Effect.SLOW: Severity.INFO,
    Effect.NONE: Severity.INFO,
}


def severity_of(effect: Effect, confidence: Confidence = Confidence.HIGH) -> Severity:
    """The severity that an effect deserves: an error that isn't certain is told as a warning."""
    severity = _SEVERITY_OF[effect]
    if severity is Severity.ERROR and confidence is not Confidence.HIGH:
        return Severity.WARNING
    return severity


class Applicability(str, Enum):
    """`safe`: proven for every input; `unsafe`: right under a stated assumption; `display`: a sketch."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, order=True)
class Edit:
    """Replaces a range of text. Lines and columns start at 1 and count characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True)
class Fix:
    """Text edits that together are one rewrite, and how far they may be trusted."""

    applicability: Applicability
    edits: Tuple[Edit, ...]
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """One place and what happens there.

    `line`/`column` start at 1, columns count characters, `end_column` is exclusive. `chain` names how graph
    code is reached (`("Net.construct", "Net.encode")`), `via` holds the (path, line) of the calls on it,
    `targets` the MindSpore versions for which the finding holds when several were asked for.
    """

    code: str
    name: str
    effect: Effect
    severity: Severity
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    symbol: str
    chain: Tuple[str, ...]
    message: str
    help: str = ""
    fix: Optional[Fix] = None
    confidence: Confidence = Confidence.HIGH
    fingerprint: str = ""
    verdict: Optional[Dict[str, Any]] = None
    via: Tuple[Tuple[str, int], ...] = ()
    targets: Tuple[str, ...] = ()
    cell: Optional[int] = None
    text: str = ""
    """The source text of the range, as it stands in the file."""

    @property
    def sort_key(self) -> Tuple[Any, ...]:
        return (self.path, self.cell or 0, self.line, self.column, self.code, self.end_line, self.message)

    def with_(self, **changes: Any) -> Finding:
        """A copy with some fields changed."""
        return replace(self, **changes)


def fingerprint(code: str, path: str, symbol: str, text: str, occurrence: int) -> str:
    """A name that survives moved lines, from rule, file, scope, normalized source text, n-th of its like."""
    normalized = " ".join(text.split())
    digest = hashlib.blake2b(digest_size=10)
    for part in (code, path.replace("\\", "/"), symbol, normalized, str(occurrence)):
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


@dataclass(frozen=True)
class FileError:
    """A file that could not be read, and why, in words for its owner."""

    path: str
    message: str
    line: Optional[int] = None


@dataclass
class CheckResult:
    """All that one run found; `graph_functions` counts the functions that the graph compiler would parse."""

    findings: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    files: int = 0
    graph_functions: int = 0
    known: int = 0
    """How many findings the baseline took out."""
    stale: list = field(default_factory=list)
    """(entry, how many) of the baseline for what was not found any more."""
