"""``ctxweb search``: words, names of tools and paths in the stored sessions."""

from __future__ import annotations

from typing import Any

import click

from ctxweb.commands._engine import emit
from ctxweb.commands._options import AS_JSON
from ctxweb.env import expect_data
from ctxweb.terminal import Terminal, progress, say, terminal, titled
from sessions.engine.base.words import counted

INDENT = " " * 16


@click.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--latest", "most", type=click.IntRange(1, 100), default=10, show_default=True, metavar="N")
@AS_JSON
def command(words: tuple[str, ...], most: int, *, as_json: bool) -> None:
    """Find WORDS in the stored sessions: all of them in one message, or in a title, model, id or file name.

    '"in quotes"' is a phrase, 'auth*' the beginning of a word. What is stored and not indexed yet is indexed first."""
    from ctxweb.startup import start_django

    expect_data()
    start_django()
    from sessions.runs.searching import search_document
    from sessions.services import search

    if search.is_needed():
        search.ask()
    if (held := search.claim()) is not None:  # else a worker has it in hand
        search.run_claimed(
            held, lambda done, total: progress(f"{done:,} of {total:,} sessions indexed" if done < total else "")
        )
        progress("")
    asked = " ".join(words).encode("utf-8", "replace").decode()  # bytes of an argument that are no text
    document = search_document(asked, limit=most)
    if as_json:
        emit(document)
    else:
        _print(terminal(), document)


def _print(console: Terminal, document: dict[str, Any]) -> None:
    for one in document["sessions"]:
        console.print(titled(one["id"], f"  {one['title']}"), soft_wrap=True)
        if one["message"] is not None:
            where = f"message {one['message']:,}"
            if one["n_messages"] > 1:
                where += f", one of {one['n_messages']:,}"
            console.print(f"{INDENT}{where}: {one['snippet']}", soft_wrap=True, highlight=False, markup=False)
    shown = len(document["sessions"])
    if not shown:
        say("No stored session has all of these words in one message.")
    else:
        total = counted(document["total"], "session")
        console.print(f"{shown:,} of {total}, {counted(document['n_messages'], 'message')}.")
    for line in notes(document):
        say(line)


def notes(document: dict[str, Any]) -> list[str]:
    """What was left out of a search, in sentences."""
    found, covered = [], document["searchable"]
    if document["n_unread"]:
        found.append(f"Read for the phrase: the newest 400 messages. Left out: {document['n_unread']:,}.")
    if covered["n_searchable"] < covered["n_sessions"]:
        found.append(f"Searchable by text: {covered['n_searchable']:,} of {counted(covered['n_sessions'], 'session')}.")
    return found
