"""Keeps worker processes running, says how they ended, and finds lost work by a timer."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ctxweb.beside import Place
from ctxweb.terminal import say

if TYPE_CHECKING:
    from sessions.models import Work
    from sessions.services.processes import Ending
    from sessions.services.queue import Kind

LOOK_SECONDS = 0.2
TIMER_SECONDS = 3.0
SWEEP_EVERY = 20
"""So many rounds of the timer lie between two looks for temporary files that nobody writes any more."""

TERM_SECONDS = 2.5
"""How long a worker has to give back its work when all ends; then it is killed and the work given back for it."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Slot(Place):
    """A place for one worker process."""

    name: str = ""
    n_oom_kills: int | None = None
    overtime: bool = False


@dataclass(slots=True)
class Supervisor:
    """Starts ``n_slots`` workers, starts them again when they end, and ends them.

    While each of them is at the same piece of work for two rounds of the timer and a small upload waits, one more
    worker reads small uploads; it ends by itself.  ``follower`` is looked after beside them.

    Workers have sessions of their own, so Ctrl-C in the terminal reaches only this process.  ``run`` returns soon
    after ``stop`` was called: the workers get TERM, which gives back their work, and after 2.5 s KILL.
    """

    n_slots: int
    follower: Follower | None = None
    slots: list[Slot] = field(default_factory=list)
    small: Slot = field(default_factory=Slot)
    under_way: dict[object, float] = field(default_factory=dict)
    idle_before: bool = False
    n_timers: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)
    next_timer: float = 0.0

    def run(self) -> None:
        """Look after the workers until ``stop`` is called; everything that can go wrong is said and survived."""
        self.slots = [Slot() for _ in range(self.n_slots)]
        while not self.stopping.is_set():
            self._survive(self._look)
            if time.monotonic() >= self.next_timer:
                self.next_timer = time.monotonic() + TIMER_SECONDS
                self._survive(self._timer)
            if self.follower:
                self._survive(self.follower.look)
            self.stopping.wait(LOOK_SECONDS)
        self._end_all()
        if self.follower:
            self._survive(self.follower.end)
        self._survive(_close)

    def stop(self) -> None:
        self.stopping.set()

    def _survive(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:
            log.warning("looking after the workers: %s: %s", type(error).__name__, error)
            _close()

    def _look(self) -> None:
        for slot in self._all():
            if (status := slot.ended()) is not None:
                self._ended(slot, status)
            elif slot is not self.small and slot.is_due:
                _start(slot)

    def _all(self) -> list[Slot]:
        return [*self.slots, self.small]

    def _ended(self, slot: Slot, status: int) -> None:
        """Note how the slot's process ended in the work it had, and let another start."""
        how = _how(slot, status)
        if status == 0:
            slot.next_start = 0.0  # it is replaced at once
        else:
            again = "" if slot is self.small else "; starting another"
            say(f"A worker is gone: {how.words}{again}.")
        _release(slot.name, how)

    def _timer(self) -> None:
        from django.conf import settings
        from django.db import close_old_connections

        from sessions import tasks
        from sessions.adapters.leftovers import sweep_leftovers
        from sessions.services import jobs, work

        close_old_connections()
        work.recover()
        self.n_timers += 1
        if self.n_timers % SWEEP_EVERY == 0:
            sweep_leftovers()
        busy: set[str] = set()
        before, self.under_way = self.under_way, {}
        held: set[str] = set()
        for kind, row in _rows_of([slot.name for slot in self._all() if slot.process]):
            busy.add(row.worker)
            key = (kind.model, row.pk, row.claims)
            if key in before:
                held.add(row.worker)
            self.under_way[key] = since = before.get(key, time.monotonic())
            if time.monotonic() - since > settings.WORK_SECONDS:
                self._end_overtime(row.worker)
        is_free = self.small.is_due and not self.stopping.is_set()
        if is_free and all(slot.name in held for slot in self.slots) and jobs.is_small_waiting():
            _start(self.small, "--small")
        if settings.CELERY_BROKER_URL:
            n_idle = sum(1 for slot in self.slots if slot.process and slot.name not in busy)
            n_unasked = min(n_idle, work.n_waiting())
            if n_unasked and self.idle_before:
                # Work waited and nobody came for it, twice in a row: its message was lost.
                tasks.wake(n_unasked)
            self.idle_before = bool(n_unasked)

    def _end_overtime(self, worker: str) -> None:
        for slot in self._all():
            if slot.name == worker and slot.process is not None and not slot.overtime:
                slot.overtime = True
                slot.process.kill()

    def _end_all(self) -> None:
        running = [(slot.name, slot.process) for slot in self._all() if slot.process is not None]
        for _, process in running:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + TERM_SECONDS
        while any(process.poll() is None for _, process in running) and time.monotonic() < deadline:
            time.sleep(0.02)
        for name, process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            self._survive(partial(_release, name, None))


def _start(slot: Slot, *options: str) -> None:
    from sessions.services.processes import SUPERVISOR, name_of, oom_kills

    here = name_of(os.getpid())
    slot.n_oom_kills, slot.overtime = oom_kills(), False
    slot.name = f"{name_of(slot.start('worker', *options, env={SUPERVISOR: here}).pid)}/{here}"


def _how(slot: Slot, status: int) -> Ending:
    from django.conf import settings

    from sessions.services.processes import Ending, ending, oom_kills

    if slot.overtime:
        words = f"it took longer than {settings.WORK_SECONDS:,} s (CTXWEB_TASK_SECONDS) and was ended"
        return Ending(words, by_its_work=True)
    now = oom_kills()
    known = now is not None and slot.n_oom_kills is not None
    return ending(status, n_oom_kills=now - slot.n_oom_kills if known else None)  # type: ignore[operator]


def _rows_of(names: list[str]) -> Iterator[tuple[Kind[Any], Work]]:
    from sessions.services.work import KINDS

    for kind in KINDS:
        for row in kind.model._default_manager.filter(state=kind.model.active, worker__in=names):
            yield kind, row


def _release(name: str, how: Ending | None) -> None:
    from sessions.services import queue

    for kind, row in _rows_of([name]):
        queue.release(kind, row.pk, name, how)


def _close() -> None:
    from django.db import connection

    connection.close()


END_SECONDS = 2.0


@dataclass(slots=True)
class Follower(Place):
    """The process that reads them: there is one exactly while something is chosen and not paused."""

    def look(self) -> None:
        """Start it, start it again, or end it, as the choice stands."""
        from django.conf import settings

        from sessions.adapters.synced import synced

        self.ended()
        chosen = synced(settings.DATA)
        if not chosen.is_chosen or chosen.paused:
            self.end()
        elif self.is_due:
            self.start("watch", stderr=subprocess.DEVNULL)

    def end(self) -> None:
        """End it; what it was reading stays as it was."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
