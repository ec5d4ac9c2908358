"""The marker `slow`: minutes, and an installed MindSpore. Such tests run only where `-m slow` asks for
them."""

from __future__ import annotations

from typing import List

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes minutes; runs only with -m slow")


def pytest_collection_modifyitems(config: pytest.Config, items: List[pytest.Item]) -> None:
    if "slow" in str(config.getoption("markexpr", "")):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="takes minutes: run with -m slow"))
