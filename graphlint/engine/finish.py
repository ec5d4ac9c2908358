"""From what each module gives to the findings that are shown: conditions, doubles, suppressions, order."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from graphlint.config import Settings
from graphlint.engine.plan import Glances
from graphlint.engine.sources import Sources
from graphlint.engine.unit import Draft, Unit
from graphlint.finding import CheckResult, FileError, Finding, fingerprint
from graphlint.graph_code.facts import GraphFacts, fulfilled, later
from graphlint.source import SourceError, SourceFile

Place = Tuple[Any, ...]


def finished(
    units: Sequence[Unit], shown: Sequence[str], settings: Settings, sources: Sources, glances: Glances
) -> CheckResult:
    """The findings in the shown files, in order; a place that several modules reach is told once."""
    wanted = set(shown)
    result = CheckResult(files=len(shown))
    per_target: List[List[Finding]] = []
    for i in range(len(settings.targets)):
        parts = [unit.parts[i] for unit in units if unit.parts]
        facts = GraphFacts()
        for part in parts:
            facts.add(part.facts)
        standing = [_standing(part.drafts, wanted, facts) for part in parts]
        per_target.append(_told_once(standing))
        functions = sum(len(places) for path, places in facts.functions.items() if path in wanted)
        result.graph_functions = max(result.graph_functions, functions)
    errors: Dict[str, FileError] = {}
    for unit in units:
        for error in unit.errors:
            if error.path in wanted:
                errors.setdefault(error.path, error)
    result.errors = list(errors.values())
    result.findings = _last(_merged(per_target), shown, settings, sources, glances)
    return result


def _standing(drafts: Sequence[Draft], wanted: set, facts: GraphFacts) -> List[Finding]:
    """The findings in the wanted files whose conditions are fulfilled, with what the conditions tell."""
    found: List[Finding] = []
    for finding, when in drafts:
        if finding.path not in wanted:
            continue
        told = [fulfilled(condition, finding.path, facts) for condition in when]
        for one in told:
            if one is None:
                break
            for word, text in one.words.items():
                finding = finding.with_(message=finding.message.replace(later(word), text))
            if one.chain:
                finding = finding.with_(chain=one.chain, via=one.via)
        else:
            found.append(finding)
    return found


def _told_once(standing: Sequence[List[Finding]]) -> List[Finding]:
    """Of findings that several modules' graphs give for one place, those of the gravest, by the shortest way.

    A rewrite stays only where all of them would make it.
    """
    by_place: Dict[Place, List[List[Finding]]] = {}
    for findings in standing:
        own: Dict[Place, List[Finding]] = {}
        for f in findings:
            own.setdefault((f.path, f.line, f.column, f.end_line, f.end_column, f.code), []).append(f)
        for place, those in own.items():
            by_place.setdefault(place, []).append(those)
    kept: List[Finding] = []
    for groups in by_place.values():
        best = min(groups, key=_rank)
        if len(groups) > 1:
            edits = [{f.fix.edits for f in group if f.fix is not None} for group in groups]
            if any(one != edits[0] for one in edits):
                best = [f.with_(fix=None) for f in best]
        kept.extend(best)
    return kept


def _rank(findings: List[Finding]) -> Tuple[Any, ...]:
    return min((f.severity.rank, len(f.chain), f.chain, f.message) for f in findings)


def _merged(per_target: Sequence[List[Finding]]) -> List[Finding]:
    """One list from the findings for each target; where all say the same, told once with the targets it holds for."""
    merged: Dict[Place, Finding] = {}
    for findings in per_target:
        for f in findings:
            key = (f.code, f.path, f.line, f.column, f.effect, f.message)
            known = merged.get(key)
            if known is None:
                merged[key] = f
            elif f.targets[0] not in known.targets:
                merged[key] = known.with_(targets=(*known.targets, *f.targets))
    return [f.with_(targets=()) for f in merged.values()] if len(per_target) == 1 else list(merged.values())


def _last(
    findings: List[Finding],
    shown: Sequence[str],
    settings: Settings,
    sources: Sources,
    glances: Glances,
) -> List[Finding]:
    """Suppressions, fingerprints, notebook cells, select and ignore, order."""
    by_path: Dict[str, List[Finding]] = {path: [] for path in shown}
    for finding in findings:
        by_path[finding.path].append(finding)
    kept: List[Finding] = []
    for path, those in by_path.items():
        suppresses = glances.glance(path).suppresses
        if those or suppresses:
            needed = suppresses or path.endswith(".ipynb")
            source = _source(path, sources) if needed else None
            kept.extend(_of_file(sorted(those, key=lambda f: f.sort_key), settings, source))
    return sorted((f for f in kept if settings.selects(f.code, f.name, f.path)), key=lambda f: f.sort_key)


def _source(path: str, sources: Sources) -> Optional[SourceFile]:
    try:
        return sources.source(path)
    except SourceError:
        return None


def _of_file(findings: List[Finding], settings: Settings, source: Optional[SourceFile]) -> Iterator[Finding]:
    from graphlint.suppressions import apply_suppressions

    if source is not None:
        stay, unused = apply_suppressions(source, findings, pylint=settings.pylint_comments)
        findings = sorted([*stay, *(_with_text(f, source) for f in unused)], key=lambda f: f.sort_key)
    seen: Dict[Tuple[str, str, str], int] = {}
    for finding in findings:
        key = (finding.code, finding.symbol, finding.text)
        seen[key] = seen.get(key, -1) + 1
        name = os.path.basename(finding.path)
        mark = fingerprint(finding.code, name, finding.symbol, finding.text, seen[key])
        marked = finding.with_(fingerprint=mark)
        yield marked if source is None else source.relocate(marked)


def _with_text(f: Finding, source: SourceFile) -> Finding:
    return f.with_(text=source.segment(f.line, f.column, f.end_line, f.end_column))
