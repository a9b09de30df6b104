"""Transcript formats: one module each, found by the registry; this page is what a format module has to offer.

A module declares ``FORMAT``, an object as described by ``Format``.  Modules whose name starts with an underscore hold
what several formats share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sessions.engine.jsonio import Head, Source
    from sessions.engine.types import Block, Content, Message, Parsed

    Measured = Callable[[Iterable[Content]], tuple[Block, ...]]


@dataclass(frozen=True, slots=True)
class Sniff:
    """How much a file looks like a format: ``score`` 1 to 100, and why.

    Score 0 is a near miss: the format is not chosen, and ``reason`` says what was missing.
    """

    score: int
    reason: str


class Format(Protocol):
    """A transcript format: knows its own files, parses them, and finds a message's text again.

    ``label`` is its short name for screens, at most 20 characters; ``source`` says which files of which tool it reads.
    """

    name: str
    label: str
    source: str

    def sniff(self, head: Head) -> Sniff | None:
        """How much the head of a file looks like this format; None when it does not at all."""

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The file's sessions; every message's blocks come from ``measure``."""

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of ``message`` with their text, from the JSON values at its origins, in the same order."""
