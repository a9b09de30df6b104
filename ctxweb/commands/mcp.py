"""``ctxweb mcp``: answers to an agent about its own sessions, over the Model Context Protocol."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from ctxweb.address import is_loopback
from ctxweb.env import env_str
from ctxweb.terminal import say

TOKEN = "CTXWEB_MCP_TOKEN"  # noqa: S105 - the name of a variable; with _FILE behind it, of a file
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("mcp")
@click.option(
    "--allow", "allowed", type=FOLDER, multiple=True, help="Only transcripts in this folder; may be repeated."
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP on loopback instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Loopback address for --http.")
@click.option("--port", type=click.IntRange(1, 65535), default=8411, show_default=True, help="Port for --http.")
@click.option("--token", help=f"With --http: what clients send as Bearer; one is made without. [env: {TOKEN}]")
def command(allowed: tuple[Path, ...], *, http: bool, host: str, port: int, token: str | None) -> None:
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
    if not http:
        server.run("stdio")
        return
    from ctxweb.mcp.server import serve

    known = _token(token)
    say(f"MCP at http://{host}:{port}/mcp  (Ctrl-C stops it)")
    serve(server, host, port, known)


def _token(given: str | None) -> str:
    """The token that clients have to send: the given one, else a new one, which is printed this once."""
    from ctxweb.mcp.server import LEAST_TOKEN

    token = (env_str(TOKEN) if given is None else given).strip()
    if not token and given is None:
        token = secrets.token_urlsafe(32)
        say(f"Clients send: Authorization: Bearer {token}\nTo keep one token, set {TOKEN}.")
    elif len(token) < LEAST_TOKEN or not (token.isascii() and token.isprintable() and " " not in token):
        raise click.UsageError(f"A token has at least {LEAST_TOKEN} characters: letters, digits and signs, no blank.")
    return token
