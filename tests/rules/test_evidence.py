"""What a rule says at each measured version and level is what the compiler did there with its examples."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest

from graphlint.finding import Effect, Finding
from graphlint.knowledge import __file__ as knowledge
from graphlint.target import LEVELS, MEASURED_VERSIONS, version_key
from tests.rules.examples import Example, disagreement, examples, findings, parsable

EVIDENCE: Dict[str, List[Dict[str, Any]]] = json.loads(
    (Path(knowledge).parent / "evidence.json").read_text("utf-8")
)
EXAMPLES = {(example.code, example.name): example for example in examples() if example.measurable}


def version_of(row: Dict[str, Any]) -> str:
    """The measured version as targets name it: `2.6.0.dev20250323` is 2.6.0."""
    return ".".join(str(part) for part in version_key(row["mindspore"]))


@lru_cache(maxsize=None)
def found_at(key: Tuple[str, str], version: str, level: str) -> Tuple[Finding, ...]:
    example = EXAMPLES[key]
    return tuple(findings(example, example.at(version, level)))


def test_every_example_was_measured_everywhere() -> None:
    targets = {(version, level) for version in MEASURED_VERSIONS for level in LEVELS}
    done: Dict[Tuple[str, str], set] = {key: set() for key in EXAMPLES}
    for code, rows in EVIDENCE.items():
        for row in rows:
            assert (code, row["example"]) in done, f"{code}/{row['example']} is gone: run scripts/evidence.py"
            done[code, row["example"]].add((version_of(row), row["level"]))
    assert {key: targets - its for key, its in done.items() if targets - its} == {}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=lambda example: example.ident)
def test_evidence(example: Example) -> None:
    """At every version and level; where the code can't even run in PyNative there, nothing can be said."""
    if not parsable(example):
        pytest.skip(f"needs Python 3.{example.python}")
    wrong = []
    ran = False
    for row in EVIDENCE.get(example.code, []):
        if row["example"] != example.name:
            continue
        version, level = version_of(row), row["level"]
        found = found_at((example.code, example.name), version, level)
        ran = ran or row["outcome"] != "pynative-fails"
        if row["outcome"] == "pynative-fails" and version != "2.10.0":
            continue
        why = disagreement(example, found, row["outcome"], row["message"])
        if why:
            wrong.append(f"{version} {level}: {why}")
    assert wrong == []
    effects = {finding.effect for finding in findings(example)}
    assert ran or effects & {Effect.PORTING, Effect.PLATFORM}
