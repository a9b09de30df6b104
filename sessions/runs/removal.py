"""What a link takes out of a session's text, by sort: found by reading all of it, kept for an hour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.cache import cache

from sessions import selectors
from sessions.engine.redact import ORDER, redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessions.engine.types import Content
    from sessions.models import Session

MOST_SCANNED = 1_000
"""Messages whose whole text the preview reads again; longer sessions are cleaned all the same when they are shown."""
NAMED = 2
HOUR = 3600
BEFORE, AFTER = 18, 14


@dataclass(frozen=True, slots=True)
class RemovedSort:
    """One sort of secret: how many, an excerpt with the marker in it, and the messages it stands in."""

    name: str
    n: int
    before: str
    marker: str
    after: str
    where: str


@dataclass(frozen=True, slots=True)
class Removal:
    """What a link leaves out: secrets by sort, images; counted in ``n_scanned`` of ``n_messages``."""

    sorts: tuple[RemovedSort, ...]
    n_images: int
    n_scanned: int
    n_messages: int

    @property
    def total(self) -> int:
        """Secrets and images together."""
        return sum(sort.n for sort in self.sorts) + self.n_images


def removal(session: Session) -> Removal:
    """What a link of this session leaves out, counted once an hour; raises FileNotFoundError without the bytes."""
    key = f"removal:{session.pk}:{session.upload.sha256}"
    found: Removal | None = cache.get(key)
    if found is None:
        found = _counted(session)
        cache.set(key, found, HOUR)
    return found


def _counted(session: Session) -> Removal:
    n_scanned = min(session.n_messages, MOST_SCANNED)
    counts: dict[str, int] = {}
    places: dict[str, list[int]] = {}
    excerpts: dict[str, tuple[str, str, str]] = {}
    for index in range(n_scanned):
        for text in _texts(selectors.message_contents(session, index)):
            found = redact(text)
            for name, n in found.counts.items():
                counts[name] = counts.get(name, 0) + n
                if places.setdefault(name, [index])[-1] != index:
                    places[name].append(index)
                excerpts.setdefault(name, _excerpt(found.text, name))
    sorts = tuple(
        RemovedSort(name, counts[name], *excerpts[name], _where(places[name])) for name in ORDER if name in counts
    )
    return Removal(sorts, session.n_images, n_scanned, session.n_messages)


def _texts(contents: Sequence[Content]) -> Iterator[str]:
    for content in contents:
        if content.text:
            yield content.text
        yield from _texts(content.parts)


MARKERS = {
    "API keys": "[key]", "access tokens": "[token]", "private keys": "[private key]", "passwords": "[password]",
    "e-mail addresses": "[e-mail]", "home folders": "[home]",
}  # fmt: skip


def _excerpt(cleaned: str, name: str) -> tuple[str, str, str]:
    """One line around the first marker: before, marker, after."""
    marker = MARKERS[name]
    before, _, after = cleaned.partition(marker)
    return before.rpartition("\n")[2][-BEFORE:], marker, after.partition("\n")[0][:AFTER]


def _where(messages: list[int]) -> str:
    named = ", ".join(f"#{index:,}" for index in messages[:NAMED])
    return f"{named} and {len(messages) - NAMED:,} more" if len(messages) > NAMED else named
