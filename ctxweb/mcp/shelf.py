"""Which sessions an agent may ask about, and what is read of them: the folders that the user allowed, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ctxweb.commands._engine import choose
from sessions.adapters.cache import Cache
from sessions.adapters.local import LocalFile, local_files
from sessions.engine.agents.agent import UNKNOWN
from sessions.engine.base.errors import EngineError
from sessions.engine.policies.policy import Item
from sessions.engine.quality.index import Index, build_index
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Content, Message
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.weighed import Weighed

KEPT = 4
SUFFIXES = frozenset({".jsonl", ".json"})


class NotHere(ValueError):
    """A session, message or compaction that does not exist, or that the user did not allow; says what to ask next."""


@dataclass(frozen=True)
class OpenSession:
    """One session of a file: the conversation with most requests, and a reader of its texts."""

    file: LocalFile
    weighed: Weighed

    def contents(self, message: Message) -> tuple[Content, ...]:
        """The blocks of a message with their text."""
        with self.texts() as texts:
            return texts.of(message)

    def texts(self) -> Texts:
        """A reader of the texts, to be closed."""
        return Texts(lambda: self.file.path.open("rb"), self.weighed.transcript.format)

    @cached_property
    def index(self) -> Index:
        """What the messages refer to, for the question what a compaction lost."""
        with self.texts() as texts:
            return build_index(self.weighed.transcript, texts.of)

    @cached_property
    def now(self) -> tuple[Item, ...]:
        """The message list of the newest request, as recorded."""
        from sessions.engine.replays.lists import items_at

        steps = self.weighed.steps
        if not steps:
            return ()
        return items_at(replay(self.weighed, "none", base="recorded"), steps[-1].request)


class Shelf:
    """The sessions of this machine's agents, or those in the folders ``allowed``; the last four read are kept."""

    def __init__(self, allowed: Sequence[Path] = ()) -> None:
        """``allowed`` are folders; none: wherever agents keep their transcripts."""
        self._allowed = tuple(folder.expanduser().resolve() for folder in allowed)
        self._open: Cache[tuple[str, float, int], OpenSession] = Cache(lambda held: len(held) > KEPT)

    def files(self) -> list[LocalFile]:
        """Every transcript that may be asked about, the newest first."""
        if not self._allowed:
            return local_files()
        known = {one.path: one for one in local_files()}
        found = []
        for folder in self._allowed:
            for path in folder.rglob("*"):
                if path.suffix in SUFFIXES and path.is_file() and path.resolve().is_relative_to(folder):
                    with suppress(OSError):  # gone meanwhile
                        found.append(known.get(path) or LocalFile(UNKNOWN, path, path.stat(), path.parent))
        return sorted(found, key=lambda one: (-one.modified, str(one.path)))

    def session(self, name: str) -> OpenSession:
        """The session called ``name``: "latest", an id, or a path; raises NotHere."""
        file = self._file(name)
        return self._open.get_or_make((str(file.path), file.modified, file.size), lambda: _read(file))

    def _file(self, name: str) -> LocalFile:
        every = self.files()
        if name == "latest" and every:
            return every[0]
        found = next((one for one in every if name in (one.id, str(one.path))), None)
        if found is None:
            raise NotHere(f"No session {name!r} among the {len(every):,} that may be read. Call search_sessions.")
        return found


def _read(file: LocalFile) -> OpenSession:
    try:
        with file.path.open("rb") as stream:
            parsed = read_transcripts(stream, str(file.path))
    except (EngineError, OSError) as error:
        raise NotHere(f"{file.path.name} cannot be read: {error}") from error
    return OpenSession(file, weigh(choose(parsed, None)))
