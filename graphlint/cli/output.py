"""What the commands have in common after the work: the report, its source lines, the exit code."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Dict, Mapping, Optional, Sequence, Tuple

import click

from graphlint import __version__
from graphlint.config import Settings
from graphlint.finding import CheckResult, FileError, Finding
from graphlint.lang import say
from graphlint.report import Context, render
from graphlint.report.style import Style, wants_color
from graphlint.source import SourceError, SourceFile, load


class Sources:
    """The lines of files for a report, read once each."""

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._kept: Dict[str, bytes] = {}
        self._files: Dict[str, Optional[SourceFile]] = {}

    def keep(self, path: str, data: bytes) -> None:
        """Remembers bytes that stand for `path`, as those of standard input."""
        self._kept[path] = data

    def lines(self, path: str, cell: Optional[int]) -> Sequence[str]:
        """The lines of a file or of one of its cells; none where it can't be read."""
        if path not in self._files:
            try:
                kept = self._kept.get(path)
                self._files[path] = (
                    load(path, self._lang) if kept is None else SourceFile(path, kept, self._lang)
                )
            except SourceError:
                self._files[path] = None
        source = self._files[path]
        if source is None:
            return ()
        if cell is None or source.cells is None:
            return source.lines
        return source.lines[source.cells.line(cell, 1) - 1 :]


def read_stdin(name: str, data: bytes, lang: str) -> Tuple[Optional[Tuple[str, str]], Optional[FileError]]:
    """Standard input as (name, text), or why it isn't text; a notebook stays JSON."""
    try:
        source = SourceFile(name, data, lang)
    except SourceError as error:
        return None, error.error
    return (name, data.decode("utf-8-sig") if source.cells is not None else source.text), None


def emit(
    result: CheckResult,
    settings: Settings,
    sources: Sources,
    statistics: bool = False,
    rules: Optional[Mapping[str, Tuple[str, str]]] = None,
) -> None:
    """Prints the report, or the counts by rule."""
    context = Context(
        version=__version__,
        targets=settings.targets,
        lang=settings.lang,
        color=wants_color(sys.stdout),
        lines=sources.lines,
        origin=settings.target_origin,
        rules=rules or {},
    )
    if statistics:
        write(_statistics(result, settings, context))
    else:
        write(render(settings.output_format, result, context))


def write(text: str) -> None:
    """Text to standard output; the characters that its encoding lacks are spelled out."""
    click.echo(text, nl=False, color=True)


def exit_code(result: CheckResult, settings: Settings, exit_zero: bool = False) -> int:
    """1 where a finding is at or above `fail_on` or a file could not be read, else 0."""
    if exit_zero:
        return 0
    failing = any(finding.severity.at_least(settings.fail_on) for finding in result.findings)
    return 1 if failing or result.errors else 0


def _statistics(result: CheckResult, settings: Settings, context: Context) -> str:
    numbers = Counter((finding.code, finding.name, finding.severity) for finding in result.findings)
    rows = sorted(numbers.items(), key=lambda row: (row[0][2].rank, -row[1], row[0][0]))
    if settings.output_format == "json":
        data = [
            {
                "code": code,
                "name": name,
                "severity": severity.value,
                "count": number,
                "fixable": sum(_fixable(finding) for finding in result.findings if finding.code == code),
            }
            for (code, name, severity), number in rows
        ]
        return json.dumps(data, indent=2) + "\n"
    style = Style(context.color)
    width = len(str(max(numbers.values(), default=0)))
    lines = []
    for (code, name, severity), number in rows:
        shown = style.severity(severity.value, say(severity.value, context.lang))
        lines.append(f"{number:>{width}}  {code}  {shown}  {name}\n")
    return "".join(lines)


def _fixable(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.applicability.value != "display"
