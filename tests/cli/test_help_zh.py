"""Help in Chinese: every option has its text, and only help in Chinese shows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from graphlint.cli import COMMANDS, cli
from graphlint.cli.help_zh import OPTIONS, STARTS

ROOT = Path(__file__).parent.parent.parent


def helped(*words: str, lang: str = "C.UTF-8") -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": lang, "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "graphlint", *words]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", check=True
    ).stdout


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_translated(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    texts = [option.help for option in command.params if isinstance(option, click.Option) and option.help]
    assert [text for text in texts if text not in OPTIONS and not text.startswith(tuple(STARTS))] == []


def test_the_language_of_help() -> None:
    assert "只检查这些规则" in helped("check", "--lang", "zh", "--help")
    assert "只检查这些规则" in helped("check", "--help", lang="zh_CN.UTF-8")
    assert not re.search("[\u4e00-\u9fff]", helped("check", "--help"))
    assert not re.search("[\u4e00-\u9fff]", helped("check", "--lang=en", "--help", lang="zh_CN.UTF-8"))
