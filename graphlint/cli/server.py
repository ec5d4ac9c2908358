"""`graphlint server`."""

from __future__ import annotations

import click

from graphlint.errors import WorkError
from graphlint.lang import default_language, say


@click.command()
@click.option("--stdio", is_flag=True, help="Speak over standard input and output (the default).")
@click.option(
    "--tcp", metavar="PORT", type=click.IntRange(1, 65535), help="Speak over this port of 127.0.0.1."
)
def server(stdio: bool, tcp: int) -> None:
    """Run the language server that editors start; see docs/editors.md.

    Exit code: 3 without the extra `server` (pip install 'mindspore-graphlint[server]').
    """
    try:
        from graphlint.server.app import make_server
    except ImportError as error:
        raise WorkError(say("no-pygls", default_language())) from error
    running = make_server()
    if tcp:
        running.start_tcp("127.0.0.1", tcp)
    else:
        running.start_io()
