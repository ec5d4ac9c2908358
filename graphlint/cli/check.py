"""`graphlint check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import click

from graphlint import discovery
from graphlint.cli.options import run_options, selection_options, settings_of, target_options
from graphlint.cli.output import Sources, emit, exit_code, read_stdin
from graphlint.cli.progress import Progress
from graphlint.config import Settings
from graphlint.finding import CheckResult
from graphlint.lang import say

Stdin = Optional[Tuple[str, str]]


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@target_options
@selection_options
@run_options
@click.option("--fix", is_flag=True, help="Rewrite what can be rewritten safely.")
@click.option("--unsafe-fixes", is_flag=True, help="Also the rewrites that rest on an assumption.")
@click.option("--diff", is_flag=True, help="Show the rewrites instead of writing them.")
@click.option("--stdin-filename", metavar="NAME", help="Check standard input under this name.")
@click.option("--statistics", is_flag=True, help="Count the findings by rule instead of listing them.")
@click.option("--watch", is_flag=True, help="Check again after each change, until interrupted.")
@click.option("--show-files", is_flag=True, help="List the files that would be checked, and stop.")
def check(
    paths: Tuple[str, ...],
    stdin_filename: Optional[str],
    statistics: bool,
    show_files: bool,
    watch: bool,
    **given: Any,
) -> int:
    """Find every place in PATH that breaks, or silently differs, in graph mode.

    PATH is a file, a notebook or a folder; without any, the configuration's `include`, else the working
    directory; `-` reads standard input.

    Exit code: 0 nothing to fail on, 1 findings or unreadable files, 2 wrong usage, 3 could not do the work.
    """
    if paths == ("-",):
        stdin_filename, paths = stdin_filename or "stdin.py", ()
    settings = settings_of((stdin_filename,) if stdin_filename else paths, given)
    if show_files:
        return _show_files(paths, settings)
    if watch:
        from graphlint.cli.watch import refuse, watching

        refuse(settings, stdin_filename)
        return watching(lambda: settings_of(paths, given), paths, statistics)
    sources = Sources(settings.lang)
    stdin: Stdin = None
    if stdin_filename is not None:
        data = sys.stdin.buffer.read()
        sources.keep(stdin_filename, data)
        stdin, error = read_stdin(stdin_filename, data, settings.lang)
        if error is not None:
            result = CheckResult(errors=[error], files=1)
            emit(result, settings, sources, statistics)
            return exit_code(result, settings, given["exit_zero"])
    if settings.fix or settings.diff:
        from graphlint.cli.fix import fix

        outcome = fix(paths, settings, stdin)
        result = outcome.result
        if settings.diff:
            return 1 if outcome.changes and not given["exit_zero"] else 0
        if stdin is not None:
            return exit_code(result, settings, given["exit_zero"])
    else:
        result = _check(paths, settings, stdin)
    emit(result, settings, sources, statistics, _summaries(settings))
    _say_on_stderr(_stale(result, settings))
    if stdin is None and not result.files:
        found = discovery.discover(paths, settings)
        _say_on_stderr(discovery.notes(found, settings.lang))
    return exit_code(result, settings, given["exit_zero"])


def _check(paths: Tuple[str, ...], settings: Settings, stdin: Stdin) -> CheckResult:
    from graphlint.engine import check as run
    from graphlint.engine.store import Store
    from graphlint.files import cache_folder

    store = Store(Path(cache_folder("check")) if settings.cache else None)
    with Progress(sys.stderr, settings.lang) as progress:
        return run(paths, settings, stdin=stdin, progress=progress, store=store, jobs=settings.jobs)


def _summaries(settings: Settings) -> Dict[str, Tuple[str, str]]:
    """What each rule flags, for the one format that carries it."""
    if settings.output_format != "sarif":
        return {}
    from graphlint.rule_page import pages

    return {page.code: (page.name, page.sections.get("what", "")) for page in pages()}


def _show_files(paths: Tuple[str, ...], settings: Settings) -> int:
    found = discovery.discover(paths, settings)
    for path in found.files:
        click.echo(path)
    unread = [f"{error.path} {error.message}" for error in found.errors]
    _say_on_stderr(unread + discovery.notes(found, settings.lang))
    return 1 if found.errors else 0


def _stale(result: CheckResult, settings: Settings) -> List[str]:
    """A sentence for each entry of the baseline that matches nothing any more."""
    return [
        say("stale", settings.lang, path=e.path, rule=e.rule, scope=e.scope or "module", text=e.text)
        for e, _ in result.stale
    ]


def _say_on_stderr(sentences: List[str]) -> None:
    for sentence in sentences:
        click.echo(f"graphlint: {sentence}", err=True)
