"""`graphlint explain`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Optional, Tuple

import click

from graphlint import explain as explaining
from graphlint.cli.output import write
from graphlint.explain import Explanation, Place
from graphlint.finding import Finding
from graphlint.lang import LANGUAGES, default_language, say
from graphlint.report.common import one_line, place


@click.command()
@click.argument("error", nargs=-1, metavar="TEXT")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to print (text)."
)
@click.option("--lang", type=click.Choice(LANGUAGES), help="Language of the answer (default: the locale's).")
def explain(error: Tuple[str, ...], output_format: str, lang: Optional[str]) -> int:
    """Find the rule and the rewrite for TEXT, an error of MindSpore's graph compiler; `-` or nothing reads it
    from standard input.

    Where the text names lines of files that are here, what graphlint finds on them is shown.

    Exit code: 0 explained, 3 no rule knows this error.
    """
    spoken = lang or default_language()
    text = " ".join(error) if error and error != ("-",) else sys.stdin.read()
    explanations = explaining.explain(text, spoken)
    named = explaining.places(text)
    findings = _findings(named, spoken)
    if output_format == "json":
        write(json.dumps(_data(explanations, named, findings), ensure_ascii=False, indent=2) + "\n")
    else:
        write(_text(explanations, named, findings, spoken))
    return 0 if explanations or findings else 3


def _findings(named: List[Place], lang: str) -> List[Finding]:
    """What the engine finds on the lines that the error names, in the files that exist."""
    from graphlint.config import load
    from graphlint.engine import check

    found: List[Finding] = []
    for path in dict.fromkeys(one.path for one in named):
        if not os.path.isfile(path):
            continue
        spans = [(one.line, one.last) for one in named if one.path == path]
        for finding in check([path], load(path, lang=lang)).findings:
            if any(finding.line <= last and first <= finding.end_line for first, last in spans):
                found.append(finding)
    return sorted(found, key=lambda finding: finding.severity.rank)


def _text(explanations: List[Explanation], named: List[Place], findings: List[Finding], lang: str) -> str:
    from graphlint.rule_page import pages

    known = {page.code: page for page in pages()}
    blocks: List[str] = []
    for one in explanations:
        lines = [f"“{one.matched}”"]
        for code in one.rules:
            page = known.get(code)
            if page is not None:
                what = " ".join(page.sections.get("what", "").split())
                lines.append(f"  {code} {page.name}{say('colon', lang)}{what}")
        lines.append(f"  {say('page-instead', lang)}{say('colon', lang)}{one.rewrite}")
        if one.rules:
            lines.append(f"  graphlint rule {one.rules[0]}")
        blocks.append("\n".join(lines))
    if not explanations:
        blocks.append(say("unexplained", lang))
    if findings:
        rows = [f"  {place(f, lang)}: {f.code} {one_line(f, lang)}" for f in findings]
        blocks.append("\n".join([say("explained-here", lang), *rows]))
    elif named:
        blocks.append("\n".join(f"  {one.path}:{one.line}" for one in named))
    return "\n\n".join(blocks) + "\n"


def _data(explanations: List[Explanation], named: List[Place], findings: List[Finding]) -> Dict[str, Any]:
    from graphlint.report.json import finding_data

    return {
        "version": 1,
        "explanations": [
            {"rules": list(one.rules), "rewrite": one.rewrite, "matched": one.matched} for one in explanations
        ],
        "places": [one._asdict() for one in named],
        "findings": [finding_data(finding) for finding in findings],
    }
