"""What a link shows: its claim, what is taken out of the text, and any page context with its text cleaned."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.utils.safestring import SafeString

from sessions import selectors
from sessions.engine import jsonio, limits
from sessions.engine.redact import ORDER, redact
from sessions.pages.diff.bodies import Body
from sessions.pages.diff.words import Span, word_diff
from sessions.pages.ui import figures
from sessions.pages.ui.chart import figure_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sessions.engine.types import Content
    from sessions.models import Session

MOST_SCANNED = 1_000
"""Messages whose whole text the preview reads again; longer sessions are cleaned all the same when they are shown."""
NAMED = 2
HOUR = 3600
CUT_AT = frozenset({limits.PREVIEW_CHARS, 255})
"""Lengths of texts that were cut: previews, and titles as the database keeps them."""
BEFORE, AFTER = 18, 14


@dataclass(frozen=True, slots=True)
class Removed:
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

    sorts: tuple[Removed, ...]
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
        Removed(name, counts[name], *excerpts[name], _where(places[name])) for name in ORDER if name in counts
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


def cleaned(value: Any) -> Any:
    """A page context with every text in it redacted, however deep; markup already made safe is left as it is.

    Dataclasses are rebuilt from their fields, so what they compute is computed from cleaned text.
    """
    if isinstance(value, Body):
        return _cleaned_body(value)
    if isinstance(value, str):
        return _cleaned_text(value)
    if isinstance(value, Mapping):
        return {key: cleaned(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        found = [cleaned(inner) for inner in value]
        return type(value)(*found) if hasattr(value, "_fields") else type(value)(found)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _cleaned_fields(value)
    return value


def _cleaned_text(text: str) -> str:
    if isinstance(text, SafeString):
        return text
    return redact(_without_stump(text) if len(text) in CUT_AT else text).text


def _cleaned_fields(value: Any) -> Any:
    fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
    fresh = {name: cleaned(inner) for name, inner in fields.items()}
    changed = {name: inner for name, inner in fresh.items() if inner != fields[name]}
    return dataclasses.replace(value, **changed) if changed else value


def _cleaned_body(body: Body) -> Body:
    """A message's text cleaned, then its words compared again: a secret may lie across two spans of a word diff."""
    old, new = ("".join(span.text for span in spans) for spans in (body.before, body.after))
    if body.left:
        old, new = _without_stump(old), _without_stump(new)
    old, new, note = redact(old).text, redact(new).text, redact(body.note).text
    if old and new:
        before, after = word_diff(old, new)
        return Body(before, after, body.left, note)
    before, after = (tuple([Span("same", text)] if text else []) for text in (old, new))
    return Body(before, after, body.left, note)


def _without_stump(text: str) -> str:
    """A cut text without its last word, which may be the beginning of a secret too short to be known as one."""
    return re.sub(r"\S{1,300}\Z", "", text)


def cleaned_figure(figure: str) -> SafeString:
    """A chart's JSON with every text in it redacted, value by value so that no pattern reaches across two of them."""
    return figure_json(cleaned(jsonio.loads(figure.encode())))


def session_claim(session: Session) -> str:
    """One line that says why a session is worth a look."""
    if session.worst_overcount is not None and session.worst_overcount >= 10:
        return f"Message {session.worst_message:,} is over-counted {figures.factor(session.worst_overcount)}"
    n = session.n_compactions
    return f"{session.n_messages:,} messages, {n:,} compaction{'' if n == 1 else 's'} recorded"
