"""Very many small uploads, one after the other."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.figures import Figure, none, seconds
from tests.faults.files import transcript
from tests.faults.place import place

if TYPE_CHECKING:
    from tests.faults.figures import Size
    from tests.faults.grounds import Ground

N_SENDERS = 3
BROKER_SHARE = 10
"""Behind a broker a tenth of the jobs is sent: what is tried there is the broker's part."""

SEND = """
import io, sys
from ctxweb.startup import load_django
load_django()
import ctxweb.celery
from sessions import tasks
from sessions.services.uploads import receive
from tests.faults.files import transcript
for seed in range(int(sys.argv[1]), int(sys.argv[2])):
    file = transcript(seed, 100)
    receive(file=io.BytesIO(file.data), filename=file.name)
    tasks.wake()
"""
MESSAGE_ENDED = ("Unrecoverable error", "Traceback (most recent call last)", "A worker is gone")
"""What is printed where a message, or anything else, ends a worker."""


def run(size: Size, ground: Ground) -> list[Figure]:
    """Send ``size.jobs`` uploads from a few processes through the services; one worker process reads them."""
    n_jobs = size.jobs // BROKER_SHARE if ground.broker else size.jobs
    with place(ground) as here:
        here.migrate()
        worker = here.start("worker", "--processes", "1")
        begun = time.monotonic()
        bounds = [n_jobs * n // N_SENDERS for n in range(N_SENDERS + 1)]
        senders = [here.python(SEND, str(a), str(b)) for a, b in pairwise(bounds)]
        failed = [sender.args for sender in senders if sender.wait()]
        sent = time.monotonic() - begun
        settled = outcome.settled(here, patience=3600)
        took = time.monotonic() - begun
        said = here.output()
        return [
            Figure(
                "jobs",
                f"{here.n_jobs('done', 'failed'):,} of {n_jobs:,}",
                "all",
                here.n_jobs("done", "failed") == n_jobs,
            ),
            none("senders that failed", failed),
            *settled[:1],
            *outcome.outcome(here, [transcript(seed, 100) for seed in range(n_jobs)]),
            Figure("work", outcome.counts(here)),
            none("signs that a message ended the worker", [sign for sign in MESSAGE_ENDED if sign in said]),
            Figure(
                "the worker runs at the end", "yes" if worker.poll() is None else "no", "yes", worker.poll() is None
            ),
            seconds("until all were sent", sent),
            seconds("until all were done", took),
            Figure("jobs done a second", f"{n_jobs / took:.1f}", of_time=True),
        ]
