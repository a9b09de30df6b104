"""Secrets and personal details out of text: found by what they look like and where they stand, replaced by markers.

Every pattern is anchored on something that a secret of its kind always carries (a provider's prefix, a scheme, a name
beside it, a check digit), because a scan for "random looking" words flags prose and code.  All are looked for in a
view of the text with its escapes undone, in lines that were wrapped, and in base64.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from sessions.engine.redact.kinds import BY_KEY, HOMES, KINDS, NOT_LOOKED_FOR, OWN, PASSWORDS, URLS, Kind
from sessions.engine.redact.known import Known
from sessions.engine.redact.names import PEOPLE
from sessions.engine.redact.own import name_in, own_patterns
from sessions.engine.redact.personal import PERSONAL
from sessions.engine.redact.places import named, tabled
from sessions.engine.redact.secrets import SECRETS
from sessions.engine.redact.view import View, base64_texts, decoded, is_login, plain, unfolded

__all__ = [
    "BY_KEY",
    "EVERYTHING",
    "KINDS",
    "NOT_LOOKED_FOR",
    "Choice",
    "Hit",
    "Kind",
    "Redaction",
    "name_in",
    "recognised",
    "redact",
]

PATTERNS = (*SECRETS, *PERSONAL, *PEOPLE)
AS_WRITTEN = tuple(pattern for pattern in PATTERNS if pattern.kind in (HOMES, URLS))
"""Looked for in the text as it is written, too: what is escaped in an address ends it, a folder is no escape."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What to take out: kinds by their keys, and words of one's own, in any case; ``/…/`` is a regular expression.

    ``known`` is what was recognised in the session that a text is from (``recognised``).

    Raises ValueError for an unknown kind, for more than 100 words and for an expression that cannot be used.
    """

    kinds: frozenset[str] = frozenset(BY_KEY)
    words: tuple[str, ...] = ()
    known: Known = field(default=Known(), compare=False)

    def __post_init__(self) -> None:
        unknown = sorted(self.kinds - BY_KEY.keys())
        if unknown:
            raise ValueError(f"unknown kind {unknown[0]!r}; there are {', '.join(BY_KEY)}")
        own_patterns(self.words)


EVERYTHING = Choice()


@dataclass(frozen=True, slots=True)
class Hit:
    """One piece that was taken out: its kind and where it stood, in characters of the text before."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redaction:
    """Text without its secrets, and what was taken out, in the order of the text."""

    text: str
    hits: tuple[Hit, ...]

    @property
    def counts(self) -> Mapping[Kind, int]:
        return Counter(hit.kind for hit in self.hits)


def redact(text: str, choice: Choice = EVERYTHING) -> Redaction:
    """Take what ``choice`` names out of ``text``.

    Redacting twice changes nothing more.  Pieces that overlap go as one, under the kind that comes first.  Time is
    linear in the text: every repetition is bounded or unambiguous.
    """
    hits = _merged(_found(text, choice))
    parts, at = [], 0
    for hit in hits:
        parts += [text[at : hit.start], hit.kind.marker]
        at = hit.end
    return Redaction("".join([*parts, text[at:]]), tuple(hits)) if hits else Redaction(text, ())


def _found(text: str, choice: Choice) -> Iterator[Hit]:
    """Hits in the text as it is read, in what was wrapped of it, and of home folders of Windows as it is written."""
    view = decoded(text)
    folded = unfolded(view)
    for seen in (view, folded) if folded is not None else (view,):
        for kind, start, end in _seen(seen.text, choice):
            yield Hit(kind, *seen.span(start, end))
    if view.text is not text:
        yield from _own(plain(text), choice)
        for pattern in AS_WRITTEN:
            if pattern.kind.key in choice.kinds:
                yield from (Hit(*found) for found in pattern.found(text, _small(text)))
    yield from _own(view, choice)


def recognised(text: str) -> Iterator[tuple[Kind, str]]:
    """The values that are taken out of a text for what they look like or where they stand, as a reader sees them."""
    view = decoded(text)
    folded = unfolded(view)
    for seen in (view.text, folded.text if folded is not None else "", *_inner(view.text)):
        yield from ((kind, seen[start:end]) for kind, start, end in _seen(seen, EVERYTHING))


def _inner(text: str) -> Iterator[str]:
    """What stands in base64; a user's name and password as a setting of it."""
    for _, _, inner in base64_texts(text):
        yield f"password={inner.partition(':')[2]}" if is_login(inner) else inner


def _seen(text: str, choice: Choice, *, is_inner: bool = False) -> Iterator[tuple[Kind, int, int]]:
    lower = _small(text)
    ends: dict[int, int] = {}
    for pattern in PATTERNS:
        if pattern.kind.key in choice.kinds:
            for kind, start, end in pattern.found(text, lower):
                ends[start] = max(end, ends.get(start, 0))
                yield kind, start, end
    for kind, start, end in chain(named(text, lower), tabled(text), choice.known.found(lower)):
        # What its form tells is told by its form: a token after "key =" is a token.
        if kind.key in choice.kinds and ends.get(start, 0) < end:
            yield kind, start, end
    if not is_inner:
        for start, end, inner in base64_texts(text):
            found = [kind for kind, _, _ in _seen(inner, choice, is_inner=True)]
            if PASSWORDS.key in choice.kinds and is_login(inner):
                found.append(PASSWORDS)
            if found:
                yield min(found, key=KINDS.index), start, end


def _small(text: str) -> str:
    """Small letters, each in its place: of one letter alone the small one is two."""
    return text.replace("\u0130", "I").lower()


def _own(view: View, choice: Choice) -> Iterator[Hit]:
    for own in own_patterns(choice.words):
        for match in own.finditer(view.text):
            if match.end() > match.start() and match[0] != OWN.marker:
                yield Hit(OWN, *view.span(*match.span()))


def _merged(hits: Iterable[Hit]) -> list[Hit]:
    """Hits in the order of the text; of several that overlap, one over all of them under the kind listed first."""
    merged: list[Hit] = []
    for hit in sorted(hits, key=lambda h: (h.start, -h.end)):
        last = merged[-1] if merged else None
        if last is None or hit.start >= last.end:
            merged.append(hit)
        else:
            first = min(last.kind, hit.kind, key=KINDS.index)
            merged[-1] = Hit(first, last.start, max(last.end, hit.end))
    return merged
