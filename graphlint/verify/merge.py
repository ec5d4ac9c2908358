"""Merges JSON results of `verify`: shards of one run, or runs on several versions and devices."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Sequence

from graphlint.errors import UsageError

_ORDER = {"confirmed": 0, "refuted": 1, "inconclusive": 2, "not-run": 3}

Document = Dict[str, Any]


def read(path: str) -> Document:
    """Raises UsageError for a file that isn't a result of `verify --output-format json`."""
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} can't be read as JSON: {error}") from error
    if (
        not isinstance(data, dict)
        or data.get("version") != 1
        or "findings" not in data
        or "cells" not in data
    ):
        raise UsageError(f"{path} is not a result of graphlint verify --output-format json")
    return data


def merge(documents: Sequence[Document]) -> Document:
    """One document: each finding once with its most telling verdict, all Cells, the counts anew.

    `documents` must not be empty. What only one of them has is kept as it is.
    """
    first = documents[0]
    merged: Document = {
        key: value for key, value in first.items() if key not in ("findings", "cells", "errors", "summary")
    }
    findings: Dict[Any, Dict[str, Any]] = {}
    cells: Dict[Any, Dict[str, Any]] = {}
    errors: List[Any] = []
    for document in documents:
        for item in document["findings"]:
            key = (
                item["fingerprint"] or (item["path"], item["line"], item["column"], item["code"]),
                item["line"],
            )
            known = findings.get(key)
            if known is None or _rank(item) < _rank(known):
                findings[key] = item
        for cell in document["cells"]:
            cells.setdefault((cell["path"], cell["cell"], cell["device"], cell.get("mindspore", "")), cell)
        errors.extend(error for error in document["errors"] if error not in errors)
    merged["findings"] = list(findings.values())
    merged["cells"] = list(cells.values())
    merged["errors"] = errors
    summary = dict(first["summary"])
    summary["findings"] = len(findings)
    for severity in ("error", "warning", "info"):
        summary[severity] = sum(item["severity"] == severity for item in findings.values())
    merged["summary"] = summary
    counts = dict.fromkeys(_ORDER, 0)
    for item in findings.values():
        counts[(item["verdict"] or {}).get("status", "not-run")] += 1
    merged["verify"] = {**first.get("verify", {}), "counts": counts, "parts": len(documents)}
    return merged


def _rank(item: Dict[str, Any]) -> int:
    return _ORDER.get((item.get("verdict") or {}).get("status", "not-run"), 3)
