"""``ctxweb worker``: reads uploads in the background, on this host or on any that shares database and broker."""

from __future__ import annotations

import logging
import os
import signal
from types import FrameType
from typing import Any

import click

from ctxweb.cores import held_megabytes


@click.command()
@click.option("--processes", type=click.IntRange(1, 64), help="Tasks at a time. [default: CTXWEB_WORKER_PROCESSES]")
@click.option("--parent", type=int, hidden=True, help="Be one of the processes, and end when this one has gone.")
@click.option("--small", is_flag=True, hidden=True, help="Be the process that reads small uploads beside the others.")
def command(processes: int | None, parent: int | None, *, small: bool) -> None:
    """Run workers until told to stop.

    They take what waits in the database. With CTXWEB_BROKER_URL, a Redis or RabbitMQ address, they are woken through
    it, on any number of hosts that share the database and the stored files.
    """
    if parent is not None:
        _one_process(parent, small=small)
        return
    from ctxweb.startup import load_django

    load_django()
    from django.conf import settings

    from ctxweb.supervisor import Supervisor

    supervisor = Supervisor(processes or settings.WORKER_PROCESSES)

    def end(signum: int, frame: FrameType | None) -> None:
        supervisor.stop()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    supervisor.run()


def _one_process(parent: int, *, small: bool) -> None:
    from ctxweb.beside import end_with_parent

    end_with_parent(parent)
    from ctxweb.startup import load_django

    load_django()
    from django.conf import settings

    from ctxweb.health import beat

    if settings.CELERY_BROKER_URL and not small:
        run_celery()
        return
    if not small:
        beat(settings.WORKER_HEARTBEAT)
    run(small=small)


POLL_SECONDS = 0.2
IDLE_LOOKS = 50
"""A reader of small uploads that finds nothing so many times in a row, ten seconds, gives its memory back."""
LONGEST_PAUSE_SECONDS = 10.0
"""Between two tries while the database does not answer."""

log = logging.getLogger(__name__)


def run(*, small: bool) -> None:
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
