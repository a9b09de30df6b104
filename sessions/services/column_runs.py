"""What the pages of a long session keep is worked out by a worker as soon as the session is stored.

A row for each session says so; whoever takes it does page after page, then its figures over many.  What is kept
already is not worked out again, so that a run which lost its worker goes on where that was, and one behind a visit
finds little left to do.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, OperationalError, connection, transaction
from django.utils import timezone

from sessions import selectors
from sessions.engine.base.errors import EngineError
from sessions.engine.packing.section_file import seal
from sessions.models import CatchingUp, ColumnsRun, Session, SessionColumns
from sessions.selectors import columns
from sessions.selectors.columns import key_of
from sessions.services import figures, queue

pages: list[Callable[[], Mapping[str, Callable[[str], None]]]] = []
"""Names the pages as visits come, each with what works out all it keeps, by session id; ``sessions.apps`` sets it."""
ALIVE = dt.timedelta(seconds=5 * queue.BEAT_SECONDS)
"""A run that has been silent for longer is not waited for."""


def is_always_asked(session: Session) -> bool:
    """Whether its pages are worked out whenever it is stored: not while it grows (``session_rows.write_sessions``)."""
    return session.n_messages >= columns.LEAST_MESSAGES and not session.upload.followed


def ask(sessions: Iterable[Session]) -> None:
    """Have the columns of these worked out, as they stand now.  Call inside the transaction that writes them."""
    now = timezone.now()
    long = [one.pk for one in sessions if one.n_messages >= columns.LEAST_MESSAGES]
    ColumnsRun.objects.bulk_create(
        [ColumnsRun(session_id=pk, heartbeat_at=now) for pk in long],
        update_conflicts=True, unique_fields=["session"], batch_size=400,
        update_fields=["state", "attempts", "losses", "worker", "phase", "ending", "error", "heartbeat_at"],
    )  # fmt: skip


def claim() -> queue.Claim[ColumnsRun] | None:
    return queue.take(ColumnsRun.objects.all())


def run_claimed(held: queue.Claim[ColumnsRun]) -> None:
    """Work out what each page keeps; raises queue.Interrupted, and OperationalError, once it is queued again."""
    try:
        with queue.beating(held), patience():
            _work_out(held)
    except queue.Superseded:
        return
    except (OperationalError, queue.Interrupted):
        queue.give_back(held)
        raise
    except (EngineError, ObjectDoesNotExist) as error:
        _finish(held, CatchingUp.FAILED, str(error))
    except Exception:
        _finish(held, CatchingUp.FAILED, "Something went wrong here; the server's log says what.")
        raise
    else:
        _finish(held, CatchingUp.DONE)
    finally:
        selectors.weighed_cache.clear()  # a worker that has kept what it worked out has no more use for it


def _work_out(held: queue.Claim[ColumnsRun]) -> None:
    selectors.notice(Session.objects.get(pk=held.pk))
    for named in pages:
        for name, work_out in named().items():
            held.show(phase=name)
            held.beat()  # a visit reads how far it is
            work_out(held.pk)
    figures.work_out(held.pk)


def _finish(held: queue.Claim[ColumnsRun], state: CatchingUp, error: str = "") -> None:
    held.rows().update(state=state, error=error, worker="", phase="", heartbeat_at=timezone.now())


def is_under_way(session: Session, page: str) -> bool:
    """Whether a living worker is at what ``page`` keeps of the session, or about to be; at most one query."""
    if session.n_messages < columns.LEAST_MESSAGES:
        return False
    running = ColumnsRun.objects.filter(
        session=session, state=CatchingUp.RUNNING, heartbeat_at__gt=timezone.now() - ALIVE
    )
    phase = running.values_list("phase", flat=True).first()
    if phase is None:
        return False
    order = [name for named in pages for name in named()]
    return phase not in order or order.index(phase) <= order.index(page)


PATIENCE_MS = 250
"""A page does not wait longer than this for SQLite's one writer: what is not kept now is kept the next time."""
_patient: ContextVar[bool] = ContextVar("patient", default=False)
log = logging.getLogger(__name__)


@contextmanager
def patience() -> Iterator[None]:
    """What is kept in here waits for its turn to write: nobody waits for a page."""
    before = _patient.set(True)
    try:
        yield
    finally:
        _patient.reset(before)


def keep(session_id: str, name: str, version: str, sections: Mapping[str, bytes], other: str = "") -> bool:
    """Keep sections in place of those of that name; False where the session has changed or cannot be written now."""
    key = key_of(version, other)
    data = seal(key, sections)
    sqlite = connection.vendor == "sqlite" and not _patient.get()
    waited = 0
    try:
        if sqlite:
            with connection.cursor() as cursor:
                waited = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
                cursor.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
        with transaction.atomic():
            if not Session.objects.filter(pk=session_id, version=version).exists():
                return False
            defaults = {"key": key, "data": data}
            SessionColumns.objects.update_or_create(session_id=session_id, name=name, defaults=defaults)
            return True
    except DatabaseError as error:
        log.info("not kept: %s", error)
        return False
    finally:
        if sqlite:
            with connection.cursor() as cursor:
                cursor.execute(f"PRAGMA busy_timeout = {waited}")
