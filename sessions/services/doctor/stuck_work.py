"""Work that nobody will finish: finding it, and giving all of it back after a restore."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from functools import partial

from django.utils import timezone

from sessions.models import Upload
from sessions.models.work import Work
from sessions.services import queue
from sessions.services.doctor.finding import Finding
from sessions.services.processes import is_gone
from sessions.services.uploads import requeue
from sessions.services.work import KINDS

LOST_AFTER = dt.timedelta(hours=1)
"""Silence, by the clock, after which a worker on another host counts as lost for somebody who looks only once."""


def find_stuck_work() -> Iterator[Finding]:
    """Uploads without a job, and work whose worker is gone."""
    for upload in Upload.objects.unfinished().filter(job__isnull=True):
        yield Finding(
            "job_missing",
            f"{upload.filename} ({upload.pk}) waits without a job.",
            "queues it",
            partial(requeue, upload=upload),
        )
    for kind in KINDS:
        name = kind.model._meta.verbose_name
        for row in kind.model._default_manager.filter(state=kind.model.active):
            if _is_lost(row):
                text = f"Nobody works on {name} {row.pk}, which is {row.state}."
                yield Finding("work_stuck", text, "gives it back", partial(queue.release, kind, row.pk, row.worker))


def release_all() -> None:
    """Give back whatever was under way: in a restored database nobody who worked on it is there any more."""
    for kind in KINDS:
        for row in kind.model._default_manager.filter(state=kind.model.active):
            queue.release(kind, row.pk, row.worker)


def _is_lost(row: Work) -> bool:
    return is_gone(row.worker) or timezone.now() - row.heartbeat_at > LOST_AFTER
