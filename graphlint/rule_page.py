"""A rule's page: its docstring under fixed headings, its effect by target, the evidence behind it.

The command line, the editors' hover texts, SARIF and the documentation show the same page.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple

from graphlint.lang import say
from graphlint.report.snippet import width
from graphlint.suppressions import CODE, NAME
from graphlint.target import LEVELS

SECTIONS = ("what", "why", "example", "instead", "fix-safety")
_HEADING = re.compile(r"^#*\s*(What|Why|Example|Instead|Fix safety)\s*:?\s*$", re.IGNORECASE)
_INLINE = re.compile(r"^(What|Why|Example|Instead|Fix safety):\s+(\S.*)$")
_TELLING = ("error", "diverges", "printed-differs", "pynative-fails")
"""Outcomes whose message says more than the outcome."""
_EVIDENCE = Path(__file__).parent / "knowledge" / "evidence.json"


class UnusedSuppression:
    """
    What
        A graphlint comment that silences nothing, or that names a rule which doesn't exist.

    Why
        A suppression that outlives its finding hides the next one at the same place.

    Example
        y = ops.relu(x)  # graphlint: ignore[GL101]

    Instead
        y = ops.relu(x)

    Fix safety
        Safe: only the comment is removed, and only where no other text follows it.
    """

    code = CODE
    name = NAME

    @staticmethod
    def effects_by_target() -> List[Dict[str, str]]:
        return []


@dataclass(frozen=True)
class Page:
    """One rule as it is shown: `sections` by name, `effects` one row a target, `evidence` as measured."""

    code: str
    name: str
    sections: Mapping[str, str]
    effects: Sequence[Mapping[str, str]] = ()
    evidence: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    def data(self) -> Dict[str, Any]:
        """The page as JSON data."""
        return {
            "code": self.code,
            "name": self.name,
            **{section.replace("-", "_"): self.sections.get(section, "") for section in SECTIONS},
            "effects": [dict(row) for row in self.effects],
            "evidence": [dict(row) for row in self.evidence],
        }


def pages() -> List[Page]:
    """The pages of all rules, by code; imports the checkers."""
    from graphlint.checkers import all_rules

    rules: Dict[str, Any] = {UnusedSuppression.code: UnusedSuppression}
    rules.update((rule.code, rule) for rule in all_rules())
    evidence = _read_evidence()
    return [_page(rules[code], evidence.get(code, ())) for code in sorted(rules)]


def _page(rule: Any, evidence: Sequence[Mapping[str, Any]]) -> Page:
    sections = sections_of(inspect.getdoc(rule) or "")
    return Page(rule.code, rule.name, sections, tuple(rule.effects_by_target()), tuple(evidence))


def sections_of(docstring: str) -> Dict[str, str]:
    """A docstring cut at its headings, each alone on its line or before a colon; text above is `what`."""
    found: Dict[str, List[str]] = {}
    current = "what"
    for line in docstring.splitlines():
        heading, inline = _HEADING.match(line), _INLINE.match(line)
        if heading is not None:
            current = heading[1].lower().replace(" ", "-")
            found.setdefault(current, [])
        elif inline is not None:
            current = inline[1].lower().replace(" ", "-")
            found[current] = [inline[2]]
        elif re.fullmatch(r"\s*[-=~]{3,}\s*", line) and not any(found.get(current, ())):
            continue
        else:
            found.setdefault(current, []).append(line)
    texts = {name: inspect.cleandoc("\n" + "\n".join(lines)).strip("\n") for name, lines in found.items()}
    return {name: _without_fences(text) for name, text in texts.items() if text.strip()}


def _without_fences(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith(("```", ".. code")))


def text_page(page: Page, lang: str) -> str:
    """The page for a terminal."""
    blocks = [f"{page.code} {page.name}"]
    for section in SECTIONS:
        if section in page.sections:
            blocks.append(_block(say(f"page-{section}", lang), page.sections[section].splitlines()))
    if page.effects:
        blocks.append(_block(say("page-effects", lang), list(effect_table(page.effects, lang))))
    if page.evidence:
        blocks.append(_block(say("page-evidence", lang), list(evidence_table(page.evidence, lang))))
    blocks.append(_block(say("page-silence", lang), [say("page-silence-body", lang, code=page.code)]))
    return "\n\n".join(blocks) + "\n"


def _block(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, *(f"    {line}".rstrip() for line in lines)])


def effect_table(effects: Sequence[Mapping[str, str]], lang: str) -> Iterator[str]:
    """The effects with a row for each version and a column for each level and device that differ."""
    by_case: Dict[str, List[Mapping[str, str]]] = {}
    for row in effects:
        by_case.setdefault(row.get("case", ""), []).append(row)
    for case, rows in by_case.items():
        if case:
            yield f"{case}:"
        margin = "  " if case else ""
        yield from (margin + line for line in _one_table(rows, lang))


def _one_table(effects: Sequence[Mapping[str, str]], lang: str) -> Iterator[str]:
    if len({row["effect"] for row in effects}) == 1:
        yield f"{effects[0]['effect']}{say('paren', lang, text=say('every-target', lang))}"
        return
    columns: Dict[Tuple[str, str], Dict[str, str]] = {}
    for row in effects:
        columns.setdefault((row["level"], row["device"]), {})[row["mindspore"]] = row["effect"]
    merged: List[Tuple[str, Dict[str, str]]] = []
    for level in dict.fromkeys(level for level, _ in columns):
        mine = {device: column for (its, device), column in columns.items() if its == level}
        if all(column == next(iter(mine.values())) for column in mine.values()):
            merged.append((level, next(iter(mine.values()))))
        else:
            merged.extend((f"{level}, {device}", column) for device, column in mine.items())
    if all(column == merged[0][1] for _, column in merged):
        merged = [("", merged[0][1])]
    versions = list(dict.fromkeys(row["mindspore"] for row in effects))
    rows = [["MindSpore", *(head for head, _ in merged)]]
    rows += [[version, *(column.get(version, "") for _, column in merged)] for version in versions]
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    for cells in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()


def evidence_table(evidence: Sequence[Mapping[str, Any]], lang: str) -> Iterator[str]:
    """What the compiler did with each example: versions that agree share a row, and so do examples.

    Below it the compiler's words, as the newest version says them.
    """
    levels = list(dict.fromkeys(row["level"] for row in evidence))
    examples: Dict[Tuple[Tuple[str, ...], ...], List[str]] = {}
    for name in dict.fromkeys(row["example"] for row in evidence):
        mine = [row for row in evidence if row["example"] == name]
        examples.setdefault(tuple(_folded(mine, levels)), []).append(name)
    rows = [[say("page-example", lang), "MindSpore", *levels]]
    for folded, names in examples.items():
        for number in range(max(len(folded), len(names))):
            name = names[number] if number < len(names) else ""
            rows.append([name, *(folded[number] if number < len(folded) else ())])
    widths = [max(width(row[index]) for row in rows if index < len(row)) for index in range(len(rows[0]))]
    for cells in rows:
        padded = (cell + " " * (wide - width(cell)) for cell, wide in zip(cells, widths))
        yield "  ".join(padded).rstrip()
    words: Dict[str, List[str]] = {}
    for row in evidence:
        if row["outcome"] in _TELLING and row is _newest(row, evidence):
            words.setdefault(row["message"], []).append(row["example"])
    if words:
        yield ""
    for message, names in words.items():
        yield from textwrap.wrap(
            f"{', '.join(dict.fromkeys(names))}: {message}",
            100,
            subsequent_indent="  ",
            break_long_words=False,
        )[:3]


def _folded(rows: Sequence[Mapping[str, Any]], levels: Sequence[str]) -> Iterator[Tuple[str, ...]]:
    """(versions, outcome at each level) of one example; neighbouring versions that agree are one row."""
    found: List[Tuple[List[str], Tuple[str, ...]]] = []
    for version in dict.fromkeys(row["mindspore"] for row in rows):
        by_level = {row["level"]: row["outcome"] for row in rows if row["mindspore"] == version}
        outcomes = tuple(by_level.get(level, "") for level in levels)
        if found and found[-1][1] == outcomes:
            found[-1][0].append(version)
        else:
            found.append(([version], outcomes))
    for versions, outcomes in found:
        shown = versions[0] if len(versions) == 1 else f"{versions[0]} – {versions[-1]}"
        yield (shown, *outcomes)


def _newest(row: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The row of the same example whose words are shown: the newest version's, of the default level if it has any."""
    told = [
        other for other in evidence if other["example"] == row["example"] and other["outcome"] in _TELLING
    ]
    return ([other for other in told if other["level"] == LEVELS[0]] or told)[-1]


def _read_evidence() -> Dict[str, Any]:
    try:
        data = json.loads(_EVIDENCE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    rules = data.get("rules", data)
    return {code: rows for code, rows in rules.items() if isinstance(rows, list)}
