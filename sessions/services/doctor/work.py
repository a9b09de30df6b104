"""Work that nobody will finish.  Whatever ``doctor`` and ``restore`` know of the queue is here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from sessions.models import Job, State, SweepRun, Upload
from sessions.models.sweep_run import Sweeping
from sessions.services import jobs, sweep_runs
from sessions.services.doctor.finding import Finding
from sessions.services.uploads import read_again

if TYPE_CHECKING:
    from collections.abc import Iterator


def stuck() -> Iterator[Finding]:
    """Uploads without a job, jobs whose reader is gone, sweeps whose worker is gone."""
    for upload in Upload.objects.unfinished().filter(job__isnull=True):
        yield Finding(
            "job_missing",
            f"{upload.filename} ({upload.pk}) waits without a job.",
            "queues it",
            partial(read_again, upload=upload),
        )
    lost = [job for job in Job.objects.unfinished().select_related("upload") if jobs.is_lost(job)]
    for place, job in enumerate(lost):
        text = f"Nobody reads {job.upload.filename} ({job.upload_id}), which is {job.state}."
        # One call queues all of them.
        yield Finding("job_stuck", text, "queues it again", jobs.requeue_lost if place == 0 else _done)
    runs = [run for run in SweepRun.objects.filter(state__in=sweep_runs.UNFINISHED) if sweep_runs.is_lost(run)]
    for place, run in enumerate(runs):
        text = f"Nobody works on sweep {run.pk}, which is {run.state}."
        yield Finding("sweep_stuck", text, "queues it again", sweep_runs.requeue_lost if place == 0 else _done)


def release_all() -> None:
    """Queue whatever was under way: in a restored database nobody who worked on it is there any more."""
    now = timezone.now()
    with transaction.atomic():
        Job.objects.unfinished().update(state=State.QUEUED, worker="", heartbeat_at=now)
        Upload.objects.unfinished().update(status=State.QUEUED)
        unfinished = SweepRun.objects.filter(state__in=sweep_runs.UNFINISHED)
        unfinished.update(state=Sweeping.QUEUED, worker="", heartbeat_at=now)


def _done() -> None:
    """Mended with the first of its kind."""
