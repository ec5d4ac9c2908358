"""Every rule has examples, and check says of each exactly what is written in it."""

from __future__ import annotations

from collections import Counter

import pytest

from graphlint.checkers import all_rules
from tests.rules.examples import Example, examples, findings, parsable

EXAMPLES = examples()


def test_every_rule_has_a_bad_and_a_good_example() -> None:
    kinds = {(example.code, example.bad) for example in EXAMPLES}
    codes = {rule.code for rule in all_rules()}
    assert sorted(codes - {code for code, bad in kinds if bad}) == []
    assert sorted(codes - {code for code, bad in kinds if not bad}) == []
    assert sorted({example.code for example in EXAMPLES} - codes) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.ident)
def test_example(example: Example) -> None:
    """The findings at the example's target are those that its markers expect: rules, lines, no others."""
    if not parsable(example):
        pytest.skip(f"needs Python 3.{example.python}")
    found = findings(example)
    told = Counter((finding.code, finding.line) for finding in found)
    assert told == example.expected()
    assert any(finding.code == example.code for finding in found) == example.bad
