"""``ctxweb worker``: reads uploads in the background, from the local queue or a shared broker."""

from __future__ import annotations

import os
import warnings

import click


@click.command()
@click.option("--processes", type=click.IntRange(1, 64), help="Tasks at a time. [default: CTXWEB_WORKER_PROCESSES]")
@click.option("--parent", type=int, hidden=True, help="End when this process is no longer the parent.")
def command(processes: int | None, parent: int | None) -> None:
    """Run a worker until it is told to stop.

    Without CTXWEB_BROKER_URL it shares a folder in the data directory with the server on this machine; with a Redis
    or RabbitMQ address, any number of workers on any number of hosts share the work.
    """
    if parent is not None:
        from ctxweb.parent import end_with_parent

        end_with_parent(parent)
    from ctxweb.startup import load_django

    load_django()
    from celery import platforms
    from django.conf import settings

    from ctxweb.celery import app
    from ctxweb.heartbeat import beat

    if settings.BROKER_IS_LOCAL:
        beat(settings.WORKER_HEARTBEAT)
    # Celery warns root about pickled messages; this application accepts JSON only.
    warnings.filterwarnings("ignore", category=platforms.SecurityWarning)  # type: ignore[attr-defined]
    # Workers that never talk to each other start a second sooner, and the folder broker has no broadcast to lose.
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    argv = ["--quiet", "worker", "--loglevel", "WARNING", "--hostname", f"ctxweb-{os.getpid()}@%h", *quiet]
    if processes is not None:
        argv += ["--concurrency", str(processes)]
    app.worker_main(argv)
