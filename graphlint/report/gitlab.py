"""GitLab's code quality report (the Code Climate shape)."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Dict, List, Set

from graphlint.finding import CheckResult
from graphlint.report import Context
from graphlint.report.common import one_line

_SEVERITY = {"error": "critical", "warning": "minor", "info": "info"}


def render(result: CheckResult, context: Context) -> str:
    """A JSON array; every fingerprint in it is there once."""
    seen: Set[str] = set()
    rows: List[Dict[str, Any]] = []
    for finding in result.findings:
        rows.append(
            {
                "description": one_line(finding, context.lang),
                "check_name": f"{finding.code} {finding.name}",
                "fingerprint": _unique(
                    finding.fingerprint or _digest(finding.code, finding.path, finding.line), seen
                ),
                "severity": _SEVERITY[finding.severity.value],
                "location": {
                    "path": finding.path.replace("\\", "/"),
                    "lines": {"begin": finding.line, "end": finding.end_line},
                },
                "categories": ["Compatibility"],
                "verdict": finding.verdict,
            }
        )
    for error in result.errors:
        rows.append(
            {
                "description": error.message,
                "check_name": "unreadable-file",
                "fingerprint": _unique(_digest("unreadable-file", error.path), seen),
                "severity": "critical",
                "location": {
                    "path": error.path.replace("\\", "/"),
                    "lines": {"begin": error.line or 1, "end": error.line or 1},
                },
            }
        )
    return json.dumps(rows, ensure_ascii=True, indent=2)


def _digest(*parts: object) -> str:
    text = "\0".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=10).hexdigest()


def _unique(fingerprint: str, seen: Set[str]) -> str:
    candidate, number = fingerprint, 1
    while candidate in seen:
        number += 1
        candidate = _digest(fingerprint, number)
    seen.add(candidate)
    return candidate
