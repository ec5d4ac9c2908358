"""How well the linter's findings fit what the compiler did with a set of cases."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Sequence

from graphlint.config import Settings
from graphlint.engine import check
from graphlint.finding import Finding, Severity
from graphlint.target import Target


@dataclass
class Score:
    """Counts over one target's eligible cases, and the cases that don't fit, with what was found there."""

    errors: int = 0
    errors_hit: int = 0
    errors_on_line: int = 0
    diverging: int = 0
    diverging_hit: int = 0
    harmless: int = 0
    harmless_error: int = 0
    fine: int = 0
    fine_warned: int = 0
    wrong: List[str] = field(default_factory=list)


DISPUTED = {("a_no_grad_deco", "2.7.0")}
"""Rows that didn't come out again: run twice with 2.7.0 on Python 3.11, this case compiles and agrees."""


def rows_of(folder: Path, target: Target) -> List[Dict[str, Any]]:
    """The measured rows for a target that PyNative runs and that aren't the CPU's doing alone."""
    rows = [json.loads(line) for line in (folder / "outcomes.jsonl").read_text("utf-8").splitlines()]
    return [
        row
        for row in rows
        if (row["mindspore"], row["level"]) == (target.mindspore, target.level)
        and row.get("pynative") == "ok"
        and not row.get("device_bound")
        and (row["case"], row["mindspore"]) not in DISPUTED
    ]


def findings_of(folder: Path, target: Target) -> Dict[str, List[Finding]]:
    """What check says of each case."""
    result = check([str(folder / "cases")], Settings(targets=(target,), root=str(folder / "cases")))
    assert not result.errors
    found: Dict[str, List[Finding]] = defaultdict(list)
    for finding in result.findings:
        found[Path(finding.path).stem].append(finding)
    return found


def score(folder: Path, target: Target) -> Score:
    """Compares the findings with the rows: a hit has the severity and, where the row names lines, meets one."""
    found = findings_of(folder, target)
    total = Score()
    for row in rows_of(folder, target):
        here = found.get(row["case"], [])
        errors = [f for f in here if f.severity is Severity.ERROR]
        louder = [f for f in here if f.severity.at_least(Severity.WARNING)]
        told = ", ".join(f"{f.code}:{f.line} {f.severity.value}" for f in here) or "nothing"
        if row["outcome"] == "error":
            total.errors += 1
            total.errors_hit += bool(errors)
            total.errors_on_line += bool(on_lines(errors, row.get("lines")))
            if not errors:
                total.wrong.append(f"missed error in {row['case']}: {told}")
        elif row["outcome"] == "diverges":
            total.diverging += 1
            total.diverging_hit += bool(on_lines(louder, row.get("lines")))
            if not on_lines(louder, row.get("lines")):
                total.wrong.append(f"missed divergence in {row['case']} {row.get('lines')}: {told}")
        else:
            total.harmless += 1
            total.harmless_error += bool(errors)
            if errors:
                total.wrong.append(f"false error in {row['case']} ({row['outcome']}): {told}")
            if row["outcome"] == "ok":
                total.fine += 1
                total.fine_warned += bool(louder)
    return total


def on_lines(findings: Sequence[Finding], lines: Any) -> List[Finding]:
    """Those whose range, or a call on whose chain, meets one of the lines; all where there are none."""
    if not lines:
        return list(findings)
    return [
        f
        for f in findings
        if any(f.line <= line <= f.end_line for line in lines) or any(line in lines for _, line in f.via)
    ]
