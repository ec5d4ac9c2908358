"""`graphlint baseline`."""

from __future__ import annotations

import os
from typing import Any, Optional, Tuple

import click

from graphlint import baseline as baselines
from graphlint import discovery, engine
from graphlint.cli.options import selection_options, settings_of, target_options
from graphlint.config import with_options
from graphlint.lang import LANGUAGES, say


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help=f"Where to write (default: the configured baseline, else {baselines.DEFAULT_NAME}).",
)
@click.option("--prune", is_flag=True, help="Only drop what no longer occurs; add nothing.")
@target_options
@selection_options
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("--lang", type=click.Choice(LANGUAGES), help="Language of messages (default: the locale's).")
def baseline(paths: Tuple[str, ...], output: Optional[str], prune: bool, **given: Any) -> int:
    """Write down the findings in PATH as known, so that only new ones fail.

    They are known by rule, file, scope and source text, not by line. Entries of files outside PATH stay.
    Then set `baseline` in the configuration, or give `check --baseline FILE`.

    Exit code: 0 written, 1 a file could not be read (its entries are lost), 2 wrong usage.
    """
    settings = settings_of(paths, given)
    target = output or baselines.location(settings)
    known = baselines.read(target, settings.lang) if os.path.exists(target) else None
    settings = with_options(settings, baseline=None)
    result = engine.check(paths, settings)
    shown = discovery.discover(paths, settings).files
    found = baselines.collect(result.findings, settings.root)
    written = baselines.merged(known, found, settings, shown, prune)
    baselines.write(target, written)
    before = known or {}
    added = sum(max(count - before.get(entry, 0), 0) for entry, count in written.items())
    dropped = sum(max(count - written.get(entry, 0), 0) for entry, count in before.items())
    number = sum(written.values())
    click.echo(say("baseline-written", settings.lang, n=number, path=target, added=added, dropped=dropped))
    for error in result.errors:
        click.echo(f"graphlint: {error.path} {error.message}", err=True)
    return 1 if result.errors else 0
