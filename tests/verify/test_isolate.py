"""Setting findings aside: the text, its line numbers, and what it does."""

from __future__ import annotations

import ast
from typing import Any, List, Tuple

import pytest

from graphlint.verify.isolate import Rewriter


def neutral(
    text: str, line: int, column: int, end: Tuple[int, int], reached: Any = (), record: bool = False
) -> str:
    rewriter = Rewriter(text)
    rewriter.reached.update(reached)
    plan = rewriter.plan(0, line, column, *end)
    assert plan is not None
    return rewriter.rewrite([plan], record=record, values="/v")


def body(*lines: str) -> str:
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


def call(text: str, *arguments: Any, **scope: Any) -> Any:
    exec(compile(text.split("\nfrom graphlint")[0], "f", "exec"), scope)
    return scope["f"](*arguments)


CASES: List[Tuple[str, Tuple[int, int, Tuple[int, int]], Any, Any]] = [
    (body("try:", "    y = x + 1", "except ValueError:", "    y = 0", "return y"), (2, 5, (5, 14)), (), 2),
    (body("try:", "    y = x", "finally:", "    y = 5", "return y"), (2, 5, (5, 14)), (), 5),
    (body("with open(x):", "    y = 3", "return y"), (2, 5, (3, 14)), (), 3),
    (
        body("for i in range(3):", "    x += i", "else:", "    x = x * 10", "return x"),
        (2, 5, (5, 19)),
        (),
        40,
    ),
    (
        body("if x > 0:", "    y = 1", "elif x > 5:", "    y = 2", "else:", "    y = 3", "return y"),
        (2, 5, (7, 14)),
        (5,),
        2,
    ),
    (body("if x > 9: y = 1", "else: y = 2", "return y"), (2, 5, (3, 16)), (2,), 1),
    (body("print(x)", "return x"), (2, 5, (2, 13)), (), 1),
    (body("import math", "return math.floor(x)"), (2, 5, (2, 16)), (), 1),
    (body("x += 2", "return x"), (2, 5, (2, 11)), (), 3),
]


@pytest.mark.parametrize(("text", "place", "reached", "expected"), CASES)
def test_neutral_forms(text: str, place: Any, reached: Any, expected: Any) -> None:
    line, column, end = place
    made = neutral(text, line, column, end, reached)
    assert made.split("\n")[: text.count("\n")] != text.split("\n")[:-1]
    assert call(made, 1) == expected
    kept = [node.lineno for node in ast.walk(ast.parse(made)) if isinstance(node, ast.Return)]
    assert kept == [node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Return)]


def test_recorded_value() -> None:
    text = body("# 中文", "名 = [x,", "     x]", "return 名")
    recording = neutral(text, 3, 5, (4, 8), record=True)
    assert call(recording, 4, _graphlint_record=lambda index, value: value) == [4, 4]
    made = neutral(text, 3, 5, (4, 8))
    assert call(made, 4, _graphlint_value_0=[7]) == [7]
    assert made.split("\n")[4].strip() == "return 名"


def test_decorator() -> None:
    text = "def d(f):\n    return None\n\n@d\ndef f(x):\n    return x\n"
    assert call(neutral(text, 4, 1, (4, 3)), 5) == 5


def test_while_runs_as_often_as_recorded() -> None:
    text = body("while x < 5:", "    x = x + 1", "return x")
    assert call(neutral(text, 2, 11, (2, 16)), 0, _graphlint_value_0=3) == 3


def test_two_at_once_and_overlaps() -> None:
    text = body("try:", "    print(x)", "    y = 1", "except ValueError:", "    y = 2", "return y")
    rewriter = Rewriter(text)
    first, second = rewriter.plan(0, 2, 5, 6, 14), rewriter.plan(1, 3, 9, 3, 17)
    assert first is not None and second is not None
    made = rewriter.rewrite([first, second])
    assert "print" not in made
    assert call(made, 1) == 1


def test_unknown_forms_have_no_plan() -> None:
    assert Rewriter("x = 1\n").plan(0, 5, 1, 5, 2) is None
    assert Rewriter(body("return")).plan(0, 2, 5, 2, 11) is None
