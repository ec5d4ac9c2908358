"""The catalogue: both languages whole, with the same names to fill in."""

from __future__ import annotations

import re
import string

import pytest

from graphlint.lang import TEXTS, Text, default_language, say


def names(text: str) -> set:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_fill_in_the_same_names(key: str) -> None:
    text = TEXTS[key]
    assert names(text.en) == names(text.zh)
    assert re.search(r"[\u4e00-\u9fff]", text.en) is None


def test_numbers_bring_their_noun() -> None:
    text = Text("{n:file|files}", "{n} 个文件")
    assert [text.in_("en", n=n) for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert text.in_("zh", n=1) == "1 个文件"


def test_a_message_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("nothing", "en")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_locale_decides(environment: dict, expected: str) -> None:
    assert default_language(environment) == expected
