"""The run that indexes what is stored: asked for whenever something is, done by a worker after everything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Sum
from django.utils import timezone

from sessions.adapters import fulltext
from sessions.engine.search.terms import RULES
from sessions.models import CatchingUp, SearchedSession, SearchPart, SearchRun, Session
from sessions.models.session import SessionQuerySet
from sessions.services import queue
from sessions.services.search.indexing import index_session

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
    """Take the run, where it waits."""
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
    """Index what waits, the newest first, and remove what was deleted.

    ``on_progress`` is told the sessions done and how many there are, at every message: it may raise to end the work.
    """
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
