"""The database is the queue: rows of work are taken by one conditional update, and found again when they are lost.

Whoever wakes up, a row is worked on once: a claim raises ``claims``, and only the newest claim may write.  A lost or
doubled wake-up therefore costs nothing, and a reader that was wrongly given up on does no harm.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from django.db import Error, connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from sessions.models import FAILED, QUEUED, Work
from sessions.services.processes import Ending, is_gone, is_here, this_process

W = TypeVar("W", bound=Work)
log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
"""So many processes may one piece of work end; then it fails."""

BEAT_SECONDS = 1.0
"""A claim says that often that it is alive and how far it is."""

SILENT_SECONDS, SILENT_HERE_SECONDS = 60.0, 600.0
"""Silence after which a worker on another host is given up on, and one whose process is here and alive."""

tell: list[Callable[[int], None]] = []
"""Who is told of so many pieces of work that a worker made (``tasks.wake``, where a broker carries it on)."""

stopping = threading.Event()
"""Set when this process is to end: who works gives the work back at its next sign of progress."""


class BrokenOff(BaseException):
    """The work ends here, through no fault of its own: whoever answers for errors on the way lets it pass."""


class Superseded(BrokenOff):
    """The work is no longer this claim's: taken over, cancelled or deleted; nothing more may be written."""


class Interrupted(BrokenOff):
    """The process is to end; the work was not finished."""


@dataclass(slots=True)
class Claim(Generic[W]):
    """The right to do one piece of work; ``number`` tells it from earlier claims of the same row."""

    model: type[W]
    pk: Any
    number: int
    shown: dict[str, Any] = field(default_factory=dict)
    is_mine: bool = True

    def rows(self) -> QuerySet[W]:
        """The row, if this claim still holds it, else nothing."""
        return self.model._default_manager.filter(pk=self.pk, claims=self.number, state=self.model.active)

    def show(self, **progress: Any) -> None:
        """Note how far the work is, to be written with the next beat.  Raises Superseded and Interrupted."""
        self.shown |= progress
        if not self.is_mine:
            raise Superseded
        if stopping.is_set():
            raise Interrupted

    def beat(self) -> None:
        """Say that the worker lives and how far it is; notices when the claim has passed on."""
        shown = {**self.shown, "beats": F("beats") + 1, "heartbeat_at": timezone.now()}
        if not self.rows().update(**shown):
            self.is_mine = False


@contextmanager
def beating(claim: Claim[Any]) -> Iterator[None]:
    """Beat from a thread beside the work, whatever the work is busy with."""
    done = threading.Event()

    def keep() -> None:
        try:
            while not done.wait(BEAT_SECONDS) and claim.is_mine:
                try:
                    claim.beat()
                except Error as error:
                    # A beat that cannot be written now is written with the next one.
                    log.debug("no beat: %s", error)
                    connection.close()
        finally:
            connection.close()

    thread = threading.Thread(target=keep, name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@dataclass(frozen=True, slots=True)
class Kind(Generic[W]):
    """One kind of work: its rows, how one is claimed and done, and what becomes of one that lost its worker.

    ``put_back(row)``, in a transaction with the row locked and counted, sets ``state`` and mirrors of it; it is saved.
    """

    model: type[W]
    claim: Callable[[], Claim[W] | None]
    run: Callable[[Claim[W]], None]
    put_back: Callable[[W], None]


def again_or_failed(run: Work) -> None:
    """The ``put_back`` of work that goes on behind what is written: queued again, or failed where it ends processes."""
    if run.attempts >= MAX_ATTEMPTS:
        run.state = FAILED
        run.error = f"It ended its process {run.attempts} times. Last: {run.ending}."
    else:
        run.state = QUEUED


def take(rows: QuerySet[W], **values: Any) -> Claim[W] | None:
    """Claim the first queued row of ``rows``, the ones that lost a worker last; None where nothing waits."""
    waiting = rows.filter(state=QUEUED).order_by("attempts", "losses", "pk").values_list("pk", "claims")
    while found := waiting.first():
        pk, claims = found
        taken = rows.filter(pk=pk, state=QUEUED, claims=claims).update(
            state=rows.model.active, claims=claims + 1, worker=this_process(), beats=F("beats") + 1,
            heartbeat_at=timezone.now(), phase="", **values,
        )  # fmt: skip
        if taken:
            return Claim(rows.model, pk, claims + 1)
    return None


def give_back(claim: Claim[Any], **values: Any) -> bool:
    """Queue the work again, uncounted: this process ends, or a fault passes; False where it is no longer its own."""
    return bool(claim.rows().update(state=QUEUED, worker="", heartbeat_at=timezone.now(), phase="", **values))


def release(kind: Kind[Any], pk: Any, worker: str, ending: Ending | None = None) -> bool:
    """Take the row from the ``worker`` that will not finish it; ``ending`` says how that ended, if it was seen."""
    with transaction.atomic():
        rows = kind.model._default_manager.select_for_update()
        row = rows.filter(pk=pk, state=kind.model.active, worker=worker).first()
        if row is None:
            return False
        if ending and ending.by_its_work:
            row.attempts += 1
        else:
            row.losses += 1
        row.ending = ending.words if ending else ""
        row.worker, row.heartbeat_at = "", timezone.now()
        kind.put_back(row)
        row.save()
        return True


class Watch:
    """Remembers when it last saw each worker beat, by its own steady clock: moved clocks make nobody look dead."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[object, tuple[object, float]] = {}

    def recover(self, *kinds: Kind[Any]) -> int:
        """Queue again, or end, all work whose worker is gone or silent; how many rows that were."""
        n_found, now, seen = 0, self._clock(), self._seen
        self._seen = {}
        for kind in kinds:
            active = kind.model._default_manager.filter(state=kind.model.active)
            for pk, worker, *state in active.values_list("pk", "worker", "claims", "beats"):
                key = (kind.model, pk)
                before, since = seen.get(key, (None, now))
                since = since if before == state else now
                self._seen[key] = state, since
                limit = SILENT_HERE_SECONDS if is_here(worker) else SILENT_SECONDS
                if is_gone(worker) or now - since > limit:
                    n_found += release(kind, pk, worker)
        return n_found
