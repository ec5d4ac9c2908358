"""Faults of the analysis show themselves here instead of being told as a file's error."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def loud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHLINT_DEBUG", "1")
