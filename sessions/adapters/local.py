"""Transcripts that agents keep on this machine: found by name and listed, never read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.agents.agent import Agent, Place, agents

if TYPE_CHECKING:
    import os


ID_DIGITS = 10


@dataclass(frozen=True, slots=True)
class LocalFile:
    """One transcript; people choose it by ``folder``: its project's where the agent has such, else the agent's."""

    agent: Agent
    path: Path
    state: os.stat_result
    folder: Path

    @property
    def size(self) -> int:
        return self.state.st_size

    @property
    def modified(self) -> float:
        """When it was last written, in seconds since 1970."""
        return self.state.st_mtime

    @property
    def id(self) -> str:
        """A short name that stays while the file is where it is."""
        return hashlib.sha256(str(self.path).encode("utf-8", "surrogateescape")).hexdigest()[:ID_DIGITS]


def places() -> tuple[tuple[Agent, Place], ...]:
    """Where agents keep transcripts that can be listed, under this user's own folder."""
    kept = ((agent, place) for agent in agents() for place in agent.places.values() if place.patterns)
    return tuple((agent, place._replace(folder=str(Path(place.folder).expanduser()))) for agent, place in kept)


def local_files() -> list[LocalFile]:
    """Every transcript of every agent here, the newest first; what cannot be listed or leads elsewhere is left out."""
    found = {one.path: one for agent, place in places() for one in _in(agent, place)}
    return sorted(found.values(), key=lambda one: (-one.modified, str(one.path)))


def _in(agent: Agent, place: Place) -> Iterator[LocalFile]:
    home = Path(place.folder).resolve()
    for pattern in place.patterns:
        paths = Path(place.folder).glob(pattern)
        by_project = pattern.startswith("*/")
        while True:
            try:
                path = next(paths)
                state = path.stat()
            except StopIteration:
                break
            except OSError:
                continue
            if state.st_size and path.is_file() and path.resolve().is_relative_to(home):
                folder = Path(place.folder, path.relative_to(place.folder).parts[0] if by_project else "")
                yield LocalFile(agent, path, state, folder)
