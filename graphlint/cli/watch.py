"""`check --watch`: the report again after each change of the project's files."""

from __future__ import annotations

import os
import sys
import time
from typing import Callable, Dict, Optional, Sequence, Tuple

import click

from graphlint import discovery
from graphlint.cli.output import Sources, emit
from graphlint.config import Settings
from graphlint.engine import check
from graphlint.errors import GraphlintError, UsageError
from graphlint.lang import say

INTERVAL = 0.5
_CLEAR = "\x1b[2J\x1b[H"
Stamps = Dict[str, Tuple[int, int]]


def refuse(settings: Settings, stdin_filename: Optional[str]) -> None:
    """Raises UsageError for what can't be watched: standard input, and rewrites."""
    if stdin_filename is not None or settings.fix or settings.diff:
        raise UsageError(say("watch-needs", settings.lang))


def stamps(settings: Settings) -> Stamps:
    """Time and size of each file of the project, its configuration included."""
    files = list(discovery.discover([settings.root], settings).files)
    files += [os.path.join(settings.root, name) for name in ("pyproject.toml", "graphlint.toml")]
    files += [settings.baseline] if settings.baseline else []
    found: Stamps = {}
    for path in files:
        try:
            status = os.stat(path)
        except OSError:
            continue
        found[path] = (status.st_mtime_ns, status.st_size)
    return found


def watching(
    read_settings: Callable[[], Settings],
    paths: Sequence[str],
    statistics: bool,
    interval: float = INTERVAL,
    rounds: Optional[int] = None,
) -> int:
    """Reports now and after each change, until interrupted or `rounds` reports were made; 0.

    A configuration that breaks meanwhile is told, and the last one that held goes on.
    """
    settings = read_settings()
    seen: Optional[Stamps] = None
    made = 0
    while rounds is None or made < rounds:
        now = stamps(settings)
        if now == seen:
            time.sleep(interval)
            continue
        seen = now
        made += 1
        if sys.stdout.isatty():
            click.echo(_CLEAR, nl=False, color=True)
        try:
            settings = read_settings()
            emit(check(paths, settings), settings, Sources(settings.lang), statistics)
        except GraphlintError as error:
            click.echo(f"graphlint: {error}", err=True)
        click.echo(say("watching", settings.lang, n=len(now)), err=True)
        sys.stdout.flush()
    return 0
