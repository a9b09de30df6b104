"""Export targets: one module each, found by the registry; this page is what a target module has to offer.

A module declares ``TARGET``, an object as described by ``ExportTarget``.  Its docstring lists what the target cannot
carry; each such thing is counted in the ``Report`` while it is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sessions.engine.base.words import counted
from sessions.engine.transcript.types import Content, Message, Request, Transcript


@dataclass(frozen=True, slots=True)
class ExportedMessage:
    """A message to write: ``reply`` is the request it answers, ``inserted`` by a replay, ``original`` if edited."""

    id: str
    message: Message
    reply: Request | None = None
    inserted: bool = False
    original: Message | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The list to write, ``what`` in words; ``whole``: as recorded, compactions and ``elsewhere`` belong to it."""

    transcript: Transcript
    entries: tuple[ExportedMessage, ...]
    what: str = "the whole session"
    whole: bool = False
    elsewhere: tuple[Request, ...] = ()


@dataclass(slots=True)
class Report:
    """What was written, and what the target could not carry: counts by what it is, in words."""

    n_messages: int = 0
    lost: Counter[str] = field(default_factory=Counter)

    def lose(self, what: str, n: int = 1) -> None:
        """Count ``n`` things that the file does not hold as they were."""
        if n:
            self.lost[what] += n

    def line(self) -> str:
        """One line for the user."""
        written = f"{counted(self.n_messages, 'message')} written"
        if not self.lost:
            return f"{written}, nothing left out"
        return f"{written}; not carried: {', '.join(f'{what} ({n:,})' for what, n in self.lost.items())}"


Read = Callable[[ExportedMessage], tuple[Content, ...]]
"""Gives the blocks of an entry with their text, one message at a time."""


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """A document that a list can be written as: ``write`` gives it in pieces, and counts what it cannot carry."""

    name: str
    label: str
    source: str
    suffix: str
    media_type: str
    write: Callable[[Listing, Read, Report], Iterator[str]]
