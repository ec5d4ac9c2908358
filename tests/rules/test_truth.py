"""The linter against 632 cases that the real compiler ran: every error and divergence told, no false error."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphlint.target import Target
from tests.rules.scoring import findings_of, score

TRUTH = Path(__file__).parents[1] / "fixtures" / "truth"
TARGETS = [("2.10.0", "lax"), ("2.10.0", "strict"), ("2.7.0", "lax")]


@pytest.mark.parametrize(("version", "level"), TARGETS)
def test_truth(version: str, level: str) -> None:
    found = score(TRUTH, Target(version, level, "CPU"))
    assert found.errors > 90 and found.diverging > 40 and found.harmless > 380
    assert found.wrong == []
    assert found.errors_on_line >= 0.9 * found.errors
    assert found.fine_warned <= 0.05 * found.fine


def test_cells_are_found() -> None:
    """A linter that stops seeing Cells says nothing, and nobody notices: this fails then."""
    found = findings_of(TRUTH, Target("2.10.0", "lax", "CPU"))
    assert found["try_finally"] and found["a_for_else"] and found["helper_try"]
