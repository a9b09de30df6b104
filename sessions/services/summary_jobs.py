"""Jobs that have a model write the summaries of a replay: started once, told how far they are, stopped when asked."""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.utils import timezone

from sessions import selectors
from sessions.adapters.anthropic_client import CallFailed
from sessions.engine.errors import EngineError
from sessions.engine.replay import replay
from sessions.models import Purpose, Session, SummaryJob, Writing
from sessions.services.judging import judge
from sessions.services.model_summaries import SummaryWriter

if TYPE_CHECKING:
    import uuid

    from sessions.adapters.anthropic_client import Access

log = logging.getLogger(__name__)
UNFINISHED = (Writing.QUEUED, Writing.WRITING)
LOST_AFTER = dt.timedelta(minutes=3)
"""Silence after which a job counts as lost: longer than the longest wait that the API may ask for."""
BEAT_SECONDS = 0.5


def running(session: Session) -> SummaryJob | None:
    """The session's unfinished job that still gives signs of life, if there is one."""
    alive = timezone.now() - LOST_AFTER
    return SummaryJob.objects.filter(session=session, state__in=UNFINISHED, heartbeat_at__gt=alive).first()


def start(
    *,
    session: Session,
    options: dict[str, Any],
    query: str,
    model: str,
    n_total: int,
    purpose: Purpose = Purpose.SUMMARIES,
) -> tuple[SummaryJob, bool]:
    """A job for the replay or the event of ``options``, and whether it is new: one at a time for a session."""
    with transaction.atomic():
        Session.objects.select_for_update().get(pk=session.pk)
        job = running(session)
        if job is not None:
            return job, False
        lost = SummaryJob.objects.filter(session=session, state__in=UNFINISHED)
        lost.update(state=Writing.FAILED, error="It was interrupted.")
        return SummaryJob.objects.create(
            session=session, purpose=purpose, options=options, query=query, model=model, n_total=n_total,
            heartbeat_at=timezone.now(),
        ), True  # fmt: skip


def ask_to_cancel(*, job_id: uuid.UUID) -> None:
    """Have the job stop at its next sign of life; one that never began is stopped at once."""
    SummaryJob.objects.filter(pk=job_id, state=Writing.QUEUED).update(state=Writing.CANCELLED)
    SummaryJob.objects.filter(pk=job_id, state=Writing.WRITING).update(cancel_asked=True)


def run(*, job_id: uuid.UUID, access: Access | None) -> None:
    """Write the summaries; each is kept as it comes.  Harmless when sent twice."""
    taken = SummaryJob.objects.filter(pk=job_id, state=Writing.QUEUED)
    if not taken.update(state=Writing.WRITING, heartbeat_at=timezone.now()):
        return
    job = SummaryJob.objects.select_related("session__upload").get(pk=job_id)
    if access is None:
        _finish(job, Writing.FAILED, "There is no key to ask a model with.")
        return
    try:
        _write(job, access)
    except CallFailed as failed:
        cancelled = failed.kind == "cancelled"
        _finish(job, Writing.CANCELLED if cancelled else Writing.FAILED, "" if cancelled else str(failed))
    except (EngineError, OSError) as error:
        _finish(job, Writing.FAILED, str(error))
    except Exception:
        _finish(job, Writing.FAILED, "Something went wrong here; the server's log says what.")
        raise
    else:
        _finish(job, Writing.DONE)


def run_in_thread(*, job_id: uuid.UUID, access: Access) -> None:
    """Run the job in this process, whose memory alone holds a pasted key."""

    def work() -> None:
        try:
            run(job_id=job_id, access=access)
        except Exception:
            log.exception("summary job %s failed", job_id)
        finally:
            connection.close()

    threading.Thread(target=work, name=f"summaries-{job_id}", daemon=True).start()


def _write(job: SummaryJob, access: Access) -> None:
    beat = _Beat(job)
    if job.purpose == Purpose.JUDGEMENT:
        judge(job.session, job.options, job.model, access, on_progress=beat.progress, cancel=beat.cancelled)
        return
    writer = SummaryWriter(
        job.model, access=access, session_id=job.session_id, on_progress=beat.progress, cancel=beat.cancelled
    )
    weighed = selectors.load_weighed(job.session_id)
    with contextlib.closing(selectors.load_texts(job.session)) as texts:
        replay(weighed, summarizer="anthropic", texts=texts, writer=writer, **job.options)


def _finish(job: SummaryJob, state: Writing, error: str = "") -> None:
    SummaryJob.objects.filter(pk=job.pk).update(state=state, error=error, n_chars=0, heartbeat_at=timezone.now())


class _Beat:
    """Writes a job's progress, and reads whether to stop, at most twice a second."""

    def __init__(self, job: SummaryJob) -> None:
        self.rows = SummaryJob.objects.filter(pk=job.pk)
        self.n_written, self.n_chars, self.last, self.stop = 0, 0, time.monotonic(), False

    def progress(self, n_written: int, n_chars: int) -> None:
        finished = n_written > self.n_written
        self.n_written, self.n_chars = n_written, n_chars
        if finished:
            self._write()

    def cancelled(self) -> bool:
        if time.monotonic() - self.last >= BEAT_SECONDS:
            self._write()
        return self.stop

    def _write(self) -> None:
        self.last = time.monotonic()
        there = self.rows.update(n_written=self.n_written, n_chars=self.n_chars, heartbeat_at=timezone.now())
        self.stop = not there or bool(self.rows.values_list("cancel_asked", flat=True).first())
