"""GitHub's workflow commands: annotations on the lines of a pull request."""

from __future__ import annotations

from typing import Union

from graphlint.finding import CheckResult
from graphlint.report import Context
from graphlint.report.common import one_line

_LEVEL = {"error": "error", "warning": "warning", "info": "notice"}


def render(result: CheckResult, context: Context) -> str:
    """One `::error file=…::message` a finding."""
    lines = []
    for finding in result.findings:
        properties = {
            "title": f"{finding.code} {finding.name}",
            "file": finding.path,
            "line": finding.line,
            "col": finding.column,
            "endLine": finding.end_line,
            "endColumn": finding.end_column,
        }
        if finding.cell is not None:
            properties = {
                "title": f"{finding.code} {finding.name}, cell {finding.cell}",
                "file": finding.path,
            }
        if finding.line != finding.end_line:
            properties.pop("col", None)
            properties.pop("endColumn", None)
        said = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
        lines.append(f"::{_LEVEL[finding.severity.value]} {said}::{_data(one_line(finding, context.lang))}")
    for error in result.errors:
        lines.append(f"::error file={_property(error.path)},line={error.line or 1}::{_data(error.message)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: Union[str, int]) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
