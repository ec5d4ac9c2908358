"""The pylint plugin through real pylint on real files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

from graphlint.checkers import all_rules
from graphlint.pylint_plugin import FAMILIES, letter
from tests.pylint.conftest import HELPERS, NET, OURS, checked, pylint_messages, rows

Pylint = Callable[..., "subprocess.CompletedProcess[str]"]


def test_importing_graphlint_imports_neither_pylint_nor_astroid() -> None:
    code = "import graphlint, sys; print(sorted(m for m in sys.modules if 'lint' in m or 'astroid' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['graphlint']"


def test_same_findings_as_check(project: Path) -> None:
    expected = checked("pkg")
    assert [row[0] for row in expected].count("pkg/helpers.py") == 1
    assert rows(pylint_messages("pkg")) == expected


def test_columns_count_characters(project: Path) -> None:
    line = NET.splitlines()[11]
    found = [m for m in pylint_messages("pkg/net.py") if m["line"] == 12]
    assert [line[m["column"] : m["endColumn"]] for m in found] == ['print(x, end="")']


def test_a_file_given_singly_loses_nothing(project: Path) -> None:
    """helpers.py alone doesn't say that it is graph code: net.py does."""
    alone = rows(pylint_messages("pkg/helpers.py"))
    assert [(line, name) for _, line, _, name in alone] == [(2, "try-in-graph")]
    assert sorted(alone + rows(pylint_messages("pkg/net.py"))) == checked("pkg")


def test_two_processes_say_the_same(project: Path) -> None:
    for number in range(4):
        (project / "pkg" / f"more{number}.py").write_text(NET, encoding="utf-8")
    assert (
        rows(pylint_messages("-j", "2", "pkg")) == rows(pylint_messages("-j", "1", "pkg")) == checked("pkg")
    )


def test_pylint_comments_hold_on_every_front_end(project: Path) -> None:
    for comment in ("disable=try-in-graph", "disable=E7101", "disable=all"):
        (project / "pkg" / "helpers.py").write_text(HELPERS.replace("try:", f"try:  # pylint: {comment}", 1))
        assert rows(pylint_messages("pkg")) == checked("pkg")
        assert "try-in-graph" not in str(pylint_messages("pkg/helpers.py"))
    head = HELPERS.replace("    try:", "    # pylint: disable=try-in-graph\n    try:", 1)
    (project / "pkg" / "helpers.py").write_text(head)
    assert rows(pylint_messages("pkg/helpers.py")) == checked("pkg/helpers.py") == []
    last = HELPERS.replace("return x * 2", "return x * 2  # pylint: disable=try-in-graph", 1)
    (project / "pkg" / "helpers.py").write_text(last)
    assert rows(pylint_messages("pkg/helpers.py")) == checked("pkg/helpers.py") != []


def test_a_pylint_comment_that_works_is_not_called_useless(project: Path) -> None:
    text = HELPERS.replace("try:", "try:  # pylint: disable=try-in-graph", 1)
    (project / "pkg" / "helpers.py").write_text(text)
    found = pylint_messages("--enable=useless-suppression", "pkg/helpers.py")
    assert "useless-suppression" not in [m["symbol"] for m in found]
    (project / "pkg" / "helpers.py").write_text(text.replace("def scaled", "def other"))
    found = pylint_messages("--enable=useless-suppression", "pkg/helpers.py")
    assert "useless-suppression" in [m["symbol"] for m in found]


def test_other_suppressions_and_the_configuration_hold(project: Path) -> None:
    for comment in ("# noqa: GL101", "# graphlint: ignore[GL101] measured"):
        (project / "pkg" / "helpers.py").write_text(HELPERS.replace("try:", f"try:  {comment}", 1))
        assert rows(pylint_messages("pkg/helpers.py")) == []
    (project / "pkg" / "helpers.py").write_text(HELPERS)
    (project / "pyproject.toml").write_text("[tool.graphlint]\nignore = ['GL1']\n")
    assert rows(pylint_messages("pkg/helpers.py")) == []


def test_options_by_argument_and_by_configuration(project: Path) -> None:
    (project / "pkg" / "s.py").write_text(
        "import mindspore.nn as nn\n\n\nclass S(nn.Cell):\n    def construct(self, x):\n"
        "        return x.asnumpy()\n"
    )
    lax = rows(pylint_messages("pkg/s.py"))
    strict = pylint_messages("--graphlint-syntax-level=strict", "pkg/s.py")
    older = pylint_messages(
        "--graphlint-target-version=2.7,2.10", "--graphlint-device-target=cpu", "pkg/s.py"
    )
    assert lax and strict and older
    text = "[tool.pylint.main]\nload-plugins = ['graphlint']\n[tool.pylint.graphlint]\n"
    (project / "pyproject.toml").write_text(text + "graphlint-syntax-level = 'strict'\n")
    assert pylint_messages("pkg/s.py") == strict


def test_wrong_option_ends_as_wrong_usage(project: Path, run_pylint: Pylint) -> None:
    done = run_pylint("--load-plugins=graphlint", "--graphlint-target-version=two", "pkg")
    assert done.returncode == 32
    assert "two" in done.stderr and "Traceback" not in done.stderr


def test_from_stdin_as_an_editor_calls(project: Path, run_pylint: Pylint) -> None:
    edited = "# edited\n" + HELPERS
    path = str(project / "pkg" / "helpers.py")
    only = ["--disable=all", f"--enable={OURS}"]
    arguments = [
        *only,
        "--reports=n",
        "--output-format=json",
        "--clear-cache-post-run=y",
        "--from-stdin",
        path,
    ]
    done = run_pylint("--load-plugins=graphlint.pylint_plugin", *arguments, stdin=edited)
    ours: Any = [m for m in json.loads(done.stdout) if m["message-id"][1] == "7"]
    assert [(m["line"], m["symbol"], m["message-id"], m["obj"]) for m in ours] == [
        (3, "try-in-graph", "E7101", "scaled")
    ]
    new = run_pylint(
        "--load-plugins=graphlint",
        *arguments[:-1],
        str(project / "pkg" / "new.py"),
        stdin=NET.replace("Net", "New"),
    )
    assert "print-keyword" in new.stdout


def test_list_msgs_names_every_rule(project: Path, run_pylint: Pylint) -> None:
    listed = run_pylint("--load-plugins=graphlint", "--list-msgs").stdout
    emittable = listed.split("Non-emittable")[0]
    for rule in all_rules():
        assert f":{rule.name} ({letter(rule)}7{rule.code[2:]})" in emittable
    ids = [message[1:3] for family in FAMILIES for message in family.msgs]
    assert ids == sorted(ids)
    for family in FAMILIES:
        assert len({message[1:3] for message in family.msgs}) == 1
    helped = run_pylint("--load-plugins=graphlint", "--help-msg=try-in-graph").stdout
    assert "graphlint rule GL101" in helped
    for option in ("--generate-rcfile", "--generate-toml-config"):
        done = run_pylint("--load-plugins=graphlint", option)
        assert done.returncode == 0 and not done.stderr


def test_letters_follow_the_newest_lax_target() -> None:
    ids = {family.msgs[m][1]: m for family in FAMILIES for m in family.msgs}
    assert ids["try-in-graph"] == "E7101"
    assert ids["local-list-append"] == "R7326"
    assert ids["unused-suppression"] == "W7901"
    assert set(OURS.replace(",", "")) <= set("EWR0123456789")
