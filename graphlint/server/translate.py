"""From findings to the language server protocol: diagnostics, edits, hover texts, code lenses."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from graphlint.finding import Applicability, Edit, FileError, Finding, Severity
from graphlint.lang import say
from graphlint.report.common import one_line, verdict
from graphlint.rule_page import SECTIONS, Page, effect_table

SOURCE = "graphlint"
VERIFY_COMMAND = "graphlint.verify"
_SEVERITY = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


class Text(NamedTuple):
    """A document: its lines with their ends, and how the client counts columns."""

    lines: Sequence[str]
    codec: PositionCodec

    def range(self, line: int, column: int, end_line: int, end_column: int) -> types.Range:
        """A protocol range for lines and columns that start at 1."""
        return self.codec.range_to_client_units(
            self.lines,
            types.Range(
                start=types.Position(line=line - 1, character=column - 1),
                end=types.Position(line=end_line - 1, character=end_column - 1),
            ),
        )


def diagnostic(finding: Finding, text: Text, lang: str) -> types.Diagnostic:
    """A finding, with the calls that lead to it as related places."""
    related = [
        types.DiagnosticRelatedInformation(
            location=types.Location(uri=Path(os.path.abspath(path)).as_uri(), range=_whole_line(line)),
            message=finding.chain[number] if number < len(finding.chain) else finding.symbol,
        )
        for number, (path, line) in enumerate(finding.via, 1)
    ]
    return types.Diagnostic(
        range=text.range(finding.line, finding.column, finding.end_line, finding.end_column),
        message=one_line(finding, lang),
        severity=_SEVERITY[finding.severity],
        code=finding.code,
        source=SOURCE,
        related_information=related or None,
        data={"fingerprint": finding.fingerprint, "name": finding.name},
    )


def error_diagnostic(error: FileError) -> types.Diagnostic:
    """A file that could not be checked."""
    return types.Diagnostic(
        range=_whole_line(error.line or 1),
        message=error.message,
        severity=types.DiagnosticSeverity.Error,
        source=SOURCE,
    )


def _whole_line(line: int) -> types.Range:
    return types.Range(start=types.Position(line - 1, 0), end=types.Position(line, 0))


def overlaps(left: types.Range, right: types.Range) -> bool:
    """True where two ranges share a position."""
    return (left.start.line, left.start.character) <= (right.end.line, right.end.character) and (
        right.start.line,
        right.start.character,
    ) <= (left.end.line, left.end.character)


def actions(finding: Finding, uri: str, text: Text, lang: str) -> Iterator[types.CodeAction]:
    """The rewrite, if there is one, and a comment that silences the finding."""
    shown = diagnostic(finding, text, lang)
    fix = finding.fix
    if fix is not None and fix.edits and fix.applicability is not Applicability.DISPLAY:
        safe = fix.applicability is Applicability.SAFE
        title = say("action-fix" if safe else "action-unsafe", lang, code=finding.code, note=fix.note)
        yield types.CodeAction(
            title=title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[shown],
            is_preferred=safe,
            edit=types.WorkspaceEdit(changes={uri: [edit(one, text) for one in fix.edits]}),
        )
    line = text.lines[finding.line - 1].rstrip("\r\n") if finding.line <= len(text.lines) else ""
    if "#" not in line and not line.endswith("\\"):
        end = len(line) + 1
        comment = Edit(finding.line, end, finding.line, end, f"  # graphlint: ignore[{finding.code}]")
        yield types.CodeAction(
            title=say("action-silence", lang, code=finding.code),
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[shown],
            edit=types.WorkspaceEdit(changes={uri: [edit(comment, text)]}),
        )


def edit(one: Edit, text: Text) -> types.TextEdit:
    """One edit of a rewrite."""
    return types.TextEdit(
        range=text.range(one.line, one.column, one.end_line, one.end_column), new_text=one.text
    )


def hover(finding: Finding, page: Optional[Page], lang: str) -> str:
    """What the finding says, how graph code gets there, and the rule's page, as Markdown."""
    blocks = [
        f"**{finding.code} {finding.name}** ({say(finding.severity.value, lang)})",
        one_line(finding, lang),
    ]
    if len(finding.chain) > 1:
        blocks.append(f"{say('reached', lang)}{say('colon', lang)}`{' → '.join(finding.chain)}`")
    said = verdict(finding, lang)
    if said:
        blocks.append(f"{say('verdict', lang)}{say('colon', lang)}{said}")
    if page is not None:
        blocks.append("---")
        for section in SECTIONS:
            body = page.sections.get(section)
            if body:
                code = section in ("example", "instead")
                shown = f"```python\n{body}\n```" if code else body
                blocks.append(f"**{say(f'page-{section}', lang)}**\n\n{shown}")
        if page.effects:
            table = "\n".join(effect_table(page.effects, lang))
            blocks.append(f"**{say('page-effects', lang)}**\n\n```text\n{table}\n```")
    return "\n\n".join(blocks)


def lenses(source: str, path: str, findings: Iterable[Finding], lang: str) -> List[types.CodeLens]:
    """One lens on each Cell: how many breaks its graph has, and the command that verifies it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    breaks: Dict[str, int] = {}
    confirmed: Dict[str, int] = {}
    for finding in findings:
        if finding.severity is Severity.ERROR:
            origin = finding.via[0][0] if finding.via else finding.path
            if os.path.realpath(origin) == os.path.realpath(path):
                cell = (finding.chain or (finding.symbol,))[0].rpartition(".")[0] or finding.symbol
                breaks[cell] = breaks.get(cell, 0) + 1
                proven = (finding.verdict or {}).get("status") == "confirmed"
                confirmed[cell] = confirmed.get(cell, 0) + proven
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(_is_construct(item) for item in node.body):
            number = breaks.get(node.name, 0)
            key = "lens-breaks" if number else "lens-clean"
            title = say(key, lang, n=number, confirmed=confirmed.get(node.name, 0))
            arguments: List[Any] = [path, node.name]
            command = types.Command(title=title, command=VERIFY_COMMAND, arguments=arguments)
            place = types.Position(node.lineno - 1, 0)
            found.append(types.CodeLens(range=types.Range(place, place), command=command))
    return sorted(found, key=lambda lens: lens.range.start.line)


def _is_construct(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "construct"
