"""From compiler errors, as pasted, to rules."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from graphlint import cli
from graphlint.config import known_rules
from graphlint.explain import _table, explain, places

OUTCOMES = Path(__file__).parent / "fixtures" / "truth" / "outcomes.jsonl"
PASTED = """\
RuntimeError: Unsupported statement 'Try'.
----------------------------------------------------
- The Traceback of Net Construct Code:
----------------------------------------------------
# 0 In file {path}:6~9, 8~20
        try:
        ^
----------------------------------------------------
- C++ Call Stack: (For framework developers)
----------------------------------------------------
mindspore/ccsrc/frontend/jit/ps/parse/parse.cc:1012 ParseStatement
"""
NET = """\
import mindspore.nn as nn


class Net(nn.Cell):
    def construct(self, x):
        try:
            return x + 1
        except ValueError:
            return x
"""


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("RuntimeError: Unsupported expression 'NamedExpr'.", "GL108"),
        ("TypeError: Cannot join the return values of different branches, perhaps you need to", "GL201"),
        ("UnboundLocalError: The local variable 'y' is not defined in false branch, but", "GL202"),
        ("Got an unexpected keyword argument 'sep'", "GL301"),
        ("Only support jit_class instance,\nbut got PythonObject(type: <class 'x'>", "GL117"),
        ("报错：静态图模式下不支持 try 语句", "GL101"),
        ("编译报错 The 'for...else...' statement is not supported now.", "GL111"),
        ("分支的返回值类型不一致，Type Join Failed: dtype1 = Float32, dtype2 = Float16", "GL201"),
    ],
)
def test_errors_lead_to_rules(text: str, rule: str) -> None:
    assert explain(text)[0].rules[0] == rule
    assert re.search("[一-鿿]", explain(text, "zh")[0].rewrite)


def test_the_table_names_rules_that_exist() -> None:
    known = known_rules()
    for pattern, rules, english, chinese in _table():
        assert set(rules) <= set(known), pattern.pattern
        assert english.isascii() or "…" in english
        assert english.endswith(".") and chinese.endswith("。")


def test_measured_errors_are_explained() -> None:
    """At least 85 % of the measured compiler messages lead somewhere."""
    rows = [json.loads(line) for line in OUTCOMES.read_text(encoding="utf-8").splitlines()]
    said = {
        f"{row.get('message')} {row.get('detail') or ''}"
        for row in rows
        if row["outcome"] == "error" and row["pynative"] == "ok" and len(row.get("message") or "") > 25
    }
    explained = [text for text in said if explain(text)]
    assert len(said) > 50
    assert len(explained) / len(said) >= 0.85, sorted(said - set(explained))


def test_a_pasted_traceback_shows_the_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(NET)
    text = PASTED.format(path=tmp_path / "net.py")
    assert [(one.line, one.last) for one in places(text)] == [(6, 9)]
    assert cli.run(["explain", "--lang", "en", text]) == 0
    said = capsys.readouterr().out
    assert "GL101 try-in-graph" in said and "net.py:6:9: GL101" in said and "graphlint rule GL101" in said
    assert cli.run(["explain", "--lang", "zh", "--output-format", "json", text]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["explanations"][0]["rules"] == ["GL101"]
    assert data["findings"][0]["code"] == "GL101"


def test_what_no_rule_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["explain", "--lang", "en", "no such thing"]) == 3
    assert "No rule knows" in capsys.readouterr().out
