"""`graphlint completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    For bash: graphlint completion bash > ~/.local/share/bash-completion/completions/graphlint
    """
    from graphlint.cli import cli

    script = get_completion_class(shell)
    assert script is not None, shell
    click.echo(script(cli, {}, "graphlint", "_GRAPHLINT_COMPLETE").source())
