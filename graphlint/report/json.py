"""The JSON report: version 1 of a shape that only grows."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional

from graphlint.finding import CheckResult, FileError, Finding, Fix
from graphlint.report import Context
from graphlint.report.common import counts


def render(result: CheckResult, context: Context) -> str:
    """The whole result as one JSON object."""
    return json.dumps(document(result, context), ensure_ascii=False, indent=2)


def document(result: CheckResult, context: Context) -> Dict[str, Any]:
    """The JSON object as Python data."""
    first = context.targets[0]
    return {
        "version": 1,
        "tool": {"name": "graphlint", "version": context.version},
        "target": {
            "mindspore": first.mindspore,
            "syntax_level": first.level,
            "device": first.device,
            "measured": first.measured,
        },
        "targets": [target.mindspore for target in context.targets],
        "findings": [finding_data(finding) for finding in result.findings],
        "errors": [error_data(error) for error in result.errors],
        "stale": [{**entry._asdict(), "count": count} for entry, count in result.stale],
        "summary": {
            "files": result.files,
            "graph_functions": result.graph_functions,
            "known": result.known,
            "findings": len(result.findings),
            **counts(result),
        },
    }


def finding_data(finding: Finding) -> Dict[str, Any]:
    """One finding as JSON data."""
    return {
        "code": finding.code,
        "name": finding.name,
        "effect": finding.effect.value,
        "severity": finding.severity.value,
        "path": finding.path,
        "cell": finding.cell,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "symbol": finding.symbol,
        "chain": list(finding.chain),
        "via": [{"path": path, "line": line} for path, line in finding.via],
        "targets": list(finding.targets),
        "message": finding.message,
        "help": finding.help,
        "fix": _fix_data(finding.fix),
        "confidence": finding.confidence.value,
        "fingerprint": finding.fingerprint,
        "verdict": finding.verdict,
    }


def error_data(error: FileError) -> Dict[str, Any]:
    """One file that could not be read, as JSON data."""
    return {"path": error.path, "line": error.line, "message": error.message}


def _fix_data(fix: Optional[Fix]) -> Optional[Dict[str, Any]]:
    if fix is None:
        return None
    edits = [
        {
            "line": edit.line,
            "column": edit.column,
            "end_line": edit.end_line,
            "end_column": edit.end_column,
            "text": edit.text,
        }
        for edit in fix.edits
    ]
    return {"applicability": fix.applicability.value, "edits": edits, "note": fix.note}
