"""Sweeps in the background: found again by what they compute, taken up where a lost worker left them."""

from __future__ import annotations

import datetime as dt
import time
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from sessions.engine.errors import EngineError
from sessions.models import SweepRun
from sessions.models.sweep_run import Sweeping
from sessions.services.jobs import is_gone, this_process
from sessions.services.sweeping import grid_of, key_of, record, rows_kept, run_one

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from sessions.services.sweeping import Options, Record

UNFINISHED = (Sweeping.QUEUED, Sweeping.RUNNING)
NOT_TAKEN_AFTER, SILENT_AFTER = dt.timedelta(seconds=60), dt.timedelta(minutes=10)
"""A task that nobody takes is lost; so is a worker elsewhere that says nothing for longer than a setting takes."""
BEAT_SECONDS = 0.5
MAX_ATTEMPTS = 3


class _Stopped(Exception):
    """The run is no longer this worker's."""


def find(options: Options, versions: Sequence[str]) -> SweepRun | None:
    """The run of exactly this sweep over the sessions as they are now."""
    return SweepRun.objects.filter(key=key_of(options, versions)).first()


def start(*, options: Options, versions: Sequence[str], query: str) -> tuple[SweepRun, bool]:
    """The run of this sweep, and whether its task is to be sent; one that was stopped or failed goes on."""
    n_total = len(grid_of(options)[1]) * len(options["sessions"])
    with transaction.atomic():
        run, new = SweepRun.objects.select_for_update().get_or_create(
            key=key_of(options, versions),
            defaults={"options": options, "query": query, "n_total": n_total, "heartbeat_at": timezone.now()},
        )
        if new or run.state in {Sweeping.DONE, Sweeping.QUEUED, Sweeping.RUNNING}:
            return run, new
        run.state, run.cancel_asked, run.attempts, run.error = Sweeping.QUEUED, False, 0, ""
        run.heartbeat_at = timezone.now()
        run.save()
        return run, True


def ask_to_cancel(*, run_id: uuid.UUID) -> None:
    """Have the run stop at its next sign of life; one that nobody runs is stopped at once."""
    SweepRun.objects.filter(pk=run_id, state=Sweeping.QUEUED).update(state=Sweeping.CANCELLED)
    SweepRun.objects.filter(pk=run_id, state=Sweeping.RUNNING).update(cancel_asked=True)


def requeue_lost() -> list[uuid.UUID]:
    """Queue again what lost its worker or its task; returns the runs whose task must be sent again."""
    lost: list[uuid.UUID] = []
    for candidate in SweepRun.objects.filter(state__in=UNFINISHED).only("pk", "state", "worker", "heartbeat_at"):
        if not is_lost(candidate):
            continue
        with transaction.atomic():
            run = SweepRun.objects.select_for_update().get(pk=candidate.pk)
            if is_lost(run) and _release(run):
                lost.append(run.pk)
    return lost


def is_lost(run: SweepRun) -> bool:
    """Whether nobody will finish the run: its worker is gone or silent, or its task never came."""
    silence = timezone.now() - run.heartbeat_at
    if run.state == Sweeping.RUNNING:
        return is_gone(run.worker) or silence > SILENT_AFTER
    return run.state == Sweeping.QUEUED and silence > NOT_TAKEN_AFTER


def _release(run: SweepRun) -> bool:
    if run.cancel_asked:
        run.state = Sweeping.CANCELLED
    elif run.attempts >= MAX_ATTEMPTS:
        run.state = Sweeping.FAILED
        run.error = f"It ended its worker {run.attempts} times; most likely that ran out of memory."
    else:
        run.state, run.worker, run.heartbeat_at = Sweeping.QUEUED, "", timezone.now()
    run.save(update_fields=["state", "error", "worker", "heartbeat_at"])
    return run.state == Sweeping.QUEUED


def run(*, run_id: uuid.UUID) -> None:
    """Sweep what is left of the run; every row is kept as it comes.  Harmless when sent twice."""
    with transaction.atomic():
        found = SweepRun.objects.select_for_update().filter(pk=run_id, state=Sweeping.QUEUED).first()
        if found is None:
            return
        found.state, found.attempts, found.worker = Sweeping.RUNNING, found.attempts + 1, this_process()
        found.heartbeat_at = timezone.now()
        found.save()
    keeper = _Keeper(found)
    try:
        for session_id in found.options["sessions"]:
            keeper.sweep(session_id)
    except _Stopped:
        keeper.finish(Sweeping.CANCELLED)
    except (EngineError, OSError) as error:
        keeper.finish(Sweeping.FAILED, str(error))
    except Exception:
        keeper.finish(Sweeping.FAILED, "Something went wrong here; the server's log says what.")
        raise
    else:
        keeper.finish(Sweeping.DONE)


class _Keeper:
    """Keeps a run's rows and reads whether to stop, at most twice a second."""

    def __init__(self, found: SweepRun) -> None:
        self.options: Options = found.options
        self.rows: dict[str, list[Record]] = dict(found.rows)
        self.mine = SweepRun.objects.filter(pk=found.pk, attempts=found.attempts, state=Sweeping.RUNNING)
        self.last, self.stop = time.monotonic(), False

    def sweep(self, session_id: str) -> None:
        """One session behind the rows kept of it."""
        n_settings = len(grid_of(self.options)[1])
        kept = self.rows.setdefault(session_id, [])
        left = n_settings - len(kept)
        if not left:
            return
        result = run_one(
            session_id, self.options, done=rows_kept(kept, self.options), cancelled=self._cancelled,
            on_row=lambda row: self.rows[session_id].append(record(row)),
        )  # fmt: skip
        if not result.complete:
            raise _Stopped
        self._write()

    def finish(self, state: Sweeping, error: str = "") -> None:
        """The last word on the run, should it still be this worker's."""
        self.mine.update(
            state=state, error=error, rows=self.rows, n_done=self._n_done(), heartbeat_at=timezone.now(), worker=""
        )

    def _cancelled(self) -> bool:
        if time.monotonic() - self.last >= BEAT_SECONDS:
            self._write()
        return self.stop

    def _write(self) -> None:
        self.last = time.monotonic()
        self.stop = not self.mine.update(rows=self.rows, n_done=self._n_done(), heartbeat_at=timezone.now())
        self.stop = self.stop or bool(self.mine.values_list("cancel_asked", flat=True).first())

    def _n_done(self) -> int:
        return sum(map(len, self.rows.values()))
