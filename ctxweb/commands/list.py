"""``ctxweb list``: the sessions that agents keep on this machine; read only after a yes."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands._engine import emit
from ctxweb.commands._local import NOTHING
from ctxweb.commands._options import AS_JSON
from ctxweb.commands._verdicts import AT_ONCE, known, read_each, read_rest, start_rest
from ctxweb.terminal import Terminal, say, terminal, titled
from sessions.engine.base.words import counted

if TYPE_CHECKING:
    from sessions.adapters.local import LocalFile

SHOWN = 10
INDENT = " " * 12


@click.command("list")
@click.option("--latest", "most", type=click.IntRange(1, 10_000), default=SHOWN, show_default=True, metavar="N")
@click.option("--agent", "name", help="Sessions of this agent alone, by its name in `ctxweb apply`.")
@click.option("--yes", is_flag=True, help="Read them, and say what happened in each, without asking.")
@click.option("--where", is_flag=True, help="The folders that are looked into.")
@click.option("--rest", is_flag=True, hidden=True, help="Read what is not known yet, and say nothing.")
@AS_JSON
@click.pass_context
def command(
    ctx: click.Context, most: int, name: str | None, *, yes: bool, where: bool, rest: bool, as_json: bool
) -> None:
    """The newest sessions of every agent on this machine. Only names are read, until you say yes."""
    from sessions.adapters.local import local_files

    if rest:
        read_rest(local_files())
    elif where:
        from sessions.adapters.local import places

        for agent, place in places():
            terminal().print(titled(agent.label, f"  {place.folder}"), soft_wrap=True)
    else:
        _check(name)
        every = [one for one in local_files() if name in (None, one.agent.name)]
        found = every[:most]
        if as_json:
            entries = [_document(one, read=yes) for one in found]
            emit({"schema": "ctxweb.list/1", "n_found": len(every), "sessions": entries})
        elif not found:
            say(NOTHING)
            say("Any other file: `ctxweb why FILE`. The dashboard: `ctxweb open FILE`. All commands: `ctxweb --help`.")
        elif not _listed(terminal(), every, most, yes=yes) or not click.confirm(_offer(every, found[0]), default=False):
            terminal().print("Next: `ctxweb why ID`, or `ctxweb open ID` for the dashboard.")
        else:
            from ctxweb.commands.open import command as open_
            from ctxweb.env import data_dir
            from sessions.adapters.synced import add_agents

            add_agents(data_dir(), [one.agent.name for one in every])  # as the library's page does after a yes
            ctx.invoke(open_, what=found[0].id)


def _offer(every: Sequence[LocalFile], first: LocalFile) -> str:
    others = f" beside the other {len(every) - 1:,}, kept in sync" if len(every) > 1 else ""
    return f"Open {first.id} on the dashboard{others}?"


def _check(name: str | None) -> None:
    from sessions.adapters.local import places

    names = [agent.name for agent, _ in places()]
    if name is not None and name not in names:
        raise click.UsageError(f"Unknown agent {name!r}. Agents: {', '.join(names)}.")


def _listed(console: Terminal, every: Sequence[LocalFile], most: int, *, yes: bool) -> bool:
    """The newest, with verdicts known before, then, after a yes, the others'; True where one was asked and agreed.

    The rest, and large files that are not the newest, are then read in the background.
    """
    shown, entries = every[:most], {one.id: known(one) for one in every}
    for one in shown:
        _print(console, one)
        if (entry := entries[one.id]) is not None:
            _print_read(console, entry)
    n_shown, n_all = len(shown), len(every)
    console.print(f"\n{n_shown:,} of {n_all:,} sessions.")
    unread = [one for one in every if entries[one.id] is None]
    asked = not yes and bool(unread) and _agreed(n_shown, n_all, unread)
    if yes or asked:
        now = [one for one in shown if entries[one.id] is None and (yes or one is shown[0] or one.size <= AT_ONCE)]
        for one, entry in read_each(now):
            console.print(titled(one.id))
            _print_read(console, entry)
        if asked and len(now) < len(unread):
            say(f"The others are read in the background, by process {start_rest()}. The next `ctxweb list` shows them.")
    return asked


def _agreed(n_shown: int, n_all: int, unread: Sequence[LocalFile]) -> bool:
    if not sys.stdin.isatty():
        return False
    these = (
        "it" if n_all == 1 else f"all {n_all:,}, the rest in the background" if n_all > n_shown else f"these {n_all:,}"
    )
    size = sum(one.size for one in unread) / 1e6
    return click.confirm(f"Read {these} (new: {size:,.1f} MB)? Nothing leaves this machine", default=False)


def _print(console: Terminal, one: LocalFile) -> None:
    written = dt.datetime.fromtimestamp(one.modified).astimezone().strftime("%Y-%m-%d %H:%M")
    console.print(titled(one.id, f"  {one.agent.label}, {written}, {one.size / 1e6:,.2f} MB"), soft_wrap=True)
    console.print(f"{INDENT}{_short(one.path)}", soft_wrap=True, highlight=False)


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _print_read(console: Terminal, found: dict[str, Any]) -> None:
    if found["error"]:
        console.print(f"{INDENT}{found['error']}", soft_wrap=True)
        return
    compacted = counted(found["n_compactions"], "compaction")
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
    for _, found in read_each([one]) if read else ():
        entry |= found
    return entry
