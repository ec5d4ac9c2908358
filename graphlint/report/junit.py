"""JUnit's XML: a suite for each file, a case for each finding; info findings pass."""

from __future__ import annotations

from collections import defaultdict
from typing import Dict, List
from xml.etree.ElementTree import Element, SubElement

from graphlint.finding import CheckResult, FileError, Finding, Severity
from graphlint.report import Context
from graphlint.report.common import one_line, place
from graphlint.report.xml import clean, written


def render(result: CheckResult, context: Context) -> str:
    """The suites; a run without findings is one case that passes."""
    by_path: Dict[str, List[Finding]] = defaultdict(list)
    errors: Dict[str, List[FileError]] = defaultdict(list)
    for finding in result.findings:
        by_path[finding.path].append(finding)
    for error in result.errors:
        errors[error.path].append(error)
    failing = sum(finding.severity is not Severity.INFO for finding in result.findings)
    total = len(result.findings) + len(result.errors)
    root = Element("testsuites", name="graphlint", tests=str(total or 1), failures=str(failing))
    root.set("errors", str(len(result.errors)))
    for path in sorted({*by_path, *errors}):
        _suite(root, path, by_path[path], errors[path], context)
    if not total:
        suite = SubElement(root, "testsuite", name="graphlint", tests="1", failures="0", errors="0")
        SubElement(suite, "testcase", name="graph mode", classname="graphlint")
    return written(root)


def _suite(
    root: Element, path: str, findings: List[Finding], errors: List[FileError], context: Context
) -> None:
    failing = sum(finding.severity is not Severity.INFO for finding in findings)
    suite = SubElement(root, "testsuite", name=clean(path), tests=str(len(findings) + len(errors)))
    suite.set("failures", str(failing))
    suite.set("errors", str(len(errors)))
    for finding in findings:
        name = f"{finding.code} {finding.name} {finding.line}:{finding.column}"
        case = SubElement(suite, "testcase", name=name, classname=clean(path), file=clean(path))
        case.set("line", str(finding.line))
        text = clean(f"{place(finding, context.lang)}: {one_line(finding, context.lang)}")
        if finding.severity is Severity.INFO:
            SubElement(case, "system-out").text = text
        else:
            failure = SubElement(case, "failure", type=finding.severity.value, message=clean(finding.message))
            failure.text = text
    for error in errors:
        case = SubElement(suite, "testcase", name="unreadable-file", classname=clean(path), file=clean(path))
        SubElement(case, "error", type="unreadable-file", message=clean(error.message))
