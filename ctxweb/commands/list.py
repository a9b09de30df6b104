"""``ctxweb list``: the sessions that agents keep on this machine; read only after a yes."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb import beside
from ctxweb.commands._engine import choose, emit
from ctxweb.commands._files import NOTHING
from ctxweb.commands._options import AS_JSON
from ctxweb.env import data_dir
from ctxweb.terminal import Terminal, patience, say, terminal, titled
from sessions.adapters.program import program
from sessions.adapters.whole import write_whole
from sessions.engine.base.words import counted
from sessions.engine.reading import jsonio

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
    console.print(f"\n{n_shown:,} of {counted(n_all, 'session')}.")
    unread = [one for one in every if entries[one.id] is None]
    asked = not yes and bool(unread) and _agreed(n_shown, n_all, unread)
    if yes or asked:
        now = [one for one in shown if entries[one.id] is None and (yes or one is shown[0] or one.size <= AT_ONCE)]
        for one, entry in read_each(now):
            console.print(titled(one.id))
            _print_read(console, entry)
        if asked and len(now) < len(unread):
            rest = beside.start("list", "--rest", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            say(f"The others are read in the background, by process {rest.pid}. The next `ctxweb list` shows them.")
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
    from sessions.engine.base.words import home_as_tilde

    written = dt.datetime.fromtimestamp(one.modified).astimezone().strftime("%Y-%m-%d %H:%M")
    console.print(titled(one.id, f"  {one.agent.label}, {written}, {one.size / 1e6:,.2f} MB"), soft_wrap=True)
    console.print(f"{INDENT}{home_as_tilde(str(one.path))}", soft_wrap=True, highlight=False)


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


FOLDER, SUFFIX = "read", ".json"
AT_ONCE = 16_000_000
"""Bytes that are read within seconds: larger files come after, so that the first verdict does not wait for them."""
BACKGROUND = 15
"""How much a reader in the background gives way to others."""


def known(one: LocalFile) -> dict[str, Any] | None:
    """What was read of a file as it stands now by this very program; None where either has changed."""
    with suppress(OSError, jsonio.JsonProblem):
        kept = jsonio.loads(_place(one).read_bytes())
        if isinstance(kept, dict) and kept.get("of") == _print_of(one) and isinstance(kept.get("entry"), dict):
            entry: dict[str, Any] = kept["entry"]
            return entry
    return None


def read_each(files: Sequence[LocalFile]) -> Iterator[tuple[LocalFile, dict[str, Any]]]:
    """Each file with what was found in it, as soon as it is: known ones first, then small files, then large ones."""
    unread = []
    for one in files:
        entry = known(one)
        if entry is None:
            unread.append(one)
        else:
            yield one, entry
    for number, one in enumerate(sorted(unread, key=lambda one: one.size > AT_ONCE), 1):
        yield one, _read_anew(one, f"Reading {number} of {len(unread)}: {one.path.name}")


def _read_anew(one: LocalFile, words: str) -> dict[str, Any]:
    at: list[Callable[[], int]] = []
    with patience(words, lambda: at[0]() / one.size if at else 0.0):
        entry = _read(one.path, at)
    with suppress(OSError):  # a full disk: it is read again next time
        _keep(one, entry)
    return entry


def _read(path: Path, at: list[Callable[[], int]]) -> dict[str, Any]:
    from sessions.engine.base.errors import EngineError
    from sessions.engine.reading.reading import read_transcripts
    from sessions.engine.transcript.types import Label
    from sessions.engine.weigh.calibration.calibrate import weigh
    from sessions.engine.why.headline import headline
    from sessions.engine.why.largest import peak_of
    from sessions.engine.why.verdicts import verdicts_of

    try:
        with path.open("rb") as stream:
            at.append(stream.tell)
            parsed = read_transcripts(stream, str(path))
    except (EngineError, OSError) as error:
        return {"error": str(error)}
    finally:
        at.clear()
    weighed = weigh(choose(parsed, None))
    peak = peak_of(weighed)
    return {
        "error": None,
        "title": weighed.transcript.title,
        "model": weighed.model.name,
        "peak_tokens": peak.tokens if peak else 0,
        "peak_label": str(peak.label if peak else Label.ESTIMATED),
        "n_compactions": len(weighed.transcript.compactions),
        "headline": headline(weighed, verdicts_of(weighed)),
    }


def _print_of(one: LocalFile) -> dict[str, Any]:
    return {"path": str(one.path), "size": one.size, "modified": one.modified, "program": program()}


def _place(one: LocalFile) -> Path:
    return data_dir() / FOLDER / f"{one.id}{SUFFIX}"


def _keep(one: LocalFile, entry: dict[str, Any]) -> None:
    place = _place(one)
    place.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(place, jsonio.dumps({"of": _print_of(one), "entry": entry}))


def read_rest(files: Sequence[LocalFile]) -> None:
    """Read what is not known yet, giving way to everything else; nothing where another process is at it already."""
    folder = data_dir() / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        os.nice(BACKGROUND)
        there = {one.id for one in files}
        for place in folder.glob(f"*{SUFFIX}"):
            if place.stem not in there:
                place.unlink(missing_ok=True)
        for _ in read_each(files):
            pass
