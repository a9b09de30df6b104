"""What ``ctxweb list`` has read of this machine's sessions, kept in the data folder until the file changes."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxweb import beside
from ctxweb.commands._engine import choose
from ctxweb.commands._patience import patience
from ctxweb.env import data_dir
from sessions.adapters.program import program
from sessions.adapters.whole import write_whole
from sessions.engine.reading import jsonio

if TYPE_CHECKING:
    from sessions.adapters.local import LocalFile

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
    from sessions.engine.weigh.calibration.calibrate import weigh
    from sessions.engine.why.headline import headline
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


def start_rest() -> int:
    """Have a process of its own read the rest; its number."""
    return beside.start("list", "--rest", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid
