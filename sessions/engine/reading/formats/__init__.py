"""Transcript formats: one module each, found by the registry; this page is what a format module has to offer.

A module declares ``_Format``, a class of ``Format``.  Modules whose name starts with an underscore hold
what several formats share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions.engine.reading.formats._values import Measured
from sessions.engine.reading.jsonio import Head, Source
from sessions.engine.transcript.types import Content, Message, Origin, Parsed

__all__ = [
    "Coverage", "Format", "Head", "Measured", "Records", "Sniff", "Source", "all_values", "each_place", "each_value"
]  # fmt: skip
Contents = Callable[[Any, Sequence[Any], Message], tuple[Content, ...]]

YES, PARTLY, NO = "yes", "partly", "not recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Where an agent's files record what there is to know beside messages; "" is "not recorded".

    ``error`` with its words and code, refusals for size among them; a ``compaction`` that came about, ``failed``, or
    was ``begun`` and has no end; ``who`` started it; a ``clearing`` or prune; the ``window`` and the ``threshold``
    that the agent states; the ``model`` of each call, so that a change shows; a ``retry``, an ``interruption`` by the
    user, an ``end`` of the session that is none of its own.
    """

    error: str = ""
    compaction: str = ""
    failed: str = ""
    begun: str = ""
    who: str = ""
    clearing: str = ""
    window: str = ""
    threshold: str = ""
    model: str = ""
    retry: str = ""
    interruption: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class Coverage(Records):
    """What of an agent's sessions a format reads: ``YES``, ``PARTLY``, or ``NO`` where its files do not record it.

    ``versions`` are those of the agent whose files were seen; ``usage`` is yes where calls have theirs.  ``live``: the
    file grows while the agent works, so that it can be followed.
    """

    versions: str = ""
    usage: str = NO
    images: str = NO
    compactions: str = NO
    refusals: str = NO
    subagents: str = NO
    live: str = NO


UNKNOWN = Coverage()


@dataclass(frozen=True, slots=True)
class Sniff:
    """How much a file looks like a format: ``score`` 1 to 100, and why.

    Score 0 is a near miss: the format is not chosen, and ``reason`` says what was missing.
    """

    score: int
    reason: str


def all_values(read: Callable[[Sequence[Any], Message], Iterable[Content]]) -> Contents:
    """A format's ``contents`` where the values at a message's origins are read together."""
    return lambda _, values, message: tuple(read(values, message))


def each_value(read: Callable[[Any], Iterable[Content]]) -> Contents:
    """The same where every value at a message's origins has its own blocks, whatever the message."""
    return all_values(lambda values, _: [content for value in values for content in read(value)])


def each_place(read: Callable[[Any, Origin, Message], Iterable[Content]]) -> Contents:
    """The same where the value's place, or the message, tells how to read it."""
    return all_values(
        lambda values, message: [
            content
            for value, origin in zip(values, message.origins, strict=True)
            for content in read(value, origin, message)
        ]
    )


class Format:
    """A transcript format: knows its own files, parses them, and finds a message's text again.

    ``name`` is its module's, unless it has one.  ``label`` is its short name for screens, at most 20 characters;
    ``source`` says which files of which tool it reads, ``coverage`` what of them.
    """

    name: str
    label: str
    source: str
    coverage: Coverage

    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__:
            cls.name = cls.__module__.rpartition(".")[2]

    def sniff(self, head: Head) -> Sniff | None:
        """How much the head of a file looks like this format; None when it does not at all."""
        raise NotImplementedError

    def read(self, source: Source, measure: Measured) -> Parsed:
        """The file's sessions, and what of it could not be read."""
        source.skipped = []
        return replace(self.parse(source, measure), skipped=tuple(source.skipped))

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The file's sessions; every message's blocks come from ``measure``, and ``source`` skips what is not read."""
        raise NotImplementedError

    def contents(self, values: Sequence[Any], message: Message, /) -> tuple[Content, ...]:
        """The blocks of ``message`` with their text, from the JSON values at its origins, in the same order."""
        raise NotImplementedError
