"""The broker ends in the middle of the work, and comes back empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.clients import acknowledged
from tests.faults.figures import Figure, none
from tests.faults.files import transcript
from tests.faults.grounds import own_redis
from tests.faults.place import READER, place

if TYPE_CHECKING:
    from tests.faults.figures import Size
    from tests.faults.grounds import Ground

N_SMALL = 6


def run(size: Size, ground: Ground) -> list[Figure]:
    """A Redis of this run's own is ended while a big file is read, and started again with nothing in it."""
    big = transcript(1, size.big_bytes)
    small = [transcript(seed, 20_000) for seed in range(2, 2 + 3 * N_SMALL)]
    before, during, after = small[:N_SMALL], small[N_SMALL : 2 * N_SMALL], small[2 * N_SMALL :]
    with own_redis() as redis, place(ground, CTXWEB_BROKER_URL=redis.url) as here:
        here.serve()
        worker = here.start("worker", "--processes", "1")
        here.until(lambda: len(here.of(READER)) >= 2, "both workers run")
        assert all(acknowledged(here.port, file) for file in [big, *before])
        here.until(lambda: here.n_jobs("reading") > 0, "work is under way")
        redis.end()
        refused = [file.name for file in during if not acknowledged(here.port, file)]
        read_meanwhile = here.n_jobs("done")
        redis.start()
        refused += [file.name for file in after if not acknowledged(here.port, file)]
        settled = outcome.settled(here, patience=600)
        return [
            none("uploads refused while the broker was away, or after", refused),
            Figure("uploads done when it came back", f"{read_meanwhile:,} of {1 + 2 * N_SMALL}"),
            *settled,
            *outcome.outcome(here, [big, *small]),
            Figure("work", outcome.counts(here)),
            Figure(
                "the worker of the other host runs",
                "yes" if worker.poll() is None else "no",
                "yes",
                worker.poll() is None,
            ),
        ]
