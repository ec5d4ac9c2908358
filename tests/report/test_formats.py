"""Every report on one result: shape, escapes, grouping, verdicts."""

from __future__ import annotations

import json
from typing import Any, Dict, List
from xml.etree import ElementTree

import pytest

from graphlint.config import FORMATS
from graphlint.finding import Applicability, CheckResult, Edit, Effect, FileError, Finding, Fix, Severity
from graphlint.report import Context, render
from graphlint.target import Target

LINES = {
    "net.py": ["def construct(self, x):", "    try:", "        y = f(x)", "    except E:", "        y = x"],
    "odd.py": ["\t变量 = print(x)  # \x1b[31m\u202e", "x" * 400 + "print(x)"],
}
TRY = Finding(
    code="GL101",
    name="try-in-graph",
    effect=Effect.COMPILE_ERROR,
    severity=Severity.ERROR,
    path="net.py",
    line=2,
    column=5,
    end_line=5,
    end_column=14,
    symbol="Net.construct",
    chain=("Net.construct",),
    message="`try` is refused | here.",
    help="Use `if`.",
    fix=Fix(Applicability.SAFE, (Edit(2, 5, 5, 14, "y = x"),)),
    fingerprint="abc",
    verdict={
        "status": "confirmed",
        "reason": "RuntimeError: Unsupported\nstatement 'Try'.",
        "device": "CPU",
        "mindspore": "2.10.0",
    },
)
PRINT = Finding(
    code="GL301",
    name="print-in-graph",
    effect=Effect.SIDE_EFFECT,
    severity=Severity.WARNING,
    path="odd.py",
    line=1,
    column=7,
    end_line=1,
    end_column=15,
    symbol="Net.f",
    chain=("Net.construct", "Net.f"),
    message="prints another text <x>",
    via=(("net.py", 3),),
)
RESULT = CheckResult(
    findings=[TRY, PRINT, PRINT.with_(line=2, column=401, end_line=2, end_column=409)],
    errors=[FileError("bad,\x1b:.py", "does not parse", 3)],
    files=3,
    graph_functions=2,
)


def context(**changes: Any) -> Context:
    return Context(version="0.1.0", lines=lambda path, cell: LINES.get(path, ()), **changes)


def as_json(output_format: str, result: CheckResult = RESULT) -> Any:
    return json.loads(render(output_format, result, context()))


def test_text() -> None:
    assert render("text", RESULT, context()).splitlines() == [
        "error[GL101] try-in-graph: `try` is refused | here.",
        " --> net.py:2:5",
        "  |",
        "2 | /     try:",
        "3 | |         y = f(x)",
        "4 | |     except E:",
        "5 | |         y = x",
        "  | |_____________^",
        "  |",
        "  = help: Use `if`.",
        "  = fix: graphlint check --fix",
        "  = verdict: confirmed on MindSpore 2.10.0, CPU: RuntimeError: Unsupported statement 'Try'.",
        "",
        "warning[GL301] print-in-graph: prints another text <x>",
        " --> odd.py:1:7",
        "  |",
        r"1 |     变量 = print(x)  # \x1b[31m\u202e",
        "  |            ^^^^^^^^",
        "  |",
        "  = reached: Net.construct → Net.f",
        "  = also at: 2:401",
        "",
        r"error: bad,\x1b:.py:3 does not parse",
        "",
        "1 error, 2 warnings in 2 files; 1 file could not be checked.",
        "Checked 3 files with 2 graph functions for MindSpore 2.10.0 (lax, Ascend).",
        "1 finding can be fixed with --fix.",
    ]


def test_text_in_chinese_and_colour() -> None:
    said = render("text", RESULT, context(lang="zh"))
    assert "警告[GL301] print-in-graph" in said
    assert "2 个文件中共有 1 个错误、2 个警告；1 个文件无法检查。" in said
    assert "\x1b[1;31merror[GL101]\x1b[0m" in render("text", RESULT, context(color=True))


def test_one_place_reached_twice_is_told_once() -> None:
    again = PRINT.with_(chain=("Net.construct", "Net.g", "Net.f"))
    said = render("text", CheckResult([PRINT, again], files=1, graph_functions=1), context())
    assert said.count("GL301") == 1
    assert "reached: Net.construct → Net.f (and through 1 other chain)" in said


def test_many_places_are_counted() -> None:
    findings = [PRINT.with_(line=1, column=column, end_column=column + 1) for column in range(1, 21)]
    said = render("text", CheckResult(findings, files=1, graph_functions=1), context())
    assert "also at: 1:2, 1:3, 1:4, 1:5, 1:6, 1:7, 1:8, 1:9, and 11 more" in said


def test_long_lines_are_cut_around_the_place() -> None:
    said = render("text", CheckResult([RESULT.findings[2]], files=1, graph_functions=1), context())
    source, carets = said.splitlines()[3:5]
    assert len(source) < 180
    assert source[carets.index("^") : carets.rindex("^") + 1] == "print(x)"


def test_long_ranges_are_shortened() -> None:
    lines = [f"line {number}" for number in range(1, 51)]
    finding = TRY.with_(line=1, column=1, end_line=50, end_column=8)
    said = render(
        "text",
        CheckResult([finding], files=1, graph_functions=1),
        Context(version="0", lines=lambda path, cell: lines),
    )
    assert [line for line in said.splitlines() if "line" in line or line.startswith("...")] == [
        " 1 | / line 1",
        " 2 | | line 2",
        " 3 | | line 3",
        "...| |",
        "50 | | line 50",
    ]


def test_a_clean_run_says_how_much_was_looked_at() -> None:
    assert "Nothing breaks in graph mode." in render(
        "text", CheckResult(files=4, graph_functions=9), context()
    )
    assert "no graph code" in render("text", CheckResult(files=4), context())


def test_targets_are_told() -> None:
    targets = (Target("2.4.0"), Target("2.10.0"))
    finding = PRINT.with_(targets=("2.10.0",))
    said = render(
        "text", CheckResult([finding], files=1, graph_functions=1), context(targets=targets, origin="x.toml")
    )
    assert "= on: MindSpore 2.10.0" in said
    assert "MindSpore 2.4.0 was not measured; what is said here was measured on 2.0.0." in said
    assert "The version comes from x.toml" in said


def test_json_has_the_promised_shape() -> None:
    data = as_json("json")
    assert {"version", "tool", "target", "findings", "errors", "summary"} <= set(data)
    assert data["target"] == {
        "mindspore": "2.10.0",
        "syntax_level": "lax",
        "device": "Ascend",
        "measured": True,
    }
    assert data["summary"] == {
        "files": 3,
        "graph_functions": 2,
        "known": 0,
        "findings": 3,
        "error": 1,
        "warning": 2,
        "info": 0,
    }
    first = data["findings"][0]
    assert first["fix"]["edits"] == [
        {"line": 2, "column": 5, "end_line": 5, "end_column": 14, "text": "y = x"}
    ]
    assert first["verdict"] == TRY.verdict
    assert data["findings"][1]["fix"] is None
    assert data["errors"] == [{"path": "bad,\x1b:.py", "line": 3, "message": "does not parse"}]


def test_concise() -> None:
    assert render("concise", RESULT, context()).splitlines() == [
        "net.py:2:5: error GL101 [try-in-graph] `try` is refused | here. "
        "[confirmed on MindSpore 2.10.0, CPU: RuntimeError: Unsupported statement 'Try'.]",
        "odd.py:1:7: warning GL301 [print-in-graph] prints another text <x>",
        "odd.py:2:401: warning GL301 [print-in-graph] prints another text <x>",
        r"bad,\x1b:.py:3:1: error does not parse",
    ]


def test_github_escapes_what_would_end_a_command() -> None:
    lines = render("github", RESULT, context()).splitlines()
    assert lines[1] == (
        "::warning title=GL301 print-in-graph,file=odd.py,line=1,col=7,endLine=1,endColumn=15"
        "::prints another text <x>"
    )
    assert lines[-1].startswith("::error file=bad%2C\x1b%3A.py,line=3::")


def test_gitlab_fingerprints_are_unique() -> None:
    data = as_json("gitlab", CheckResult([TRY, TRY, PRINT, PRINT], files=1))
    assert len({row["fingerprint"] for row in data}) == 4
    assert data[0]["severity"] == "critical"
    assert data[0]["location"] == {"path": "net.py", "lines": {"begin": 2, "end": 5}}


def test_sarif() -> None:
    run: Dict[str, Any] = as_json("sarif")["runs"][0]
    rules: List[Dict[str, Any]] = run["tool"]["driver"]["rules"]
    first, second, _ = run["results"]
    assert [rule["id"] for rule in rules] == ["GL101", "GL301"]
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"]
    assert (first["level"], second["level"]) == ("error", "warning")
    assert first["properties"]["verdict"]["status"] == "confirmed"
    assert first["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {"text": "y = x"}
    assert second["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 3}
    assert run["columnKind"] == "unicodeCodePoints"
    notification = run["invocations"][0]["toolExecutionNotifications"][0]
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "bad%2C%1B%3A.py"


def test_junit_and_checkstyle_are_xml_without_forbidden_characters() -> None:
    suites = ElementTree.fromstring(render("junit", RESULT, context()))
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("4", "3", "1")
    assert [len(suite) for suite in suites] == [1, 1, 2]
    empty = ElementTree.fromstring(render("junit", CheckResult(files=2), context()))
    assert (empty.get("tests"), len(empty)) == ("1", 1)
    style = ElementTree.fromstring(render("checkstyle", RESULT, context()))
    assert [(entry.get("line"), entry.get("severity")) for entry in style[0]] == [("2", "error")]
    assert style[0][0].get("source") == "graphlint.GL101.try-in-graph"


def test_markdown_shows_text_as_it_is() -> None:
    said = render("markdown", RESULT, context())
    assert (
        r"| error | GL101 try-in-graph | `net.py:2:5` | `try` is refused \| here. Use `if`. | confirmed on"
        in said
    )
    assert r"prints another text \<x\>" in said


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_format_takes_an_empty_result_and_a_notebook(output_format: str, lang: str) -> None:
    assert render(output_format, CheckResult(), context(lang=lang)) or output_format in ("concise", "github")
    said = render(
        output_format, CheckResult([PRINT.with_(cell=3, path="b.ipynb")], files=1), context(lang=lang)
    )
    assert "3" in said


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="yaml"):
        render("yaml", RESULT, context())
