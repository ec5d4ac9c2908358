"""Every example compiled by the installed MindSpore: what a rule says must be what the compiler does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Dict, Tuple

import pytest

from graphlint.cli.verify import installed_version
from graphlint.target import LEVELS, version_key
from tests.rules.examples import Example, Measured, disagreement, examples, findings, measure, parsable
from tests.verify.conftest import interpreter

CASES = [
    (example, level)
    for example in examples()
    if parsable(example) and example.measurable
    for level in LEVELS
    if level == "lax" or example.target.strict
]
INSTALLABLE = sys.platform == "linux" and (3, 9) <= sys.version_info[:2] <= (3, 11)

pytestmark = pytest.mark.mindspore


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter with MindSpore; a failure where it could be installed and isn't."""
    found = interpreter()
    if not found and INSTALLABLE:
        pytest.fail("MindSpore isn't installed: pip install mindspore 'numpy<2'")
    if not found:
        pytest.skip(f"no MindSpore for Python {sys.version_info[0]}.{sys.version_info[1]} on {sys.platform}")
    return found


@pytest.fixture(scope="module")
def measured(python: str) -> Dict[Tuple[Path, str], Measured]:
    """What the compiler did with each example at each level, by path and level."""
    found = {}
    for level in LEVELS:
        chosen = [example for example, its in CASES if its == level]
        found.update({(path, level): one for path, one in measure(python, chosen, level).items()})
    return found


FACTS_ELSEWHERE = frozenset(
    "GL604 GL605 GL611 GL612 GL613 GL614 GL615 GL617 GL621 GL622 GL623 GL632 GL640".split()
)
"""Habits from PyTorch that both modes share: no run of the Cell tells them, tests/porting measures each."""


@pytest.fixture(scope="module")
def version(python: str) -> str:
    """The installed version as `2.10.0`."""
    return ".".join(str(part) for part in version_key(installed_version(python) or ""))


@pytest.mark.parametrize(("example", "level"), CASES, ids=lambda case: getattr(case, "ident", case))
def test_compiled(
    example: Example, level: str, version: str, measured: Dict[Tuple[Path, str], Measured]
) -> None:
    assert (example.path, level) in measured, "the compiler never saw this example"
    one = measured[example.path, level]
    found = findings(example, example.at(version, level))
    assert disagreement(example, found, one.outcome, one.message) == ""
    for code, status in one.verdicts:
        if code != example.code:
            continue
        if code in FACTS_ELSEWHERE:
            assert status in ("confirmed", "inconclusive"), (code, status)
        else:
            assert status == "confirmed", (code, status)
