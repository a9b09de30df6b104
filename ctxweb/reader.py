"""One worker process: takes what waits in the database, one piece after the other, until it is told to end."""

from __future__ import annotations

import logging
import os
import signal
from typing import Any

from ctxweb.cores import held_megabytes

POLL_SECONDS = 0.2
IDLE_LOOKS = 50
"""A reader of small uploads that finds nothing so many times in a row, ten seconds, gives its memory back."""
LONGEST_PAUSE_SECONDS = 10.0
"""Between two tries while the database does not answer."""

log = logging.getLogger(__name__)


def run(*, small: bool = False) -> None:
    """Work until SIGTERM or SIGINT, or until memory has grown too far; ``small``: small uploads, while any come."""
    from django.conf import settings
    from django.db import Error, connection

    from sessions.services import queue, work

    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    pause, n_idle = POLL_SECONDS, 0
    while not queue.stopping.is_set() and not (small and n_idle == IDLE_LOOKS):
        worked = False
        try:
            worked = work.read_small() if small else work.is_waiting() and work.work_one()
            pause, n_idle = POLL_SECONDS, 0 if worked else n_idle + 1
        except queue.Interrupted:
            break
        except Error as error:
            log.warning("the database does not answer (%s); trying again in %.0f s", error, pause)
            connection.close()
            pause = min(max(1.0, pause * 2), LONGEST_PAUSE_SECONDS)
        except Exception:
            log.exception("a piece of work failed")
        if worked and (held_megabytes() or 0) > settings.READER_MEGABYTES:
            break
        if not worked:
            queue.stopping.wait(pause)
    connection.close()


def run_celery() -> None:
    """Work whenever a message of the shared broker says so, in this process, until SIGTERM."""
    import warnings

    from celery import platforms, signals

    from ctxweb.celery import app

    # Celery warns root about pickled messages; this application accepts JSON only.
    warnings.filterwarnings("ignore", category=platforms.SecurityWarning)  # type: ignore[attr-defined]
    # Workers that never talk to each other start a second sooner.
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    name = f"ctxweb-{os.getpid()}@%h"
    signals.worker_shutting_down.connect(_end)
    signals.task_postrun.connect(_done)
    app.worker_main(["--quiet", "worker", "--loglevel", "WARNING", "--hostname", name, "--pool", "solo", *quiet])


def _done(**_: Any) -> None:
    """A process that has grown too far ends after its piece of work; the supervisor starts another."""
    from celery.worker import state
    from django.conf import settings

    if (held_megabytes() or 0) > settings.READER_MEGABYTES:
        state.should_stop = os.EX_OK  # type: ignore[assignment]  # an exit status ends it, says Celery's own code


def _end(*_: Any, **_more: Any) -> None:
    from sessions.services import queue

    queue.stopping.set()
