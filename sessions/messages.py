"""The Celery task that a wake-up is: known to the application in ``ctxweb.celery``."""

from __future__ import annotations

import contextlib

from celery import shared_task

from sessions.services import queue
from sessions.services.work import work_one


@shared_task(ignore_result=True)
def work() -> None:
    """Answer one wake-up; harmless when lost or doubled."""
    with contextlib.suppress(queue.Interrupted):
        work_one()
