"""Options that several commands share, and the settings that they make."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Sequence, Tuple, TypeVar

import click

from graphlint.config import FORMATS, Settings, check_rules, load
from graphlint.finding import Severity
from graphlint.lang import LANGUAGES
from graphlint.target import DEVICES, LEVELS

Command = TypeVar("Command", bound=Callable[..., Any])


class Listed(click.ParamType):
    """Words separated by commas, as a tuple."""

    name = "list"

    def convert(
        self, value: Any, param: Optional[click.Parameter], ctx: Optional[click.Context]
    ) -> Tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        words = tuple(word.strip() for word in value.split(",") if word.strip())
        if not words:
            self.fail("expected at least one word", param, ctx)
        return words


LISTED = Listed()


def target_options(command: Command) -> Command:
    """`--target-version`, `--syntax-level` and `--device-target`."""
    return _decorate(
        command,
        click.option(
            "--target-version",
            type=LISTED,
            metavar="VERSION[,VERSION]",
            help="MindSpore versions to check for; the project's own by default.",
        ),
        click.option("--syntax-level", type=click.Choice(LEVELS), help="JIT syntax level (default: lax)."),
        click.option(
            "--device-target",
            type=click.Choice(DEVICES, case_sensitive=False),
            metavar="[" + "|".join(DEVICES) + "]",
            help="Device to check for (default: Ascend).",
        ),
    )


def selection_options(command: Command) -> Command:
    """`--select`, `--ignore` and `--extend-select`."""
    return _decorate(
        command,
        click.option(
            "--select", type=LISTED, metavar="RULES", help="Only these rules: codes, prefixes, names."
        ),
        click.option("--extend-select", type=LISTED, metavar="RULES", help="These rules as well."),
        click.option("--ignore", type=LISTED, metavar="RULES", help="Not these rules."),
    )


def run_options(command: Command) -> Command:
    """How to run and what to print: format, exit code, processes, cache, baseline, language."""
    return _decorate(
        command,
        click.option(
            "--output-format",
            type=click.Choice(FORMATS),
            metavar="FORMAT",
            help=f"One of {', '.join(FORMATS)}.",
        ),
        click.option(
            "--fail-on",
            type=click.Choice([severity.value for severity in Severity]),
            help="Exit with 1 from this severity on (default: warning).",
        ),
        click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found."),
        click.option(
            "--jobs",
            "-j",
            type=click.IntRange(min=0),
            metavar="N",
            help="Processes; 0, the default, for one per core.",
        ),
        click.option("--no-cache", is_flag=True, help="Neither read nor write the cache."),
        click.option(
            "--baseline", metavar="FILE", help="Known findings, which don't count (see `baseline`)."
        ),
        click.option("--no-baseline", is_flag=True, help="Count the known findings too."),
        click.option("--isolated", is_flag=True, help="Ignore all configuration files."),
        click.option(
            "--lang", type=click.Choice(LANGUAGES), help="Language of messages (default: the locale's)."
        ),
    )


def settings_of(start: Sequence[str], given: Dict[str, Any]) -> Settings:
    """The settings for a run on the paths `start`; `given` holds the options under click's names.

    Raises UsageError or ConfigError for what graphlint doesn't know, rule codes included.
    """
    options: Dict[str, Any] = {
        name.replace("_", "-"): list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if name not in ("no_cache", "isolated", "exit_zero") and value is not None and value is not False
    }
    if given.get("no_cache"):
        options["cache"] = False
    settings = load(start[0] if start else None, isolated=bool(given.get("isolated")), options=options)
    check_rules(settings)
    return settings


def _decorate(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
