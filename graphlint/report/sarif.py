"""SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List
from urllib.parse import quote

from graphlint.finding import CheckResult, FileError, Finding, Fix
from graphlint.report import Context
from graphlint.report.common import targets, verdict

_LEVEL = {"error": "error", "warning": "warning", "info": "note"}


def render(result: CheckResult, context: Context) -> str:
    """One run with the rules that were met, the findings, and a notification for each unreadable file."""
    names = {finding.code: finding.name for finding in result.findings}
    codes = sorted(names)
    run = {
        "tool": {
            "driver": {
                "name": "graphlint",
                "version": context.version,
                "rules": [_rule(code, names[code], context) for code in codes],
                "properties": {"target": targets(context)},
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not result.errors,
                "toolExecutionNotifications": [_notification(error) for error in result.errors],
            }
        ],
        "results": [_result(finding, codes.index(finding.code), context) for finding in result.findings],
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(document, ensure_ascii=True, indent=2)


def _rule(code: str, name: str, context: Context) -> Dict[str, Any]:
    name, what = context.rules.get(code, (name, ""))
    rule: Dict[str, Any] = {"id": code, "name": "".join(part.capitalize() for part in name.split("-"))}
    rule["shortDescription"] = {"text": name}
    if what:
        rule["fullDescription"] = {"text": what}
    rule["help"] = {"text": f"graphlint rule {code}"}
    return rule


def _result(finding: Finding, index: int, context: Context) -> Dict[str, Any]:
    text = finding.message if not finding.help else f"{finding.message}\n{finding.help}"
    said = verdict(finding, context.lang)
    result: Dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVEL[finding.severity.value],
        "message": {"text": f"{text}\n{said}" if said else text},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": _artifact(finding.path), "region": _region(finding)},
                "logicalLocations": [{"fullyQualifiedName": finding.symbol}] if finding.symbol else [],
            }
        ],
        "properties": {
            "effect": finding.effect.value,
            "confidence": finding.confidence.value,
            "chain": list(finding.chain),
            "targets": list(finding.targets),
            "cell": finding.cell,
            "verdict": finding.verdict,
        },
    }
    if finding.fingerprint:
        result["partialFingerprints"] = {"graphlint/v1": finding.fingerprint}
    if finding.via:
        result["relatedLocations"] = [
            {
                "id": number,
                "message": {"text": finding.chain[number] if number < len(finding.chain) else finding.symbol},
                "physicalLocation": {"artifactLocation": _artifact(path), "region": {"startLine": line}},
            }
            for number, (path, line) in enumerate(finding.via, 1)
        ]
    if finding.fix is not None and finding.fix.edits and finding.cell is None:
        result["fixes"] = [_fix(finding.path, finding.fix, finding.help)]
    return result


def _region(finding: Finding) -> Dict[str, int]:
    return {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }


def _fix(path: str, fix: Fix, description: str) -> Dict[str, Any]:
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": edit.text},
        }
        for edit in fix.edits
    ]
    return {
        "description": {"text": description or fix.note or fix.applicability.value},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": replacements}],
    }


def _notification(error: FileError) -> Dict[str, Any]:
    location: Dict[str, Any] = {"artifactLocation": _artifact(error.path)}
    if error.line is not None:
        location["region"] = {"startLine": error.line}
    locations: List[Dict[str, Any]] = [{"physicalLocation": location}]
    return {"level": "error", "message": {"text": error.message}, "locations": locations}


def _artifact(path: str) -> Dict[str, str]:
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path.replace("\\", "/"), errors="surrogatepass")}
