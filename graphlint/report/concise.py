"""One line a finding, for editors and grep."""

from __future__ import annotations

from graphlint.finding import CheckResult
from graphlint.report import Context
from graphlint.report.common import place, verdict, visible


def render(result: CheckResult, context: Context) -> str:
    """`net.py:8:9: error GL101 [try-in-graph] …` for each finding; unreadable files in the same form."""
    lines = []
    for finding in result.findings:
        said = verdict(finding, context.lang)
        message = visible(" ".join(finding.message.split())) + (f" [{said}]" if said else "")
        lines.append(f"{place(finding)}: {finding.severity.value} {finding.code} [{finding.name}] {message}")
    for error in result.errors:
        lines.append(f"{visible(error.path)}:{error.line or 1}:1: error {visible(error.message)}")
    return "\n".join(lines)
