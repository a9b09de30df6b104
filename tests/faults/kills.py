"""``kill -9`` at random moments, while uploads arrive."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.clients import Uploaders
from tests.faults.figures import Figure, exactly, none
from tests.faults.place import ANSWERER, READER, SUPERVISOR, TOP, place

if TYPE_CHECKING:
    from subprocess import Popen

    from tests.faults.figures import Size
    from tests.faults.grounds import Ground
    from tests.faults.place import Place

TARGETS = {"reader": 10, "server": 3, "process for requests": 3, "server and readers": 2, "everything": 2}
"""What is killed, and how often beside the others."""

KINDS = {
    "reader": (READER,), "server": (TOP,), "process for requests": (ANSWERER,), "worker of another host": (SUPERVISOR,),
    "server and readers": (TOP, READER),
}  # fmt: skip
AWAITED = 0.75
SETTLE_SECONDS = 900.0


def run(size: Size, ground: Ground) -> list[Figure]:
    """Kill and restart ``size.kills`` times, settle, start again, look."""
    with place(ground) as here:
        here.migrate()
        killer = Killer(here, size)
        here.serve()
        uploaders = Uploaders(here, n_clients=3, seed=size.seed, largest=size.largest_bytes)
        try:
            killer.work()
        finally:
            uploaders.finish()
        figures = [
            exactly("kills", killer.killed.total(), size.kills),
            Figure("of them", ", ".join(f"{what} {n:,}" for what, n in killer.killed.most_common())),
            Figure("uploads acknowledged", f"{len(uploaders.taken):,}"),
            Figure("requests broken by a kill and sent again", f"{uploaders.n_broken:,}"),
            none("uploads answered with anything else", uploaders.other),
            *outcome.settled(here, SETTLE_SECONDS),
            *outcome.outcome(here, uploaders.taken),
            Figure("work", outcome.counts(here)),
        ]
        return figures + _after_a_restart(here)


def _after_a_restart(here: Place) -> list[Figure]:
    """What is left once everything was ended as usual and started again."""
    for process in here.tops:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in here.tops:
        process.wait()
    here.until(lambda: not here.processes(), "all processes end")
    here.serve()
    tracebacks = here.output().count("Traceback (most recent call last)")
    return [
        *outcome.leftovers(here),
        *outcome.integrity(here),
        Figure("tracebacks printed", f"{tracebacks:,}", "0", tracebacks == 0, of_time=True),
    ]


class Killer:
    """Kills processes of ``here`` and starts again what an administrator would."""

    def __init__(self, here: Place, size: Size) -> None:
        self.here, self.n_kills, self.rng = here, size.kills, random.Random(size.seed)
        self.killed: Counter[str] = Counter()
        self.targets = dict(TARGETS)
        self.worker: Popen[bytes] | None = None
        if here.ground.broker:
            self.targets["worker of another host"] = 3
            self.worker = here.start("worker")

    def work(self) -> None:
        """All kills, each at a random moment after everything runs again."""
        while self.killed.total() < self.n_kills:
            time.sleep(self.rng.uniform(0.05, 2.0))
            what = self.rng.choices(list(self.targets), list(self.targets.values()))[0]
            pids = [pid for pid, kind in self.here.processes() if what == "everything" or kind in KINDS[what]]
            if what == "reader":
                pids = pids[:1] if self.rng.random() < 0.5 else pids
            hit = [pid for pid in pids if _kill(pid)]
            if hit:
                self.killed[what] += 1
            self._mend(hit)

    def _mend(self, hit: list[int]) -> None:
        """Start the server and the worker again where they are gone."""
        for process in self.here.tops:
            process.wait() if process.pid in hit else process.poll()
        if self.worker is not None and self.worker.returncode is not None:
            self.worker = self.here.start("worker")
        servers = [p for p in self.here.tops if p is not self.worker and p.returncode is None and "serve" in p.args]
        if not servers:
            # Most starts are awaited; the others may be killed half-way.
            self.here.serve(answering=self.rng.random() < AWAITED)


def _kill(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False
