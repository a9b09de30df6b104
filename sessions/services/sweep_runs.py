"""Sweeps in the background: found again by what they compute, taken up where a lost worker left them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence

from django.db import transaction
from django.utils import timezone

from sessions import selectors
from sessions.engine.base.errors import EngineError
from sessions.models import Session, Sweeping, SweepRun
from sessions.services import queue
from sessions.services.sweeping import Options, Record, grid_of, key_of, record, rows_kept, run_one, versions

LOOK_SECONDS = 0.2
WRITE_SECONDS = 0.5
"""The rows of a run are written at most this often."""


class _Stopped(Exception):
    """The run is no longer this worker's."""


def find(options: Options, versions: Sequence[str]) -> SweepRun | None:
    """The run of exactly this sweep over the sessions as they are now."""
    return SweepRun.objects.filter(key=key_of(options, versions)).first()


def start(*, options: Options, versions: Sequence[str], query: str) -> tuple[SweepRun, bool]:
    """The run of this sweep, and whether it is newly queued; one that was stopped or failed goes on."""
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


def put_back(run: SweepRun) -> None:
    """Queue a lost ``run`` again behind the rows it has, or end it; see ``queue.Kind``."""
    if run.cancel_asked:
        run.state = Sweeping.CANCELLED
    elif run.attempts >= queue.MAX_ATTEMPTS:
        run.state = Sweeping.FAILED
        run.error = f"It ended its process {run.attempts} times. Last: {run.ending}, after {run.n_done:,} settings."
    else:
        run.state = Sweeping.QUEUED


def claim(*, run_id: uuid.UUID | None = None) -> queue.Claim[SweepRun] | None:
    """Take a run, the one named or whichever waits; None where nothing waits."""
    rows = SweepRun.objects.all()
    return queue.take(rows if run_id is None else rows.filter(pk=run_id))


def run_claimed(held: queue.Claim[SweepRun], show: Callable[[], bool] = lambda: False) -> None:
    """Sweep what is left of a claimed run, several sessions by as many workers; every row is kept as it comes.

    ``show`` is called as it goes on, and says whether to stop.  Raises queue.Interrupted once the run is queued again.
    """
    found = SweepRun.objects.get(pk=held.pk)
    keeper = _Keeper(found, held, show)
    several = len(found.options["sessions"]) > 1
    try:
        with queue.beating(held):
            if several:
                _spread(found, keeper)
            else:
                keeper.sweep(*found.options["sessions"])
    except _Stopped:
        keeper.finish(Sweeping.CANCELLED)
    except queue.Superseded:
        return
    except queue.Interrupted:
        queue.give_back(held, rows=keeper.rows, n_done=keeper.n_done())
        raise
    except (EngineError, OSError) as error:
        keeper.finish(Sweeping.FAILED, str(error))
    except Exception:
        keeper.finish(Sweeping.FAILED, "Something went wrong here; the server's log says what.")
        raise
    else:
        keeper.finish(Sweeping.DONE)


def _spread(found: SweepRun, keeper: _Keeper) -> None:
    """Have each session swept by a run of its own, which a sweep of it alone finds; raises _Stopped, EngineError."""
    left = _alone(found, keeper.options)
    for tell in queue.tell:
        tell(len(left) - 1)
    try:
        while left:
            held = next(filter(None, (claim(run_id=pk) for pk in sorted(left))), None)
            if held is not None:
                run_claimed(held, keeper.cancelled)
            else:
                queue.stopping.wait(LOOK_SECONDS)
            _gather(left, keeper)
    except _Stopped:
        for pk in left:
            ask_to_cancel(run_id=pk)
        raise


def _alone(found: SweepRun, options: Options) -> dict[uuid.UUID, str]:
    """The runs of each session alone, queued where they are not done, with the session of each."""
    ones: dict[uuid.UUID, str] = {}
    for session_id in options["sessions"]:
        session = Session.objects.get(pk=session_id)
        selectors.notice(session)
        alone = options.copy()
        alone["sessions"] = [session_id]
        run, _ = start(options=alone, versions=versions([session]), query=found.query)
        ones[run.pk] = session_id
    return ones


def _gather(left: dict[uuid.UUID, str], keeper: _Keeper) -> None:
    """Take over what the runs have by now; those that are done leave ``left``.  Raises _Stopped and EngineError."""
    for one in SweepRun.objects.filter(pk__in=list(left)):
        keeper.rows[left[one.pk]] = one.rows.get(left[one.pk], [])
        if one.state == Sweeping.FAILED:
            raise EngineError(one.error)
        if one.state == Sweeping.DONE:
            del left[one.pk]
        elif one.state == Sweeping.CANCELLED:
            raise _Stopped
    if keeper.cancelled():
        raise _Stopped


class _Keeper:
    """Keeps a run's rows and reads whether to stop, at most twice a second."""

    def __init__(self, found: SweepRun, held: queue.Claim[SweepRun], show: Callable[[], bool]) -> None:
        self.options: Options = found.options
        self.rows: dict[str, list[Record]] = dict(found.rows)
        self.held, self.show = held, show
        self.last, self.stop = time.monotonic(), False

    def sweep(self, session_id: str) -> None:
        """One session behind the rows kept of it."""
        n_settings = len(grid_of(self.options)[1])
        kept = self.rows.setdefault(session_id, [])
        left = n_settings - len(kept)
        if not left:
            return
        selectors.notice(Session.objects.only("version").get(pk=session_id))
        result = run_one(
            session_id, self.options, done=rows_kept(kept, self.options), cancelled=self.cancelled,
            on_row=lambda row: self.rows[session_id].append(record(row)),
        )  # fmt: skip
        if not result.complete:
            raise _Stopped
        self._write()

    def finish(self, state: Sweeping, error: str = "") -> None:
        """The last word on the run, should it still be this worker's."""
        self.held.rows().update(
            state=state, error=error, rows=self.rows, n_done=self.n_done(), heartbeat_at=timezone.now(), worker=""
        )

    def n_done(self) -> int:
        return sum(map(len, self.rows.values()))

    def cancelled(self) -> bool:
        """Say how far it is, and whether to stop.  Raises queue.BrokenOff."""
        self.held.show()
        self.stop = self.stop or self.show()
        if time.monotonic() - self.last >= WRITE_SECONDS:
            self._write()
        return self.stop

    def _write(self) -> None:
        self.last = time.monotonic()
        mine = self.held.rows()
        self.stop = self.stop or not mine.update(rows=self.rows, n_done=self.n_done())
        self.stop = self.stop or bool(mine.values_list("cancel_asked", flat=True).first())
