"""A server that takes very long to its first answer: what was uploaded before is read meanwhile."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.figures import Figure, exactly, seconds
from tests.faults.files import transcript
from tests.faults.place import ANSWERER, place
from tests.faults.volume import SEND

if TYPE_CHECKING:
    from tests.faults.figures import Size
    from tests.faults.grounds import Ground

N_WAITING = 20


def run(size: Size, ground: Ground) -> list[Figure]:
    """Stop the processes for requests right at their start, and let them go on after ``size.start_seconds``."""
    with place(ground) as here:
        here.migrate()
        assert here.python(SEND, "0", str(N_WAITING)).wait() == 0, here.output()
        begun = time.monotonic()
        here.serve(answering=False)
        stopped: set[int] = set()

        def stop() -> bool:
            """Stop the processes that have started by now: there are several, one after the other."""
            for pid in set(here.of(ANSWERER)) - stopped:
                os.kill(pid, signal.SIGSTOP)
                stopped.add(pid)
            return bool(stopped)

        here.until(stop, "a process for requests starts")
        read = here.until(lambda: stop() and here.n_jobs("done") == N_WAITING, "all are read")
        while time.monotonic() - begun < size.start_seconds:
            stop()
            time.sleep(0.1)
        n_read, announced = here.n_jobs("done"), here.output().count("ctxweb is at")
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        here.until(here.answers, "the server answers")
        here.until(lambda: "ctxweb is at" in here.output(), "the address is printed")
        return [
            exactly("uploads read before the server's first answer", n_read, N_WAITING),
            exactly("addresses printed before it", announced, 0),
            *outcome.outcome(here, [transcript(seed, 100) for seed in range(N_WAITING)]),
            seconds("until they were read", read),
            seconds("until the server answered", time.monotonic() - begun),
        ]
