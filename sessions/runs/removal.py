"""What a link takes out of a session's text, hit by hit: found by reading all of it, kept for an hour."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.core.cache import cache

from sessions import selectors
from sessions.engine.reading.texts import texts_in
from sessions.engine.redact import KINDS, Choice, Kind, Redaction, redact
from sessions.engine.transcript.types import Kind as LeafKind
from sessions.models import Session

MOST_SCANNED = 1_000
"""Messages whose whole text the preview reads again; longer sessions are cleaned all the same when they are shown."""
MOST_LISTED = 100
"""Hits of one kind that are listed; the others are counted."""
HOUR = 3600
BEFORE, AFTER = 30, 20


@dataclass(frozen=True, slots=True)
class RemovedHit:
    """One place: its message, and the line around the marker, cleaned as well."""

    message: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class RemovedKind:
    """One kind of secret: how many stand in the text, and the first 100 places."""

    kind: Kind
    n: int
    hits: tuple[RemovedHit, ...]

    @property
    def noun(self) -> str:
        return self.kind.noun(self.n)

    @property
    def n_unlisted(self) -> int:
        return self.n - len(self.hits)


@dataclass(frozen=True, slots=True)
class Removal:
    """What a link leaves out: secrets by kind, images; counted in ``n_scanned`` of ``n_messages``."""

    kinds: tuple[RemovedKind, ...]
    n_images: int
    n_scanned: int
    n_messages: int

    @property
    def total(self) -> int:
        return sum(found.n for found in self.kinds) + self.n_images


def removal(session: Session, choice: Choice, only: frozenset[int] | None = None) -> Removal:
    """What a link of the session, or of messages ``only``, leaves out, once an hour.  Raises FileNotFoundError."""
    messages = range(session.n_messages) if only is None else sorted(only)
    asked = hashlib.sha256(repr((sorted(choice.kinds), choice.words, messages)).encode("utf-8", "replace")).hexdigest()
    key = f"removed:{session.pk}:{session.upload.sha256}:{asked}"
    found: Removal | None = cache.get(key)
    if found is None:
        found = _counted(session, choice, messages)
        cache.set(key, found, HOUR)
    return found


def _counted(session: Session, choice: Choice, messages: Sequence[int]) -> Removal:
    transcript = selectors.load_weighed(session.pk).transcript
    kinds_of_leaves = (leaf.kind for index in messages for leaf in transcript.messages[index].leaves())
    counts = dict.fromkeys(KINDS, 0)
    places: dict[Kind, list[RemovedHit]] = {kind: [] for kind in KINDS}
    for index in messages[:MOST_SCANNED]:
        for text in texts_in(selectors.message_contents(session, index)):
            for kind, hit in _hits(redact(text, choice), index):
                counts[kind] += 1
                if len(places[kind]) < MOST_LISTED:
                    places[kind].append(hit)
    kinds = tuple(RemovedKind(kind, n, tuple(places[kind])) for kind, n in counts.items() if n)
    n_images = sum(kind is LeafKind.IMAGE for kind in kinds_of_leaves)
    return Removal(kinds, n_images, min(len(messages), MOST_SCANNED), len(messages))


def _hits(found: Redaction, message: int) -> Iterator[tuple[Kind, RemovedHit]]:
    """Each hit with the end and the beginning of what stands around its marker on the same line."""
    shift = 0
    for hit in found.hits:
        start = hit.start + shift
        end = start + len(hit.kind.marker)
        shift = end - hit.end
        before = found.text[max(0, start - BEFORE) : start].rpartition("\n")[2]
        yield hit.kind, RemovedHit(message, before, found.text[end : end + AFTER].partition("\n")[0])
