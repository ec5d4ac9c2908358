"""The facts behind GL6xx and GL8xx, on the installed MindSpore, and PyTorch's side where torch is installed.

facts.json states both sides: an expression, and its value or exception. The recorded PyTorch values stand by
themselves; torch is needed only to check them again. torch.json is held to the tables of every version.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest

FACTS = json.loads(Path(__file__).with_name("facts.json").read_text("utf-8"))["cases"]
HERE = Path(__file__).parent


def _run(side: str) -> List[Dict[str, Any]]:
    """What each fact's expression gives on one side, in one process of its own."""
    done = subprocess.run(
        [sys.executable, str(HERE / "evaluate.py"), side],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=str(HERE),
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def _agrees(said: str, got: str, within: float) -> bool:
    if said == got:
        return True
    try:
        return abs(float(said) - float(got)) <= within
    except ValueError:
        return False


@pytest.mark.mindspore
@pytest.mark.skipif(importlib.util.find_spec("mindspore") is None, reason="MindSpore is not installed")
def test_mindspore_side() -> None:
    wrong = []
    for fact, got in zip(FACTS, _run("mindspore")):
        if "raises" in fact:
            if got["raises"] != fact["raises"]:
                wrong.append((fact["mindspore"], fact["raises"], got))
        elif not _agrees(fact["is"], got["is"], fact.get("within", 1e-4)):
            wrong.append((fact["mindspore"], fact["is"], got))
    assert not wrong


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch_side() -> None:
    wrong = []
    for fact, got in zip(FACTS, _run("torch")):
        if "torch" in fact and not _agrees(fact["torch_is"], got["is"], fact.get("torch_within", 1e-4)):
            wrong.append((fact["torch"], fact["torch_is"], got))
    assert not wrong


def test_every_fact_names_a_rule() -> None:
    from graphlint.checkers import all_rules

    codes = {rule.code for rule in all_rules()}
    assert {fact["rule"] for fact in FACTS} <= codes


def test_the_table_agrees_with_the_api_tables() -> None:
    """Every name, keyword and default of torch.json, against the tables read from each version."""
    from graphlint.knowledge import api, api_versions
    from graphlint.knowledge.torch_names import rows

    tables = [api(version) for version in api_versions()]
    for row in rows():
        for name in (row.mindspore, row.mint):
            owner = "mindspore.nn.Cell.construct"
            assert not name or name == owner or any(t.get(name) is not None or t.has(name) for t in tables), (
                name
            )
        entries = [entry for entry in (t.get(row.mindspore) for t in tables) if entry is not None]
        for theirs, ours in row.keywords.items():
            for entry in entries:
                assert entry.param(theirs) is None, (row.torch, theirs)
                assert all(entry.accepts(part) for part in ours.split(", ") if part), (row.torch, ours)
        for differs in row.differs:
            for entry in entries:
                parameter = entry.param(differs.parameter)
                assert parameter is not None, (row.torch, differs.parameter)
                assert parameter.default != differs.torch, (row.torch, differs.parameter)


def test_both_languages() -> None:
    from graphlint.knowledge.torch_names import rows

    for row in rows():
        for text in (row.text, *(differs.text for differs in row.differs)):
            assert text.en
            assert any("\u4e00" <= character <= "\u9fff" for character in text.zh), row.torch
            assert not any("\u4e00" <= character <= "\u9fff" for character in text.en), row.torch
