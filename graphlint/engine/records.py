"""Units, glances and results as plain lists for JSON, and back. What can't be read back raises one of BROKEN."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Dict, List

from graphlint.engine.glance import Glance
from graphlint.engine.unit import Draft, Part, Unit
from graphlint.finding import (
    Applicability,
    CheckResult,
    Confidence,
    Edit,
    Effect,
    FileError,
    Finding,
    Fix,
    Severity,
)
from graphlint.graph_code.facts import (
    Condition,
    GraphFacts,
    Leave,
    LeavesToPython,
    Outside,
    Read,
    ReadInGraph,
)

BROKEN = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
_FINDING = tuple(f.name for f in fields(Finding))
_CONDITIONS = {kind.__name__: kind for kind in (Outside, ReadInGraph, LeavesToPython)}


def of_glance(glance: Glance) -> List[Any]:
    return [
        glance.digest,
        glance.relevant,
        glance.suppresses,
        glance.imports,
        glance.classes,
        glance.bases,
        glance.held,
    ]


def to_glance(row: List[Any]) -> Glance:
    digest, relevant, suppresses, imports, classes, bases, held = row
    return Glance(
        str(digest),
        bool(relevant),
        bool(suppresses),
        _words(imports),
        _words(classes),
        _words(bases),
        dict(held),
    )


def of_finding(finding: Finding) -> List[Any]:
    row = [getattr(finding, name) for name in _FINDING]
    fix = finding.fix
    row[_FINDING.index("fix")] = (
        None
        if fix is None
        else [
            fix.applicability.value,
            [[e.line, e.column, e.end_line, e.end_column, e.text] for e in fix.edits],
            fix.note,
        ]
    )
    return row


def to_finding(row: List[Any]) -> Finding:
    values: Dict[str, Any] = dict(zip(_FINDING, row))
    if len(row) != len(_FINDING):
        raise ValueError("not a finding")
    values["effect"] = Effect(values["effect"])
    values["severity"] = Severity(values["severity"])
    values["confidence"] = Confidence(values["confidence"])
    values["chain"], values["targets"] = _words(values["chain"]), _words(values["targets"])
    values["via"] = tuple((str(path), int(line)) for path, line in values["via"])
    if values["fix"] is not None:
        kind, edits, note = values["fix"]
        values["fix"] = Fix(Applicability(kind), tuple(Edit(*edit) for edit in edits), str(note))
    return Finding(**values)


def of_unit(unit: Unit) -> List[Any]:
    return [
        unit.whole,
        [[[_of_draft(d) for d in part.drafts], _of_facts(part.facts)] for part in unit.parts],
        [[e.path, e.message, e.line] for e in unit.errors],
    ]


def to_unit(name: str, row: List[Any]) -> Unit:
    """The unit of that name; its trail is kept with the answers that it found."""
    whole, parts, errors = row
    return Unit(
        name,
        bool(whole),
        [Part([_to_draft(d) for d in drafts], _to_facts(facts)) for drafts, facts in parts],
        [FileError(*error) for error in errors],
        (),
    )


def of_result(result: CheckResult) -> List[Any]:
    errors = [[e.path, e.message, e.line] for e in result.errors]
    return [[of_finding(f) for f in result.findings], errors, result.files, result.graph_functions]


def to_result(row: List[Any]) -> CheckResult:
    findings, errors, files, functions = row
    return CheckResult(
        [to_finding(f) for f in findings], [FileError(*error) for error in errors], int(files), int(functions)
    )


def _words(values: Any) -> Any:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise ValueError("not words")
    return tuple(values)


def _of_draft(draft: Draft) -> List[Any]:
    when = [[type(c).__name__, [getattr(c, f.name) for f in fields(c)]] for c in draft.when]
    return [of_finding(draft.finding), when]


def _to_draft(row: List[Any]) -> Draft:
    finding, when = row
    return Draft(to_finding(finding), tuple(_to_condition(name, values) for name, values in when))


def _to_condition(name: str, values: List[Any]) -> Condition:
    kind: Any = _CONDITIONS[name]
    if kind is Outside:
        return Outside(tuple((int(line), int(column)) for line, column in values[0]))
    made: Condition = kind(*(tuple(value) if isinstance(value, list) else value for value in values))
    return made


def _of_facts(facts: GraphFacts) -> List[Any]:
    return [
        {path: sorted(places) for path, places in facts.functions.items()},
        facts.attributes,
        facts.variables,
        facts.leaves,
    ]


def _to_facts(row: List[Any]) -> GraphFacts:
    functions, attributes, variables, leaves = row
    return GraphFacts(
        {path: frozenset((int(a), int(b)) for a, b in places) for path, places in functions.items()},
        {name: [_to_read(read) for read in reads] for name, reads in attributes.items()},
        {name: [_to_read(read) for read in reads] for name, reads in variables.items()},
        {top: Leave(int(line), str(text)) for top, (line, text) in leaves.items()},
    )


def _to_read(row: List[Any]) -> Read:
    chain, path, line, module, reader, via, kind, parameter = row
    return Read(
        _words(chain), str(path), int(line), str(module), str(reader),
        tuple((str(p), int(n)) for p, n in via), str(kind), bool(parameter),
    )  # fmt: skip
