"""Rule pages: docstrings cut at their headings, effects as a table, the same page in text and JSON."""

from __future__ import annotations

import json

import pytest

from graphlint import cli
from graphlint.rule_page import SECTIONS, effect_table, evidence_table, pages, sections_of


@pytest.mark.parametrize(
    "docstring",
    [
        "What\n    It.\n\nWhy\n    Because.\n\nFix safety\n    None.\n",
        "What: It.\nWhy: Because.\nFix safety: None.",
        "## What\n\nIt.\n\n## Why\n\nBecause.\n\n## Fix safety\n\nNone.\n",
        "It.\n\nWhy\n---\nBecause.\n\nFix safety\n----------\nNone.",
    ],
)
def test_headings_are_found_in_every_form(docstring: str) -> None:
    assert sections_of(docstring) == {"what": "It.", "why": "Because.", "fix-safety": "None."}


def test_code_keeps_its_indentation_and_loses_its_fence() -> None:
    sections = sections_of("What: It.\n\nExample\n\n    ```python\n    if x:\n        y\n    ```\n")
    assert sections["example"] == "if x:\n    y"


def test_effects_with_one_value_are_one_line() -> None:
    rows = [{"mindspore": v, "level": "lax", "device": "CPU", "effect": "slow"} for v in ("2.7.0", "2.10.0")]
    assert list(effect_table(rows, "en")) == ["slow (every measured version, level and device)"]


def test_effects_that_differ_are_a_table() -> None:
    rows = [
        {"mindspore": version, "level": level, "device": device, "effect": effect}
        for version, level, effect in (
            ("2.7.0", "lax", "fallback"),
            ("2.7.0", "strict", "compile-error"),
            ("2.10.0", "lax", "none"),
            ("2.10.0", "strict", "none"),
        )
        for device in ("Ascend", "CPU")
    ]
    assert list(effect_table(rows, "en")) == [
        "MindSpore  lax       strict",
        "2.7.0      fallback  compile-error",
        "2.10.0     none      none",
    ]


def test_evidence_folds_versions_and_examples_that_agree() -> None:
    rows = [
        {
            "mindspore": version,
            "level": level,
            "device": "CPU",
            "example": example,
            "outcome": outcome,
            "message": words,
        }
        for example in ("bad.py", "bad_more.py")
        for version, level, outcome, words in (
            ("2.0.0", "lax", "error", "old words"),
            ("2.0.0", "strict", "error", "old words"),
            ("2.7.0", "lax", "diverges", "result: 1, 2"),
            ("2.7.0", "strict", "error", "refused"),
            ("2.10.0", "lax", "diverges", "result: 1, 2"),
            ("2.10.0", "strict", "error", "refused"),
        )
    ]
    assert list(evidence_table(rows, "en")) == [
        "Example      MindSpore       lax       strict",
        "bad.py       2.0.0           error     error",
        "bad_more.py  2.7.0 – 2.10.0  diverges  error",
        "",
        "bad.py, bad_more.py: result: 1, 2",
    ]
    assert next(evidence_table(rows, "zh")).startswith("示例         MindSpore")


def test_every_rule_has_a_whole_page() -> None:
    for page in pages():
        assert set(SECTIONS) <= set(page.sections), page.code


def test_one_rule_and_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["rule", "GL901", "--lang", "en"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("GL901 unused-suppression\n\nWhat\n    A graphlint comment")
    assert cli.run(["rule", "unused-suppression", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["code"] == "GL901"
    assert cli.run(["rule", "--all", "--output-format", "json"]) == 0
    listed = [page["code"] for page in json.loads(capsys.readouterr().out)]
    assert listed == sorted(listed)
    assert "GL901" in listed
