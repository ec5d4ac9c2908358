"""Text, encodings, positions and syntax trees of single files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlint.source import SourceError, SourceFile, load


def error_of(data: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        assert SourceFile("net.py", data).tree
    return caught.value


def test_columns_count_characters() -> None:
    source = SourceFile("net.py", "名 = '值'; print(名)\n".encode())
    call = source.tree.body[1]
    assert source.span(call) == (1, 10, 1, 18)
    assert source.segment(*source.span(call)) == "print(名)"


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20))
def test_every_byte_offset_finds_its_column(text: str) -> None:
    source = SourceFile.of_text("net.py", "#" + text)
    for index in range(len(text) + 2):
        assert source.column(1, len(("#" + text)[:index].encode())) == min(index, len(text) + 1) + 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_kept(end: str) -> None:
    text = f"a = 1{end}b = 2{end}"
    source = SourceFile("net.py", text.encode())
    assert source.text == text
    assert source.lines == ["a = 1", "b = 2", ""]
    assert source.span(source.tree.body[1])[0] == 2
    assert source.encode(text) == text.encode()


def test_form_feeds_and_line_separators_end_no_line() -> None:
    source = SourceFile("net.py", "a = 1\n\x0cb = '\u2028'\nc = 3\n".encode())
    assert source.line_text(source.tree.body[2].lineno) == "c = 3"


def test_a_byte_order_mark_counts_no_column_and_comes_back() -> None:
    source = SourceFile("net.py", b"\xef\xbb\xbfa = 1\n")
    assert source.span(source.tree.body[0]) == (1, 1, 1, 6)
    assert source.encode(source.text) == b"\xef\xbb\xbfa = 1\n"


def test_a_declared_encoding_is_used() -> None:
    data = "# -*- coding: gbk -*-\n名 = 1\n".encode("gbk")
    source = SourceFile("net.py", data)
    assert source.line_text(2) == "名 = 1"
    assert source.span(source.tree.body[0]) == (2, 1, 2, 6)
    assert source.encode(source.text) == data


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"a = 1\n# caf\xe9\n", 2, "not UTF-8: byte 0xe9 at column 6"),
        ("a = 1\nb = 2\n# 中文\n".encode("gbk"), 3, "may be GBK"),
        ("a = 1\n".encode("utf-16"), None, "UTF-16"),
        (b"# coding: klingon\n", None, "unknown encoding: klingon"),
        (b"a = 1\nb = \0\n", 2, "null bytes"),
        (b"a = 1\n\ndef f(:\n", 3, "does not parse with Python"),
        (b"def f():\n\ta\n        b\n", 3, "does not parse"),
    ],
)
def test_what_is_no_python_text_is_told_with_its_line(data: bytes, line: object, said: str) -> None:
    error = error_of(data).error
    assert error.line == line
    assert said in error.message


@pytest.mark.parametrize(
    "text",
    [
        "(" * 500 + ")" * 500,
        "-" * 100_000 + "1",
        "".join(" " * n + "if x:\n" for n in range(500)) + " " * 500 + "y\n",
    ],
    ids=["parentheses", "operators", "blocks"],
)
def test_deep_nesting_is_an_error_of_the_file(text: str) -> None:
    assert error_of(text.encode()).error.path == "net.py"


def test_empty_and_long_files() -> None:
    assert SourceFile("net.py", b"").tree.body == []
    long = SourceFile("net.py", b"a = 1\n" * 50_000)
    assert long.span(long.tree.body[-1]) == (50_000, 1, 50_000, 6)


def test_warnings_of_the_parser_stay_unsaid(recwarn: pytest.WarningsRecorder) -> None:
    assert isinstance(SourceFile("net.py", rb"a = '\d'").tree, ast.Module)
    assert not recwarn.list


def test_messages_come_in_chinese_too() -> None:
    with pytest.raises(SourceError) as caught:
        SourceFile("net.py", b"\xff", "zh")
    assert "不是 UTF-8 编码" in caught.value.error.message


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to("gone.py")
    for name, said in (
        ("link.py", "is a link to gone.py"),
        ("none.py", "No such file"),
        (".", "could not be read"),
    ):
        with pytest.raises(SourceError) as caught:
            load(str(tmp_path / name))
        assert said in caught.value.error.message
