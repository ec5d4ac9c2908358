"""The HTML page: everything escaped, nothing from outside, and a browser that draws it."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest

from graphlint.report.html import page

EVIL = "<script>alert(1)</script>\"'&\x1b[31m</style>"
VOID = {"meta", "input", "br"}


def document(**verdict: Any) -> Dict[str, Any]:
    finding = {
        "code": "GL101",
        "name": EVIL,
        "severity": "error",
        "path": EVIL,
        "cell": None,
        "line": 1,
        "column": 1,
        "end_line": 2,
        "end_column": 5,
        "chain": [EVIL, "Net.f"],
        "message": EVIL,
        "help": EVIL,
        "fix": None,
        "verdict": {
            "status": "confirmed",
            "reason": EVIL,
            "pynative": "ok",
            "graph": EVIL,
            "rung": EVIL,
            **verdict,
        },
    }
    cell = {
        "cell": EVIL,
        "path": EVIL,
        "line": 3,
        "status": "error",
        "reason": EVIL,
        "rung": EVIL,
        "device": "CPU",
    }
    return {
        "target": {"mindspore": "2.7.0", "device": "CPU", "syntax_level": "lax"},
        "findings": [finding],
        "cells": [{**cell, "missed": [{"path": "x", "line": 1}]}],
        "verify": {
            "mindspore": EVIL,
            "device": "CPU",
            "seconds": 1.5,
            "checks": [{"check": EVIL, "status": "warning", "found": EVIL}],
        },
    }


class Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: List[str] = []
        self.links: List[Tuple[str, Any]] = []
        self.tags: set = set()

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Any]]) -> None:
        self.tags.add(tag)
        self.links += [
            (name, value) for name, value in attrs if name in ("src", "href", "action") or name[:2] == "on"
        ]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_escaped_balanced_and_self_contained(lang: str) -> None:
    text = page([document(), document(status="refuted")], lang)
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert checker.links == []
    assert "script" not in checker.tags
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert not re.search(r"url\(|@import|https?://", text)
    assert f'<html lang="{lang}">' in text


def test_one_finding_with_the_verdicts_of_two_runs() -> None:
    text = page([document(), document(status="refuted")])
    assert text.count("<details") == 1
    assert text.count("<details open") == 1


def test_empty() -> None:
    empty = {**document(), "findings": [], "cells": [], "verify": {}}
    assert "No findings." in page([empty])


def test_rewrite_is_shown_as_lines(tmp_path: Path) -> None:
    source = tmp_path / "net.py"
    source.write_text("try:\n    y = 1\nexcept E:\n    pass\n")
    made = document()
    edits = [
        {"line": 1, "column": 1, "end_line": 2, "end_column": 5, "text": ""},
        {"line": 2, "column": 10, "end_line": 4, "end_column": 9, "text": ""},
    ]
    made["findings"][0].update(path=str(source), fix={"applicability": "safe", "edits": edits})
    text = page([made])
    assert "<ins>+y = 1</ins>" in text
    assert "<del>-try:</del>" in text


def test_a_browser_draws_it(tmp_path: Path) -> None:
    browser = next(
        (path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None
    )
    if browser is None:
        pytest.skip("no Chromium here")
    path = tmp_path / "report.html"
    path.write_text(page([document()], "zh"), encoding="utf-8")
    common = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    picture = tmp_path / "page.png"
    subprocess.run(
        [*common, f"--screenshot={picture}", "--window-size=900,1200", path.as_uri()],
        check=False,
        capture_output=True,
        timeout=120,
    )
    assert picture.stat().st_size > 10_000
    dumped = subprocess.run(
        [*common, "--dump-dom", path.as_uri()], check=False, capture_output=True, text=True, timeout=120
    ).stdout
    assert "alert(1)" in dumped
    assert "<script>" not in dumped
