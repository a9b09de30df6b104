"""What the library says of the sessions on this computer: found, kept in sync, and what to choose from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.pages.ui.addresses import home_as_tilde
from sessions.pages.ui.figures import listed, plural, size

if TYPE_CHECKING:
    from sessions.adapters.local import LocalFile
    from sessions.adapters.synced import Progress, Synced


@dataclass(frozen=True, slots=True)
class Found:
    """Sessions of agents on this computer: ``words`` as "22 Claude Code and 6 Codex", and how many in all."""

    words: str
    n_files: int


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder to choose: its path, also as it is shown, what it holds in words, and whether it is chosen."""

    path: str
    shown: str
    holds: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """One agent to choose, and its folders where it has one for each project."""

    name: str
    label: str
    holds: str
    chosen: bool
    folders: tuple[Folder, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """Where the keeping in sync stands: its sentence, how far reading is, and what asks again."""

    words: str
    n_files: int
    n_read: int
    is_paused: bool
    poll: str
    seconds: int

    @property
    def is_reading(self) -> bool:
        """Whether files wait to be read."""
        return not self.is_paused and self.n_read < self.n_files


READING_SECONDS, QUIET_SECONDS = 1, 5
"""Between two looks at how far it is: while files are read, and later."""


def found_words(files: Sequence[LocalFile]) -> Found | None:
    """What was found, the agent with most sessions first; None without any."""
    counts = Counter(one.agent.label for one in files).most_common()
    return Found(listed(f"{n:,} {label}" for label, n in counts), len(files)) if files else None


def to_choose(files: Sequence[LocalFile], synced: Synced) -> tuple[Kept, ...]:
    """Every agent that keeps sessions here, as far as it was chosen before."""
    return tuple(
        Kept(name, some[0].agent.label, _holds(some), name in synced.agents, _folders(some, synced))
        for name, some in _grouped(files, lambda one: one.agent.name)
    )


def _grouped(files: Sequence[LocalFile], by: Callable[[LocalFile], str]) -> list[tuple[str, list[LocalFile]]]:
    groups: dict[str, list[LocalFile]] = {}
    for one in files:
        groups.setdefault(by(one), []).append(one)
    return [*groups.items()]


def _folders(files: Sequence[LocalFile], synced: Synced) -> tuple[Folder, ...]:
    found = _grouped(files, lambda one: str(one.folder))
    if len(found) < 2:
        return ()
    return tuple(Folder(path, home_as_tilde(path), _holds(some), path in synced.folders) for path, some in found)


def other_folders(files: Iterable[LocalFile], synced: Synced) -> tuple[str, ...]:
    """Chosen folders that are of no agent."""
    known = {str(one.folder) for one in files}
    return tuple(path for path in synced.folders if path not in known)


def _holds(files: Sequence[LocalFile]) -> str:
    number, unit = size(sum(one.size for one in files))
    return f"{plural(len(files), 'session')}, {number} {unit}"


def sync_line(synced: Synced, reached: Progress, *, seen: str, n_new: int) -> Line:
    """The line above the list; ``seen`` is what the page has seen of the files, ``n_new`` came since it was opened."""
    n_files, n_read = reached.n_files, min(reached.n_read, reached.n_files)
    if synced.paused:
        words = f"Paused. {plural(n_files, 'file')} stay as they were read."
    elif n_read < n_files:
        words = f"Reading {plural(n_files, 'file')}, {n_read:,} done. New ones appear by themselves."
    elif not n_files:
        words = "Looking for sessions."
    else:
        words = f"{plural(n_files, 'file')}. New ones appear by themselves."
    if reached.n_failed and not synced.paused:
        words += f" {reached.n_failed:,} could not be read."
    if n_new:
        words += f" {n_new:,} new."
    busy = not n_files or n_read < n_files
    return Line(words, n_files, n_read, synced.paused, seen, READING_SECONDS if busy else QUIET_SECONDS)
