"""``ctxweb mcp``: answers to an agent about its own sessions, over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from ctxweb.address import is_loopback
from ctxweb.terminal import say

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("mcp")
@click.option(
    "--allow", "allowed", type=FOLDER, multiple=True, help="Only transcripts in this folder; may be repeated."
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP on loopback instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Loopback address for --http.")
@click.option("--port", type=click.IntRange(1, 65535), default=8411, show_default=True, help="Port for --http.")
def command(allowed: tuple[Path, ...], *, http: bool, host: str, port: int) -> None:
    """Let an agent ask what fills its context, why it compacted, what was lost; and get dropped text back.

    Read-only, over the transcripts that agents keep on this machine.
    For Claude Code: `claude mcp add ctxweb -- ctxweb mcp`.
    """
    try:
        from ctxweb.mcp.server import build
    except ImportError as error:
        raise click.ClickException(f"{error.name} is missing. Install ctxweb[mcp].") from error
    if http and not is_loopback(host):
        raise click.UsageError(f"{host} can be reached from other machines, and nobody signs in here. Use 127.0.0.1.")
    server = build(allowed)
    if http:
        say(f"MCP at http://{host}:{port}/mcp  (Ctrl-C stops it)")
        server.run("streamable-http", host=host, port=port)
    else:
        server.run("stdio")
