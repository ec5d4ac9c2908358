"""Markdown, for the summary of a CI job or a comment on a pull request."""

from __future__ import annotations

import re
from typing import List

from graphlint.finding import CheckResult
from graphlint.lang import TEXTS, say
from graphlint.report import Context
from graphlint.report.common import place, summary, verdict, visible


def render(result: CheckResult, context: Context) -> str:
    """The summary, then a table of findings; where all are habits from PyTorch, a checklist."""
    lang = context.lang
    first, *rest = summary(result, context)
    lines: List[str] = ["## graphlint", "", f"**{_escape(first)}**", ""]
    lines += [_escape(sentence) for sentence in rest]
    if result.findings and all(finding.code.startswith("GL6") for finding in result.findings):
        lines += _checklist(result, lang)
    elif result.findings:
        proven = any(finding.verdict for finding in result.findings)
        heads = ["severity", "rule", "place", "what"] + (["verdict"] if proven else [])
        lines += ["", _row([say(head, lang) for head in heads]), _row(["---"] * len(heads))]
        for finding in result.findings:
            cells = [
                say(finding.severity.value, lang),
                f"{finding.code} {finding.name}",
                _code(place(finding, lang)),
                _escape(" ".join(visible(part) for part in (finding.message, finding.help) if part)),
            ]
            lines.append(_row(cells + ([_escape(verdict(finding, lang))] if proven else [])))
    for error in result.errors:
        lines += ["", f"- {_code(visible(error.path))} {_escape(visible(error.message))}"]
    return "\n".join(lines)


def _checklist(result: CheckResult, lang: str) -> List[str]:
    """What is to be ported, grouped by kind and file, each with a box to tick."""
    lines: List[str] = []
    kinds = sorted({finding.code[:4] for finding in result.findings})
    for kind in kinds:
        those = [finding for finding in result.findings if finding.code[:4] == kind]
        title = say(kind, lang) if kind in TEXTS else kind
        lines += ["", f"### {_escape(title)} ({len(those)})"]
        path = ""
        for finding in sorted(those, key=lambda f: f.sort_key):
            if finding.path != path:
                path = finding.path
                lines += ["", f"{_code(visible(path))}", ""]
            said = say("semicolon", lang).join(
                visible(part) for part in (finding.message, finding.help) if part
            )
            where = say("line", lang, n=str(finding.line))
            lines.append(f"- [ ] {where}{say('colon', lang)}{_escape(said)} ({finding.code})")
    return lines


def _row(cells: List[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _code(text: str) -> str:
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence}{text}{fence}".replace("|", "\\|")


def _escape(text: str) -> str:
    """Text that Markdown shows as it is, except for code in backquotes, which stays code."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    escaped = [part if part.startswith("`") else re.sub(r"([\\*_<>\[\]])", r"\\\1", part) for part in parts]
    return "".join(escaped).replace("|", "\\|")
