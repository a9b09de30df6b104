"""Transcripts of this machine that the library is kept in sync with: a person's choice, beside the data.

It stands in a file of the data folder and not in the database, because it is about this machine: a backup that is
restored on another one, or a database that several share, reads nothing there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sessions.adapters.local import LocalFile, local_files
from sessions.adapters.whole import write_whole
from sessions.engine.reading.jsonio import dumps, loads

CHOICE, PROGRESS = "synced.json", "synced-progress.json"


@dataclass(frozen=True, slots=True)
class Synced:
    """``agents`` by name, with all they keep now and later; ``folders``, absolute; ``declined``: asked, and not now."""

    agents: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    paused: bool = False
    declined: bool = False

    @property
    def is_chosen(self) -> bool:
        return bool(self.agents or self.folders)

    def holds(self, file: LocalFile) -> bool:
        """Whether a transcript that was found is kept in sync."""
        return file.agent.name in self.agents or str(file.folder) in self.folders


@dataclass(frozen=True, slots=True)
class Progress:
    """Of the files kept in sync: how many there are, were read, and could not be read."""

    n_files: int = 0
    n_read: int = 0
    n_failed: int = 0


def synced(data: Path) -> Synced:
    """What was chosen; nothing where nobody was asked or the file is damaged."""
    found = _read(data / CHOICE)
    agents, folders = (found.get(name) for name in ("agents", "folders"))
    return Synced(
        tuple(map(str, agents)) if isinstance(agents, list) else (),
        tuple(map(str, folders)) if isinstance(folders, list) else (),
        paused=found.get("paused") is True,
        declined=found.get("declined") is True,
    )


def keep_synced(data: Path, chosen: Synced) -> None:
    """Write the choice whole, or not at all; raises OSError."""
    write_whole(data / CHOICE, dumps(asdict(chosen)))


def add_agents(data: Path, names: Iterable[str]) -> None:
    """Keep what these agents keep in sync, beside what is already; raises OSError."""
    chosen = synced(data)
    agents = tuple(dict.fromkeys((*chosen.agents, *names)))
    data.mkdir(parents=True, exist_ok=True)
    keep_synced(data, replace(chosen, agents=agents, declined=False))


def progress(data: Path) -> Progress:
    """How far the reading is, as the process that reads wrote it down last."""
    found = _read(data / PROGRESS)
    return Progress(*(one if isinstance(one := found.get(name), int) else 0 for name in Progress.__slots__))


def keep_progress(data: Path, reached: Progress) -> None:
    """Write down how far the reading is; raises OSError."""
    write_whole(data / PROGRESS, dumps(asdict(reached)))


def synced_files(chosen: Synced) -> Iterator[tuple[Path, os.stat_result]]:
    """Every file to read: an agent's transcripts and their subagents', in a folder of that name; all of a folder's."""
    every = local_files()
    for one in every:
        if chosen.holds(one):
            yield one.path, one.state
            yield from files_below(one.path.with_suffix(""), "*.jsonl")
    found = {str(one.folder) for one in every}
    for folder in chosen.folders:
        if folder not in found:
            yield from files_below(Path(folder))


def files_below(folder: Path, pattern: str = "*") -> Iterator[tuple[Path, os.stat_result]]:
    """Every regular file below ``folder`` that is not hidden and not empty; what vanishes meanwhile is left out."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from files_below(Path(entry.path), pattern)
            elif Path(entry.name).match(pattern) and entry.is_file():
                state = entry.stat()
                if state.st_size:
                    yield Path(entry.path), state
        except OSError:
            continue


def _read(path: Path) -> dict[str, Any]:
    try:
        found = loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
