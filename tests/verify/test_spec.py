"""The notation of inputs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlint.errors import ConfigError
from graphlint.verify import spec
from graphlint.verify.entries import from_cells_files, from_table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float32[2,3]", {"k": "tensor", "dtype": "float32", "shape": [2, 3]}),
        ("float32[]", {"k": "tensor", "dtype": "float32", "shape": []}),
        ("float[ 2 , 3 ]", {"k": "tensor", "dtype": "float32", "shape": [2, 3]}),
        ("int32[2,16] < 1000", {"k": "tensor", "dtype": "int32", "shape": [2, 16], "high": 1000.0}),
        ("int64[4] >= 1 <= 5", {"k": "tensor", "dtype": "int64", "shape": [4], "low": 1.0, "high": 6.0}),
        ("float16[8] = 0", {"k": "tensor", "dtype": "float16", "shape": [8], "fill": 0.0}),
        ("bool[2]", {"k": "tensor", "dtype": "bool", "shape": [2]}),
        ("None", {"k": "value", "value": None}),
        (None, {"k": "value", "value": None}),
        (3, {"k": "value", "value": 3}),
        (True, {"k": "value", "value": True}),
        ("'float32[2]'", {"k": "value", "value": "float32[2]"}),
        ("mutable 7", {"k": "mutable", "item": {"k": "value", "value": 7}}),
        ("= ops.relu", {"k": "py", "expr": "ops.relu"}),
        ([1, "bool[1]"], {"k": "tuple", "items": [spec.parse(1), spec.parse("bool[1]")]}),
        ({"a": 1}, {"k": "dict", "items": {"a": spec.parse(1)}}),
    ],
)
def test_parse(text: Any, expected: Any) -> None:
    assert spec.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("float33[2]", "not a dtype"),
        ("float32[2,x]", "not a size"),
        ("float32[-1]", "not a size"),
        ("float32[2] about 3", "not a bound"),
        ("hello", "not an input"),
        ("= 1 +", "not a Python expression"),
        (object(), "not an input"),
    ],
)
def test_errors_say_what_is_wrong(text: Any, said: str) -> None:
    with pytest.raises(spec.SpecError, match=said):
        spec.parse(text)


@given(st.lists(st.integers(0, 99), max_size=5), st.sampled_from(spec.DTYPES), st.integers(1, 99))
def test_shown_text_is_read_back(shape: Any, dtype: str, high: int) -> None:
    made = {"k": "tensor", "dtype": dtype, "shape": shape, "high": float(high)}
    assert spec.parse(spec.show(made)) == made


@given(st.text(max_size=30))
def test_any_text_parses_or_says_why(text: str) -> None:
    try:
        spec.parse(text)
    except spec.SpecError as error:
        assert str(error)


def test_entries(project: Any) -> None:
    (project / "net.py").write_text("class Net: pass\n")
    table = {"entries": [{"cell": "net.py:Net", "args": [4], "inputs": ["float32[2]"], "train": True}]}
    (entry,) = from_table(table, str(project))
    assert (entry.name, entry.path) == ("Net", str(project / "net.py"))
    assert entry.recipe["args"] == [{"k": "value", "value": 4}]
    assert entry.recipe["train"] is True
    (package,) = from_table(
        {"entry": [{"cell": "mindcv.models:create_model", "args": ["'r'"]}]}, str(project)
    )
    assert (package.module, package.path) == ("mindcv.models", "")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"cell": "net.py:Net", "input": []}, "did you mean 'inputs'"),
        ({"cell": "none.py:Net"}, "there is no file"),
        ({"cell": "Net"}, 'write "path.py:Name"'),
        ({"inputs": []}, "needs cell"),
        ({"cell": "a.b:Net", "inputs": ["float9[2]"]}, "not a dtype"),
    ],
)
def test_wrong_entries(project: Any, entry: Any, said: str) -> None:
    (project / "net.py").write_text("")
    with pytest.raises(ConfigError, match=said):
        from_table({"entries": [entry]}, str(project))


def test_cells_file(project: Any) -> None:
    path = project / "graphlint_cells.py"
    path.write_text("def one():\n    pass\n\ndef _hidden():\n    pass\n\ndef needs(x):\n    pass\n")
    assert [entry.name for entry in from_cells_files([str(path), "other.py"])] == ["one"]
