"""Full-text search's index: what is stored is indexed by a worker, after everything else, a session at a time.

Of a session what is new is added, what changed is replaced, and all of it shown at once.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Sum
from django.utils import timezone

from sessions import selectors
from sessions.adapters import fulltext
from sessions.engine.base.errors import EngineError
from sessions.engine.packing import pack
from sessions.engine.reading.jsonio import JsonProblem
from sessions.engine.reading.texts import Texts, pack_places
from sessions.engine.search.terms import RULES, said, terms_of, without_secrets
from sessions.engine.transcript.types import Message
from sessions.models import CatchingUp, SearchedSession, SearchPart, SearchRun, Session, SessionFacts, SessionQuerySet
from sessions.services import queue

THE_RUN = 1
MOST_RETIRED = 20_000
"""Messages that were indexed, grew or changed since, and still take room; beyond it they are removed."""
PARTS_AT_ONCE, ROWS_AT_ONCE = 128, 2_000


def waiting() -> SessionQuerySet:
    """Sessions that are not indexed as they stand, branches that a rewind left aside."""
    done = SearchedSession.objects.filter(session=OuterRef("pk"), rules=RULES, version=OuterRef("version"))
    return Session.objects.latest_branches().filter(~Exists(done))


def ask() -> None:
    """Have what is stored now indexed, and what was deleted removed from the index."""
    if not fulltext.is_available():
        return
    fresh = {"state": CatchingUp.QUEUED, "attempts": 0, "losses": 0, "error": "", "heartbeat_at": timezone.now()}
    changed = SearchRun.objects.filter(pk=THE_RUN, state__in=(CatchingUp.DONE, CatchingUp.FAILED)).update(**fresh)
    if not changed:
        SearchRun.objects.bulk_create([SearchRun(pk=THE_RUN, **fresh)], ignore_conflicts=True)


def claim() -> queue.Claim[SearchRun] | None:
    return queue.take(SearchRun.objects.all()) if fulltext.is_available() else None


def run_claimed(held: queue.Claim[SearchRun], on_progress: Callable[[int, int], None] | None = None) -> None:
    """Index what waits; raises queue.Interrupted where the process is to end."""

    def progress(done: int, total: int) -> None:
        held.show(n_done=done, n_total=total)
        if on_progress:
            on_progress(done, total)

    try:
        with queue.beating(held):
            catch_up(progress)
    except queue.Superseded:
        return
    except queue.Interrupted:
        queue.give_back(held, **held.shown)
        raise
    held.rows().update(state=CatchingUp.DONE, error="", worker="", phase="", **held.shown)
    if is_needed():  # stored while the run was ending
        ask()


def is_needed() -> bool:
    """Whether there is something to index or to remove, and a table to do it in."""
    return fulltext.is_available() and (waiting().exists() or bool(fulltext.orphans(1)))


def catch_up(on_progress: Callable[[int, int], None]) -> None:
    """Index what waits, the newest first, and remove what was deleted; ``on_progress`` hears (done, all), may raise."""
    fulltext.create()
    n_done = 0
    while ids := list(waiting().order_by("-created_at", "pk").values_list("pk", flat=True)[:500]):
        n_total = n_done + waiting().count()
        for pk in ids:
            index_session(pk, lambda at=n_done, of=n_total: on_progress(at, of))  # type: ignore[misc]
            n_done += 1
        on_progress(n_done, n_total)
    clear_up(lambda: on_progress(n_done, n_done))


def clear_up(on_rows: Callable[[], None] = lambda: None) -> int:
    """Remove terms of deleted sessions, and of outdated messages once they are many; how many messages that were."""
    retired = SearchPart.objects.filter(live=False)
    gone = fulltext.orphans(1_000_000)
    n_retired = retired.aggregate(n=Sum(F("stop") - F("first"), default=0))["n"]
    if gone or n_retired > MOST_RETIRED:
        gone += list(retired.values_list("pk", flat=True))
    n_removed = 0
    for at in range(0, len(gone), PARTS_AT_ONCE):
        n_removed += _remove(gone[at : at + PARTS_AT_ONCE], on_rows)
    return n_removed


def _remove(parts: Sequence[int], on_rows: Callable[[], None]) -> int:
    rows = fulltext.documents(parts) if fulltext.is_sqlite() else []
    for at in range(0, len(rows), ROWS_AT_ONCE):
        on_rows()
        with transaction.atomic():
            fulltext.remove(rows[at : at + ROWS_AT_ONCE])
    with transaction.atomic():
        if not fulltext.is_sqlite():
            fulltext.remove_parts(parts)
        SearchPart.objects.filter(pk__in=parts, live=False).delete()
    return len(rows)


PART_MESSAGES, PART_CHARS = 256, 1_000_000
"""A part ends with the message that reaches either: what one short write holds, and what a growing file makes again."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Messages that are indexed together, with the terms of each."""

    first: int
    prints: bytes
    rows: list[tuple[int, set[str]]]


def index_session(session_id: str, on_message: Callable[[], None] = lambda: None) -> None:
    """Index what is new in a session, if it is still there; a failure is noted.  ``on_message`` may raise."""
    session = Session.objects.select_related("upload").filter(pk=session_id).first()
    if session is None:
        return
    try:
        _index(session, on_message)
    except (EngineError, JsonProblem, OSError, IndexError, SessionFacts.DoesNotExist) as error:
        problem = str(error).replace("\0", "")[:400] or type(error).__name__
        with transaction.atomic():
            if _is_same(session):
                _note(session, problem)


def _index(session: Session, on_message: Callable[[], None]) -> None:
    messages = pack.unpack(bytes(SessionFacts.objects.get(pk=session.pk).packed)).messages
    known = SearchedSession.objects.filter(pk=session.pk, rules=RULES).exists()
    parts = list(SearchPart.objects.filter(session=session, live=True).order_by("first"))
    with selectors.load_texts(session) as texts:
        kept = _kept(parts, messages, texts) if known else []
        start = kept[-1].stop if kept else 0
        made = [pk for part in _cut(messages[start:], texts, on_message) if (pk := _stored(session, part, messages))]
    with transaction.atomic():
        if not _is_same(session):
            return
        for part in kept:
            places = pack_places([one.origins for one in messages[part.first : part.stop]])
            if places != bytes(part.places):
                SearchPart.objects.filter(pk=part.pk).update(places=places)
        SearchPart.objects.filter(pk__in=[part.pk for part in parts if part not in kept]).update(live=False)
        SearchPart.objects.filter(pk__in=made).update(live=True)
        _note(session, "")


def _kept(parts: Sequence[SearchPart], messages: Sequence[Message], texts: Texts) -> list[SearchPart]:
    """The parts from the first on whose texts are as they were; a short one is made again with what follows it."""
    kept: list[SearchPart] = []
    for part in parts:
        if part.stop > len(messages) or part.first != (kept[-1].stop if kept else 0):
            break
        if _prints([said(texts.of(one)) for one in messages[part.first : part.stop]]) != bytes(part.prints):
            break
        kept.append(part)
    if kept and kept[-1].stop < len(messages) and kept[-1].stop - kept[-1].first < PART_MESSAGES // 2:
        kept.pop()
    return kept


def _cut(messages: Sequence[Message], texts: Texts, on_message: Callable[[], None]) -> Iterator[_Part]:
    """The messages in parts, each read when it is asked for."""
    rows: list[tuple[int, set[str]]] = []
    words: list[str] = []
    n_chars = 0
    for message in messages[: fulltext.MOST_MESSAGES]:
        on_message()
        text = said(texts.of(message))
        words.append(text)
        rows.append((message.index, terms_of(without_secrets(text))))
        n_chars += len(text)
        if len(rows) == PART_MESSAGES or n_chars >= PART_CHARS:
            yield _Part(rows[0][0], _prints(words), rows)
            rows, words, n_chars = [], [], 0
    if rows:
        yield _Part(rows[0][0], _prints(words), rows)


def _prints(words: Sequence[str]) -> bytes:
    return array("I", [zlib.crc32(one.encode("utf-8", "surrogatepass")) for one in words]).tobytes()


def _stored(session: Session, part: _Part, messages: Sequence[Message]) -> int:
    """Write a part, not shown yet; its number, 0 where the session is gone or was read again meanwhile."""
    stop = part.first + len(part.rows)
    places = pack_places([one.origins for one in messages[part.first : stop]])
    with transaction.atomic():
        if not _is_same(session):
            return 0
        row = SearchPart.objects.create(
            session=session, first=part.first, stop=stop, live=False, prints=part.prints, places=places
        )
        if fulltext.is_taken(row.pk):  # an index of another database: that of a copy, or of rows that were put back
            fulltext.clear()  # all sessions but the one under way are indexed anew
            SearchPart.objects.filter(live=True).update(live=False)
            SearchedSession.objects.all().delete()
        fulltext.add(row.pk, part.rows)
        return row.pk


def _is_same(session: Session) -> bool:
    """Whether the session is there as it was read; locked until the transaction ends."""
    return Session.objects.select_for_update().filter(pk=session.pk, version=session.version).exists()


def _note(session: Session, problem: str) -> None:
    values = {"rules": RULES, "version": session.version, "problem": problem}
    SearchedSession.objects.update_or_create(session_id=session.pk, defaults=values)
