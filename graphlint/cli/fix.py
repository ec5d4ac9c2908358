"""`check --fix` and `check --diff`: asks for the rewrites, writes or shows them."""

from __future__ import annotations

import difflib
import importlib
import os
from pathlib import Path
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

import click

from graphlint.cli.output import write
from graphlint.config import Settings
from graphlint.errors import WorkError
from graphlint.files import write_whole
from graphlint.finding import CheckResult
from graphlint.lang import say


class Change(NamedTuple):
    """One file before and after its rewrites."""

    path: str
    before: bytes
    after: bytes


class Outcome(NamedTuple):
    """What `graphlint.fixes.apply(paths, settings, stdin)` gives; it changes no file itself.

    `result` is what a check would find after the rewrites, `fixed` how many findings they settle.
    """

    result: CheckResult
    changes: Sequence[Change]
    fixed: int


def fix(paths: Sequence[str], settings: Settings, stdin: Optional[Tuple[str, str]]) -> Outcome:
    """Makes the rewrites, then writes the files, or with `diff` shows what would change.

    With `stdin` the new text goes to standard output. Raises WorkError where there are no rewrites.
    """
    outcome = _apply(settings)(paths, settings, stdin)
    changed = [change for change in outcome.changes if change.before != change.after]
    if settings.diff:
        for change in changed:
            write(unified(change))
        said = "would-fix"
    elif stdin is not None:
        write(changed[0].after.decode("utf-8") if changed else stdin[1])
        said = "fixed"
    else:
        for change in changed:
            _replace(change, settings.lang)
        said = "fixed"
    if changed:
        click.echo(say(said, settings.lang, n=outcome.fixed, files=len(changed)), err=True)
    return Outcome(outcome.result, changed, outcome.fixed)


def unified(change: Change) -> str:
    """The change as a unified diff."""
    before, after = (_lines(data) for data in (change.before, change.after))
    lines = difflib.unified_diff(before, after, f"a/{change.path}", f"b/{change.path}")
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
    )


def _lines(data: bytes) -> List[str]:
    return data.decode("utf-8", "backslashreplace").splitlines(keepends=True)


def _apply(settings: Settings) -> Callable[..., Outcome]:
    try:
        function: Callable[..., Outcome] = importlib.import_module("graphlint.fixes").apply
    except (ModuleNotFoundError, AttributeError) as error:
        raise WorkError(say("no-fixes", settings.lang)) from error
    return function


def _replace(change: Change, lang: str) -> None:
    """Writes the file in one step, so that an interruption leaves the old one or the new one.

    Raises WorkError where it can't be written, or isn't any more what the rewrites were made from.
    """
    path = os.path.realpath(change.path)
    try:
        if Path(path).read_bytes() != change.before:
            raise WorkError(say("changed-meanwhile", lang, path=change.path))
        write_whole(path, change.after, os.stat(path).st_mode)
    except OSError as error:
        raise WorkError(f"{change.path}: {error.strerror or error}") from error
