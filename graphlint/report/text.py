"""The report for people: each cause once, with its source line, its chain and the rewrite."""

from __future__ import annotations

from typing import Dict, Iterator, List, Sequence, Tuple

from graphlint.finding import Applicability, CheckResult, Finding
from graphlint.lang import say
from graphlint.report import Context
from graphlint.report.common import place, summary, verdict, visible
from graphlint.report.snippet import snippet
from graphlint.report.style import Style

_LISTED = 8
"""How many further places, or chains, are named before the rest is counted."""


def render(result: CheckResult, context: Context) -> str:
    """The findings, the files that could not be read, and the summary."""
    style = Style(context.color)
    blocks = ["\n".join(_block(group, context, style)) for group in groups(result.findings)]
    for error in result.errors:
        line = f":{error.line}" if error.line is not None else ""
        where = style.strong(f"{visible(error.path)}{line}")
        head = style.severity("error", say("error", context.lang))
        blocks.append(f"{head}{say('colon', context.lang)}{where} {visible(error.message)}")
    first, *rest = summary(result, context)
    blocks.append("\n".join([style.strong(first), *rest]))
    return "\n\n".join(blocks) + "\n"


def groups(findings: Sequence[Finding]) -> List[List[Finding]]:
    """The findings by cause: those of one file that say the same stand together, in order of their first."""
    by_cause: Dict[Tuple[object, ...], List[Finding]] = {}
    for finding in findings:
        place_and_rule = finding.path, finding.code, finding.severity
        key = (*place_and_rule, finding.message, finding.help, finding.targets, verdict(finding))
        by_cause.setdefault(key, []).append(finding)
    return list(by_cause.values())


def _block(group: Sequence[Finding], context: Context, style: Style) -> Iterator[str]:
    finding, lang = group[0], context.lang
    severity = say(finding.severity.value, lang)
    head = style.severity(finding.severity.value, f"{severity}[{finding.code}]")
    yield f"{head} {finding.name}: {style.strong(visible(finding.message))}"
    yield from snippet(
        context.lines(finding.path, finding.cell),
        (finding.line, finding.column, finding.end_line, finding.end_column),
        place(finding, lang),
        finding.severity.value,
        style,
    )
    margin = " " * (len(str(finding.end_line)) + 1)
    for label, text in _notes(group, context):
        yield f"{margin}{style.margin('=')} {style.strong(label)}{say('colon', lang)}{text}"


def _notes(group: Sequence[Finding], context: Context) -> Iterator[Tuple[str, str]]:
    """The lines under the source: label and text."""
    finding, lang = group[0], context.lang
    here = [f for f in group if (f.cell, f.line, f.column) == (finding.cell, finding.line, finding.column)]
    if len(finding.chain) > 1:
        chains = len({f.chain for f in here}) - 1
        other = say("paren", lang, text=say("also-reached", lang, n=chains)) if chains else ""
        yield say("reached", lang), visible(" → ".join(finding.chain)) + other
    places = list(dict.fromkeys(_short_place(f, finding, lang) for f in group if f not in here))
    if places:
        listed = say("comma", lang).join(places[:_LISTED])
        more = len(places) - _LISTED
        ending = say("comma", lang) + say("more", lang, n=more) if more > 0 else ""
        yield say("also-at", lang), listed + ending
    if len(context.targets) > 1 and 0 < len(finding.targets) < len(context.targets):
        yield say("versions", lang), "MindSpore " + ", ".join(finding.targets)
    if finding.help:
        yield say("help", lang), visible(finding.help)
    if finding.fix is not None and finding.fix.applicability is not Applicability.DISPLAY:
        yield say("fix", lang), say("fix-" + finding.fix.applicability.value, lang)
    said = verdict(finding, lang)
    if said:
        yield say("verdict", lang), said


def _short_place(finding: Finding, first: Finding, lang: str) -> str:
    """Line and column, with the cell where it is another one."""
    cell = f"{say('cell', lang, n=finding.cell)}:" if finding.cell != first.cell else ""
    return f"{cell}{finding.line}:{finding.column}"
