"""What several reports say in the same way: places, severities, verdicts, the summary."""

from __future__ import annotations

import unicodedata
from typing import Any, Dict, Iterable, List, Optional

from graphlint.finding import Applicability, CheckResult, Finding, Severity
from graphlint.lang import say
from graphlint.report import Context
from graphlint.target import nearest_measured

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def visible(text: str) -> str:
    """`text` with control and formatting characters spelled out, so that no terminal obeys them."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _harmless(character) else escaped(character) for character in text)


def _harmless(character: str) -> bool:
    return unicodedata.category(character) not in _INVISIBLE


def escaped(character: str) -> str:
    """The character's escape as Python writes it."""
    point = ord(character)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def place(finding: Finding, lang: str = "en") -> str:
    """`net.py:8:9`, or `book.ipynb:cell 3:8:9`."""
    cell = f":{say('cell', lang, n=finding.cell)}" if finding.cell is not None else ""
    return f"{visible(finding.path)}{cell}:{finding.line}:{finding.column}"


def counts(result: CheckResult) -> Dict[str, int]:
    """How many findings of each severity, the gravest first."""
    numbers = {severity.value: 0 for severity in Severity}
    for finding in result.findings:
        numbers[finding.severity.value] += 1
    return numbers


def targets(context: Context) -> str:
    """`MindSpore 2.7.0, 2.10.0 (lax, Ascend)`."""
    first = context.targets[0]
    versions = ", ".join(target.mindspore for target in context.targets)
    return say("target", context.lang, versions=versions, level=first.level, device=first.device)


def summary(result: CheckResult, context: Context) -> List[str]:
    """The closing sentences: what was found, in how much code, for which target, what can be fixed."""
    lang = context.lang
    numbers = counts(result)
    found = [say(severity + "s", lang, n=number) for severity, number in numbers.items() if number]
    first = say("clean", lang)
    if found:
        files = len({finding.path for finding in result.findings})
        first = say("found", lang, counts=say("comma", lang).join(found), files=files)
    elif result.errors:
        first = ""
    if result.errors:
        unread = say("unread", lang, n=len({error.path for error in result.errors}))
        first = say("semicolon", lang).join(filter(None, (first, unread)))
    said = [first + say("period", lang)]
    if result.graph_functions or not result.files:
        functions = result.graph_functions
        said.append(say("scope", lang, files=result.files, functions=functions, target=targets(context)))
    else:
        said.append(say("no-graph-code", lang, files=result.files))
    if result.known:
        said.append(say("known", lang, n=result.known))
    if context.origin:
        said.append(say("declared", lang, origin=context.origin))
    for target in context.targets:
        if not target.measured:
            stand_in = nearest_measured(target.mindspore)
            said.append(say("unmeasured", lang, version=target.mindspore, stand_in=stand_in))
    said.extend(_fixable(result.findings, lang))
    return said


def _fixable(findings: Iterable[Finding], lang: str) -> Iterable[str]:
    kinds = [finding.fix.applicability for finding in findings if finding.fix is not None]
    safe, unsafe = kinds.count(Applicability.SAFE), kinds.count(Applicability.UNSAFE)
    sentences = []
    if safe:
        sentences.append(say("fixable", lang, n=safe))
    if unsafe:
        key = "fixable-unsafe" if safe else "fixable-only-unsafe"
        sentences.append(say(key, lang, n=unsafe))
    if sentences:
        yield (" " if lang == "en" else "").join(sentences)


def verdict(finding: Finding, lang: str = "en") -> str:
    """The verifier's word on a finding in one line (`confirmed on MindSpore 2.10.0, CPU: …`), or nothing."""
    said: Optional[Dict[str, Any]] = finding.verdict
    if not said:
        return ""
    status = str(said.get("status", ""))
    text = say(status, lang) if status in ("confirmed", "refuted", "inconclusive", "not-run") else status
    version, device = said.get("mindspore"), said.get("device")
    where = ", ".join(part for part in (f"MindSpore {version}" if version else "", str(device or "")) if part)
    if where:
        text = say("on-device", lang, status=text, where=where)
    reason = " ".join(str(said.get("reason") or "").split())
    return visible(text + say("colon", lang) + reason if reason else text)


def one_line(finding: Finding, lang: str = "en") -> str:
    """Message, help and verdict of a finding as one line."""
    closed = finding.message.rstrip().endswith((".", "。", "!", "?"))
    between = " " if closed else say("semicolon", lang)
    parts = [between.join(part for part in (finding.message, finding.help) if part)]
    said = verdict(finding, lang)
    if said:
        parts.append(f"[{said}]")
    return visible(" ".join(" ".join(part.split()) for part in parts if part))
