"""Checkstyle's XML."""

from __future__ import annotations

from typing import Dict
from xml.etree.ElementTree import Element, SubElement

from graphlint.finding import CheckResult
from graphlint.report import Context
from graphlint.report.common import one_line
from graphlint.report.xml import clean, written


def render(result: CheckResult, context: Context) -> str:
    """A `file` element for each path with its `error` elements."""
    root = Element("checkstyle", version="4.3")
    files: Dict[str, Element] = {}

    def file_of(path: str) -> Element:
        if path not in files:
            files[path] = SubElement(root, "file", name=clean(path))
        return files[path]

    for finding in result.findings:
        entry = SubElement(file_of(finding.path), "error", line=str(finding.line), column=str(finding.column))
        entry.set("severity", finding.severity.value)
        entry.set("message", clean(one_line(finding, context.lang)))
        entry.set("source", f"graphlint.{finding.code}.{finding.name}")
    for error in result.errors:
        entry = SubElement(
            file_of(error.path), "error", line=str(error.line or 1), column="1", severity="error"
        )
        entry.set("message", clean(error.message))
        entry.set("source", "graphlint.unreadable-file")
    return written(root)
