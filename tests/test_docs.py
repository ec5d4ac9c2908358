"""The documentation is current: the rule pages, and every option and command that the pages name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from graphlint.cli import COMMANDS, cli
from graphlint.config import _KEYS

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path for path in [ROOT / "README.md", ROOT / "README_CN.md", *(ROOT / "docs").rglob("*.md")]
    if "rules" not in path.parts
)  # fmt: skip


def test_rule_pages_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "gen_docs.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"run scripts/gen_docs.py: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_name_commands_and_options_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    context = click.Context(cli)
    code = "\n".join(re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for line in re.findall(r"^\s*(?:- run: |- )?graphlint ([a-z]+[^#\n]*)", code, re.MULTILINE):
        name, *words = line.split()
        command = cli.get_command(context, name)
        assert command is not None and name in COMMANDS, line
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        for word in words:
            if word.startswith("-") and len(word) > 1:
                assert word.split("=")[0] in known, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_key_of_the_configuration_is_documented() -> None:
    for name in ("docs/configuration.md", "docs/zh/configuration.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert [key for key in _KEYS if f"`{key}`" not in text] == []
