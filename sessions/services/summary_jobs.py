"""Jobs that have a model write the summaries of a replay: started once, told how far they are, stopped when asked."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.utils import timezone

from sessions import selectors
from sessions.adapters.calls import CallFailed
from sessions.engine.base.errors import EngineError
from sessions.engine.replays.replay import replay
from sessions.models import Purpose, Session, SummaryJob, Writing
from sessions.services import queue
from sessions.services.judging import judge
from sessions.services.model_summaries import SummaryWriter
from sessions.services.processes import this_process

if TYPE_CHECKING:
    from sessions.adapters.anthropic_client import Access

log = logging.getLogger(__name__)
UNFINISHED = (Writing.QUEUED, Writing.WRITING)
WRITE_SECONDS = 0.5


def running(session: Session) -> SummaryJob | None:
    return SummaryJob.objects.filter(session=session, state__in=UNFINISHED).first()


def start(
    *,
    session: Session,
    options: dict[str, Any],
    query: str,
    model: str,
    n_total: int,
    purpose: Purpose = Purpose.SUMMARIES,
    here: bool = False,
) -> tuple[SummaryJob, bool]:
    """A job for ``options``, and whether it is new: one at a time for a session; ``here``: no worker may take it."""
    with transaction.atomic():
        Session.objects.select_for_update().get(pk=session.pk)
        job = running(session)
        if job is not None:
            return job, False
        taken = {"state": Writing.WRITING, "claims": 1, "worker": this_process()} if here else {}
        return SummaryJob.objects.create(
            session=session, purpose=purpose, options=options, query=query, model=model, n_total=n_total,
            heartbeat_at=timezone.now(), **taken,
        ), True  # fmt: skip


def ask_to_cancel(*, job_id: uuid.UUID) -> None:
    """Have the job stop at its next sign of life; one that never began is stopped at once."""
    SummaryJob.objects.filter(pk=job_id, state=Writing.QUEUED).update(state=Writing.CANCELLED)
    SummaryJob.objects.filter(pk=job_id, state=Writing.WRITING).update(cancel_asked=True)


def put_back(job: SummaryJob) -> None:
    """End a lost ``job``: calls that cost money are not made again unasked; see ``queue.Kind``."""
    job.state, job.error, job.n_chars = Writing.FAILED, "It was interrupted.", 0


def claim(*, job_id: uuid.UUID | None = None) -> queue.Claim[SummaryJob] | None:
    """Take a job, the one named or whichever waits; None where nothing waits."""
    rows = SummaryJob.objects.all()
    return queue.take(rows if job_id is None else rows.filter(pk=job_id))


def run_claimed(held: queue.Claim[SummaryJob], access: Access | None) -> None:
    """Write the summaries of a claimed job; each is kept as it comes."""
    job = SummaryJob.objects.select_related("session__upload").get(pk=held.pk)
    if access is None:
        _finish(held, Writing.FAILED, "There is no key to ask a model with.")
        return
    selectors.notice(job.session)
    try:
        with queue.beating(held):
            _write(job, held, access)
    except queue.Superseded:
        return
    except queue.Interrupted:
        _finish(held, Writing.FAILED, "It was interrupted.")
        raise
    except CallFailed as failed:
        cancelled = failed.kind == "cancelled"
        _finish(held, Writing.CANCELLED if cancelled else Writing.FAILED, "" if cancelled else str(failed))
    except (EngineError, OSError) as error:
        _finish(held, Writing.FAILED, str(error))
    except Exception:
        _finish(held, Writing.FAILED, "Something went wrong here; the server's log says what.")
        raise
    else:
        _finish(held, Writing.DONE)


def run_in_thread(*, job_id: uuid.UUID, access: Access) -> None:
    """Run a job that was started ``here`` in this process, whose memory alone holds a pasted key."""

    def work() -> None:
        try:
            run_claimed(queue.Claim(SummaryJob, job_id, 1), access)
        except Exception:
            log.exception("summary job %s failed", job_id)
        finally:
            connection.close()

    threading.Thread(target=work, name=f"summaries-{job_id}", daemon=True).start()


def _write(job: SummaryJob, held: queue.Claim[SummaryJob], access: Access) -> None:
    beat = _Beat(held)
    if job.purpose == Purpose.JUDGEMENT:
        judge(job.session, job.options, job.model, access, on_progress=beat.progress, cancel=beat.cancelled)
        return
    writer = SummaryWriter(
        job.model, access=access, session_id=job.session_id, on_progress=beat.progress, cancel=beat.cancelled
    )
    weighed = selectors.load_weighed(job.session_id)
    with selectors.load_texts(job.session) as texts:
        replay(weighed, summarizer="anthropic", texts=texts, writer=writer, **job.options)


def _finish(held: queue.Claim[SummaryJob], state: Writing, error: str = "") -> None:
    held.rows().update(state=state, error=error, n_chars=0, heartbeat_at=timezone.now())


class _Beat:
    """Writes a job's progress, and reads whether to stop, at most twice a second."""

    def __init__(self, held: queue.Claim[SummaryJob]) -> None:
        self.held = held
        self.n_written, self.n_chars, self.last, self.stop = 0, 0, time.monotonic(), False

    def progress(self, n_written: int, n_chars: int) -> None:
        finished = n_written > self.n_written
        self.n_written, self.n_chars = n_written, n_chars
        if finished:
            self._write()

    def cancelled(self) -> bool:
        self.held.show()
        if time.monotonic() - self.last >= WRITE_SECONDS:
            self._write()
        return self.stop

    def _write(self) -> None:
        self.last = time.monotonic()
        mine = self.held.rows()
        self.stop = not mine.update(n_written=self.n_written, n_chars=self.n_chars)
        self.stop = self.stop or bool(mine.values_list("cancel_asked", flat=True).first())
