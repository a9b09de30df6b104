"""``ctxweb list``: the sessions that agents keep on this machine; read only after a yes."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._engine import choose, emit
from ctxweb.commands._local import NOTHING
from ctxweb.commands._patience import patience
from ctxweb.terminal import say, terminal, titled
from sessions.engine.words import counted

if TYPE_CHECKING:
    from ctxweb.terminal import Terminal
    from sessions.adapters.local import LocalFile

SHOWN = 10
INDENT = " " * 12


@click.command("list")
@click.option("--latest", "most", type=click.IntRange(1, 10_000), default=SHOWN, show_default=True, metavar="N")
@click.option("--agent", "name", help="Sessions of this agent alone, by its name in `ctxweb apply`.")
@click.option("--yes", is_flag=True, help="Read them, and say what happened in each, without asking.")
@click.option("--where", is_flag=True, help="The folders that are looked into.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.pass_context
def command(ctx: click.Context, most: int, name: str | None, *, yes: bool, where: bool, as_json: bool) -> None:
    """The newest sessions of every agent on this machine. Only names are read, until you say yes."""
    from sessions.adapters.local import local_files, places

    console = terminal()
    if where:
        for agent, place in places():
            console.print(titled(agent.label, f"  {place.folder}"), soft_wrap=True)
        return
    known = [agent.name for agent, _ in places()]
    if name is not None and name not in known:
        raise click.UsageError(f"Unknown agent {name!r}. Agents: {', '.join(known)}.")
    every = [one for one in local_files() if name in (None, one.agent.name)]
    found = every[:most]
    if as_json:
        emit(
            {"schema": "ctxweb.list/1", "n_found": len(every), "sessions": [_document(one, read=yes) for one in found]}
        )
        return
    if not found:
        say(NOTHING)
        say("Any other file: `ctxweb why FILE`. The dashboard: `ctxweb open FILE`. All commands: `ctxweb --help`.")
        return
    for one in found:
        _print(console, one)
        if yes:
            _print_read(console, one)
    console.print(f"\n{len(found):,} of {len(every):,} sessions.")
    if not yes and _agreed(len(found)):
        for one in found:
            console.print(titled(one.id))
            _print_read(console, one)
        if click.confirm(f"Open {found[0].id} on the dashboard?", default=False):
            from ctxweb.commands.open import command as open_

            ctx.invoke(open_, what=found[0].id)
            return
    console.print("Next: `ctxweb why ID`, or `ctxweb open ID` for the dashboard.")


def _agreed(n: int) -> bool:
    if not sys.stdin.isatty():
        return False
    return click.confirm(f"Read {'it' if n == 1 else f'these {n:,}'}? Nothing leaves this machine", default=False)


def _print(console: Terminal, one: LocalFile) -> None:
    written = dt.datetime.fromtimestamp(one.modified).astimezone().strftime("%Y-%m-%d %H:%M")
    console.print(titled(one.id, f"  {one.agent.label}, {written}, {one.size / 1e6:,.2f} MB"), soft_wrap=True)
    console.print(f"{INDENT}{_short(one.path)}", soft_wrap=True, highlight=False)


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _print_read(console: Terminal, one: LocalFile) -> None:
    with patience(f"Reading {one.path.name}"):
        found = _document(one, read=True)
    if found["error"]:
        console.print(f"{INDENT}{found['error']}", soft_wrap=True)
        return
    n = found["n_compactions"]
    compacted = counted(n, "compaction")
    peak = f"peak {found['peak_tokens']:,} tokens ({found['peak_label']})"
    what = f"{found['model'] or 'model not recorded'}, {peak}, {compacted}."
    console.print(f"{INDENT}{what}", soft_wrap=True)
    console.print(f"{INDENT}{found['headline']}", soft_wrap=True)


def _document(one: LocalFile, *, read: bool) -> dict[str, Any]:
    """One entry of ``sessions[]``: what the file system says, and with ``read`` what happened."""
    entry: dict[str, Any] = {
        "id": one.id,
        "agent": one.agent.name,
        "path": str(one.path),
        "bytes": one.size,
        "modified": dt.datetime.fromtimestamp(one.modified, tz=dt.UTC).isoformat(),
    }
    return entry | _read(one.path) if read else entry


def _read(path: Path) -> dict[str, Any]:
    from sessions.engine.calibration.calibrate import weigh
    from sessions.engine.errors import EngineError
    from sessions.engine.reading import read_transcripts
    from sessions.engine.why.headline import headline
    from sessions.engine.why.verdicts import verdicts_of

    try:
        with path.open("rb") as stream:
            parsed = read_transcripts(stream, str(path))
    except (EngineError, OSError) as error:
        return {"error": str(error)}
    weighed = weigh(choose(parsed, None))
    measured = [r.usage.context for r in weighed.transcript.requests if r.usage]
    return {
        "error": None,
        "title": weighed.transcript.title,
        "model": weighed.model.name,
        "peak_tokens": max(measured or [tokens for tokens in weighed.estimated if tokens], default=0),
        "peak_label": "measured" if measured else "estimated",
        "n_compactions": len(weighed.transcript.compactions),
        "headline": headline(weighed, verdicts_of(weighed)),
    }
