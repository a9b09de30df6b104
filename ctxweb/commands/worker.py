"""``ctxweb worker``: reads uploads in the background, on this host or on any that shares database and broker."""

from __future__ import annotations

import signal
from types import FrameType

import click


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

    from ctxweb import reader
    from ctxweb.health import beat

    if small:
        reader.run(small=True)
        return
    if settings.CELERY_BROKER_URL:
        reader.run_celery()
        return
    beat(settings.WORKER_HEARTBEAT)
    reader.run()
