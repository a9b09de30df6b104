"""Full-text search over the sessions that a viewer sees: which have the words, how often, and where the best hit is.

Words are looked up in the index; phrases are then read in the messages that have all their words.  What is shown of a
hit is read from the stored transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import BinaryIO

from django.db.models import Count, F, Q
from django.db.models.expressions import RawSQL

from sessions.adapters import fulltext
from sessions.engine.base.errors import EngineError
from sessions.engine.packing import pack
from sessions.engine.reading import jsonio
from sessions.engine.reading.texts import Places, strings_at
from sessions.engine.search.terms import RULES, Piece, Query, read_query, snippet
from sessions.engine.transcript.types import Origin
from sessions.models import SearchedSession, SearchPart, Session, SessionFacts, SessionQuerySet, viewer

Opener = Callable[[Session], BinaryIO]
Hits = Sequence[tuple[int, int]]
"""(part, message) each."""
Opened = Mapping[int, tuple[int, Places]]
"""The first message of parts, and where theirs stand."""

MOST_READ = 400
"""Messages that are read for the phrases of one query, of the newest sessions first."""
MOST_SEEN = 12
"""Hits of a session among which the shortest is shown: it says least else."""
SHORT = 40
"""Characters under which a hit is shown with what follows it."""
MOST_ROWS = 100
"""Rows of which a hit is shown."""
MOST_LISTED = 5_000
"""Hits in one session that are listed."""


@dataclass(frozen=True, slots=True)
class SessionHits:
    """``n_messages`` of a session have what was looked for; ``message`` is the one shown, ``pieces`` a part of it."""

    n_messages: int
    message: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Ids of sessions in order, hits by session; ``n_unread`` were not read for a phrase, the first 400 were."""

    ids: tuple[str, ...]
    counts: Mapping[str, int]
    query: Query
    n_unread: int = 0

    @property
    def n_messages(self) -> int:
        """Messages with what was looked for, in all of these sessions."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the sessions seen are searchable (``n_problems`` could not be read), if this ``is_possible``."""

    n_searchable: int
    n_sessions: int
    n_problems: int = 0
    is_possible: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.is_possible and self.n_searchable >= self.n_sessions

    @property
    def is_growing(self) -> bool:
        """Whether a worker has some yet to index."""
        return self.is_possible and self.n_searchable + self.n_problems < self.n_sessions


def coverage() -> Coverage:
    """One query: sessions that are seen, and those of them that are indexed as they stand."""
    seen = Session.objects.seen_by(viewer()).latest_branches()
    as_stored = Q(searched__rules=RULES, searched__version=F("version"))
    counted = seen.aggregate(
        n_sessions=Count("pk"),
        n_searchable=Count("pk", filter=as_stored & Q(searched__problem="")),
        n_problems=Count("pk", filter=as_stored & ~Q(searched__problem="")),
    )
    if not fulltext.is_available():
        return Coverage(0, counted["n_sessions"], is_possible=False)
    return Coverage(**counted)


def find(sessions: SessionQuerySet, words: str, sort: str, opener: Opener) -> Found:
    """Those of ``sessions`` whose title, model, id or file name has every word, or of which one message has.

    In order ``sort``, else by relevance (named so first, then by the doubling number of hits), then by last message.
    """
    words = words.replace("\0", " ")
    query = read_query(words)
    counts, n_unread = _counts(sessions, query, opener) if query and fulltext.is_available() else ({}, 0)
    named = set(sessions.matching(words.replace('"', " ").replace("*", " ")).values_list("pk", flat=True))
    every = sessions.filter(pk__in=_these([*named, *counts]))
    if sort:
        return Found(tuple(every.sorted_by(sort).values_list("pk", flat=True)), counts, query, n_unread)
    rows = [(pk, ended or stored) for pk, ended, stored in every.values_list("pk", "ended_at", "created_at")]
    rows.sort(key=lambda row: (row[0] in named, counts.get(row[0], 0).bit_length(), row[1], row[0]), reverse=True)
    return Found(tuple(pk for pk, _ in rows), counts, query, n_unread)


def _these(ids: Sequence[str]) -> RawSQL:
    """Any number of ids as one parameter: databases bound how many a statement has."""
    values = "SELECT value FROM json_each(%s)" if fulltext.is_sqlite() else "SELECT json_array_elements_text(%s::json)"
    return RawSQL(values, [jsonio.dumps(list(ids))])  # noqa: S611 - our words


def _counts(sessions: SessionQuerySet, query: Query, opener: Opener) -> tuple[dict[str, int], int]:
    """Messages with what is looked for by session, and how many were not read for it."""
    counts = dict(fulltext.counts(query))
    rows = sessions.filter(pk__in=_these([*counts])).values_list("pk", "ended_at", "created_at")
    newest = sorted(rows, key=lambda row: (row[1] or row[2], row[0]), reverse=True)
    seen = {pk: counts[pk] for pk, _, _ in newest}
    if not query.phrases:
        return seen, 0
    found, n_left = {}, MOST_READ
    for pk, n in seen.items():
        if not n_left:
            break
        hits = _messages(pk, query, min(n, n_left))
        n_left -= len(hits)
        session = Session.objects.select_related("upload").get(pk=pk)
        texts = _texts(session, hits, _opened(part for part, _ in hits), opener)
        if n_said := sum(query.says(text) for _, text in texts):
            found[pk] = n_said
    return found, max(sum(seen.values()) - MOST_READ, 0)


def _messages(session_id: str, query: Query, limit: int) -> Hits:
    parts = SearchPart.objects.filter(session=session_id, live=True).values_list("pk", flat=True)
    return fulltext.messages(query, list(parts), limit)


def _opened(parts: Iterable[int]) -> Opened:
    """The first message of parts and where theirs stand: one query."""
    rows = SearchPart.objects.filter(pk__in=set(parts)).values_list("pk", "first", "places")
    return {pk: (first, Places(bytes(packed))) for pk, first, packed in rows}


def _texts(session: Session, hits: Hits, places: Opened, opener: Opener) -> Iterator[tuple[int, str]]:
    """Messages with their strings as they stand in the transcript; those that cannot be read are left out."""
    with ExitStack() as stack, suppress(OSError):
        source = jsonio.Source(stack.enter_context(opener(session)))
        for part, message in hits:
            first, where = places[part]
            if text := _text(source, where.of(message - first)):
                yield message, text


def _text(source: jsonio.Source, origins: Sequence[Origin]) -> str:
    try:
        return "\n".join(strings_at(source, origins))
    except (EngineError, jsonio.JsonProblem, OSError, ValueError, LookupError, TypeError):
        return ""


def shown(sessions: Sequence[Session], found: Found, opener: Opener) -> dict[str, SessionHits]:
    """What is shown of sessions with hits: the shortest of the first.  Two queries, and one of the index for each."""
    having = [session for session in sessions if session.pk in found.counts]
    parts: dict[str, list[int]] = {session.pk: [] for session in having}
    for pk, session_id in SearchPart.objects.filter(session__in=having, live=True).values_list("pk", "session_id"):
        parts[session_id].append(pk)
    limit = MOST_READ if found.query.phrases else MOST_SEEN
    hits = {one.pk: fulltext.messages(found.query, parts[one.pk], limit) for one in having}
    places = _opened(part for some in hits.values() for part, _ in some)
    return {one.pk: _shown(one, hits[one.pk], places, found, opener) for one in having if hits[one.pk]}


def _shown(session: Session, hits: Hits, places: Opened, found: Found, opener: Opener) -> SessionHits:
    def n_bytes(hit: tuple[int, int]) -> tuple[int, int]:
        first, where = places[hit[0]]
        return where.n_bytes(hit[1] - first), hit[1]

    n, query = found.counts[session.pk], found.query
    for message, text in _texts(session, sorted(hits, key=n_bytes), places, opener):
        if query.says(text):
            return SessionHits(n, message, snippet(_line(text, query), query))
    return SessionHits(n, hits[0][1], (Piece(_preview(session, hits[0][1]), is_match=False),))


def _preview(session: Session, message: int) -> str:
    """The beginning of a message as its facts have it; "" where they do not."""
    packed = SessionFacts.objects.filter(pk=session.pk).values_list("packed", flat=True).first()
    messages = pack.unpack(bytes(packed)).messages if packed else ()
    return messages[message].preview if message < len(messages) else ""


def _line(text: str, query: Query) -> str:
    """The string of a record that has most of the words, a short one (a tool's name) with the next."""
    parts = [word.text.casefold() for word in query.words]
    lines = [line for line in text.split("\n") if line.strip()]
    scores = [(query.says(line), sum(part in line.casefold() for part in parts)) for line in lines]
    best = scores.index(max(scores))
    return " ".join(lines[best : best + 2]) if len(lines[best]) < SHORT else lines[best]


def in_session(session: Session, query: Query) -> tuple[int, ...] | None:
    """Messages of a session that have the words, in order, phrases not looked at; None where it is not indexed."""
    if not fulltext.is_available() or not query:
        return None
    done = SearchedSession.objects.filter(pk=session.pk, rules=RULES, version=session.version, problem="")
    if not done.exists():
        return None
    return tuple(sorted(message for _, message in _messages(session.pk, query, MOST_LISTED)))
