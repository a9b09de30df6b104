"""``ctxweb open``: a session on the dashboard, which is started where it does not run."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from ctxweb import datalock
from ctxweb.commands._files import LATEST, STDIN, inputs, named_locally
from ctxweb.commands.ingest import ingest_given
from ctxweb.env import data_dir
from ctxweb.startup import start_django
from ctxweb.terminal import tell

OWN = "s_"
"""How ids of the library begin."""


@click.command("open")
@click.argument("what", metavar="[FILE|ID]", default=LATEST)
@click.option("--no-browser", is_flag=True, help="Print the address, open no browser.")
@click.pass_context
def command(ctx: click.Context, what: str, *, no_browser: bool) -> None:
    """Show a session on the dashboard: a FILE, or an ID of `ctxweb list` or of the library; default: your latest.

    A file is stored first. Where no dashboard runs on this data folder, one is started; Ctrl-C ends it.
    """
    (word,) = named_locally((what,))
    if word == STDIN or (Path(word).exists() and not Path(word).is_file() and not Path(word).is_dir()):
        raise click.UsageError("Name a file: `ctxweb ingest -` stores what is piped in.")
    if not word.startswith(OWN) and not any(inputs((word,), unpacked=False)):  # said before anything is started
        raise click.UsageError(f"{what!r} holds no file.")
    server = datalock.holder(data_dir())
    if not server:
        from ctxweb.commands.serve import command as serve

        ctx.invoke(serve, then=("open", word, *(("--no-browser",) if no_browser else ())))
        return
    start_django()
    from django.urls import reverse

    page = server.rstrip("/") + reverse("sessions:session", args=[_stored(word)])
    tell(page)
    if not no_browser:
        webbrowser.open(page)


def _stored(word: str) -> str:
    """The id of the session that a word names; a file is stored and read here."""
    if not word.startswith(OWN):
        given = inputs((word,), unpacked=False)
        result = ingest_given(next(given))
        if not result["sessions"]:
            raise click.ClickException(f"{result['file']}: {result['error']}")
        return str(result["sessions"][0])
    from sessions import selectors
    from sessions.models import Session

    try:
        return selectors.get_session(word).pk
    except Session.DoesNotExist:
        raise click.UsageError(f"No session {word!r} in the library. `ctxweb list` names those of agents.") from None
