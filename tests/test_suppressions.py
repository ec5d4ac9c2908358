"""Comments that silence findings, and those that silence nothing."""

from __future__ import annotations

from typing import List, Tuple

import pytest

from graphlint.finding import Effect, Finding, Severity
from graphlint.source import SourceFile
from graphlint.suppressions import apply_suppressions

RULES = {"GL101": "try-in-graph", "GL301": "print-in-graph", "GL901": "unused-suppression"}


def found(line: int, code: str = "GL101", end_line: int = 0) -> Finding:
    return Finding(
        code,
        RULES[code],
        Effect.NONE,
        Severity.ERROR,
        "net.py",
        line,
        1,
        end_line or line,
        5,
        "",
        (),
        "message",
    )


def run(text: str, *findings: Finding) -> Tuple[List[Tuple[str, int]], List[str]]:
    kept, unused = apply_suppressions(SourceFile.of_text("net.py", text), findings, RULES)
    return [(finding.code, finding.line) for finding in kept], [finding.message for finding in unused]


@pytest.mark.parametrize(
    "comment",
    [
        "graphlint: ignore",
        "graphlint: ignore[GL101]",
        "graphlint: ignore[try-in-graph] the reason why",
        "graphlint:ignore[GL301, GL1]",
        "noqa",
        "noqa: GL101",
        "NOQA:E501,GL101",
        "type: ignore  # noqa: GL101",
        "pylint: disable=try-in-graph",
        "pylint: disable=C0114, E7101",
        "pylint: disable=all",
    ],
)
def test_a_comment_silences_its_line_only(comment: str) -> None:
    kept, _ = run(f"a\nb  # {comment}\nc\n", found(1), found(2), found(3))
    assert kept == [("GL101", 1), ("GL101", 3)]


@pytest.mark.parametrize(
    "comment",
    [
        "graphlint: ignore[GL301]",
        "noqa: E501",
        "noqa : GL301",
        "pylint: disable=print-in-graph",
        "pylint: disable=E7301",
        "graphlint: ignored",
        "flake8: noqa",
    ],
)
def test_other_comments_silence_nothing(comment: str) -> None:
    text = f"a  # {comment}\n"
    assert run(text, found(1))[0] == ([] if comment == "noqa : GL301" else [("GL101", 1)])


def test_text_in_strings_is_no_comment() -> None:
    assert run("a = '# graphlint: ignore'\n", found(1)) == ([("GL101", 1)], [])


def test_any_line_of_a_statement_counts() -> None:
    text = "f(\n    a,  # graphlint: ignore[GL101]\n    b,\n)\n"
    assert run(text, found(1, end_line=4)) == ([], [])


def test_a_comment_on_its_own_line_speaks_of_the_next_line_of_code() -> None:
    text = "a\n# graphlint: ignore[GL101]\n# more words\n\nb\nc\n"
    assert run(text, found(5), found(6)) == ([("GL101", 6)], [])


def test_a_whole_file() -> None:
    text = "a\nb\n# graphlint: ignore-file[GL101] generated\n"
    assert run(text, found(1), found(2), found(2, "GL301")) == ([("GL301", 2)], [])
    assert run("# pylint: skip-file\na\n", found(2)) == ([], [])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_matter(end: str) -> None:
    text = end.join(["名 = '值'", "b  # graphlint: ignore[GL101]", "c", ""])
    assert run(text, found(2), found(3)) == ([("GL101", 3)], [])


SCOPES = """\
import a
# pylint: disable=print-in-graph
def f():  # pylint: disable=try-in-graph
    one
    two

def g():
    '''Text.'''
    # pylint: disable=try-in-graph
    one
    if x:
        # pylint: disable=print-in-graph
        two
    else:
        three
    # pylint: enable=try-in-graph
    four

# pylint: disable-next=try-in-graph
five
six
"""


def test_scopes_are_those_of_pylint() -> None:
    lines = range(1, len(SCOPES.splitlines()) + 1)
    kept, _ = run(SCOPES, *(found(line) for line in lines))
    assert [line for _, line in kept] == [1, 2, 6, 16, 17, 18, 19, 21]
    kept, _ = run(SCOPES, *(found(line, "GL301") for line in lines))
    assert [line for _, line in kept] == [1]


def test_unused_suppressions_are_told() -> None:
    _, unused = run("a  # graphlint: ignore[GL101]\nb  # graphlint: ignore\nc  # noqa: GL301\nd  # noqa\n")
    assert unused == [
        "`GL101` is not reported here, so the suppression does nothing for it.",
        "Nothing is reported here, so `# graphlint: ignore` suppresses nothing.",
        "`GL301` is not reported here, so the suppression does nothing for it.",
    ]


def test_only_the_idle_part_is_told() -> None:
    kept, unused = run("a  # graphlint: ignore[GL101, print-in-graph]\n", found(1))
    assert kept == []
    assert unused == ["`print-in-graph` is not reported here, so the suppression does nothing for it."]


def test_an_unknown_code_names_the_nearest() -> None:
    source = SourceFile.of_text("net.py", "a  # graphlint: ignore[print-in-grph]\n")
    _, unused = apply_suppressions(source, [], RULES)
    assert [(finding.code, finding.severity.value) for finding in unused] == [("GL901", "warning")]
    assert unused[0].help == "The nearest rule is `print-in-graph`."


def test_the_fix_removes_the_comment() -> None:
    text = "a  # graphlint: ignore[GL101]\n# graphlint: ignore[GL301]\nb  # graphlint: ignore[GL101] reason\n"
    _, unused = apply_suppressions(SourceFile.of_text("net.py", text), [], RULES)
    edits = [finding.fix.edits[0] if finding.fix else None for finding in unused]
    assert [edit and (edit.line, edit.column, edit.end_line, edit.end_column) for edit in edits] == [
        (1, 2, 1, 30),
        (2, 1, 3, 1),
        None,
    ]


def test_a_rule_that_is_off_leaves_its_suppression_in_peace() -> None:
    source = SourceFile.of_text("net.py", "a  # graphlint: ignore[GL101]\n")
    assert apply_suppressions(source, [], RULES, lambda code: code != "GL101") == ([], [])


def test_an_unused_suppression_may_be_allowed() -> None:
    assert run("a  # graphlint: ignore[GL101, GL901]\n") == ([], [])
