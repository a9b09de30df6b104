"""The reading of uploads as work of the queue: how it is claimed, and what becomes of it when its worker is lost."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.db.models import QuerySet

from sessions.models import Job, State, Upload
from sessions.services import queue

SMALL_BYTES = 1_000_000
"""Uploads up to this size are read beside a large one; see decision "Small uploads have a reader of their own"."""


def small() -> QuerySet[Job]:
    return Job.objects.filter(total_bytes__lte=SMALL_BYTES)


def is_small_waiting() -> bool:
    return small().filter(state=State.QUEUED).exists()


def claim(*, upload_id: uuid.UUID | None = None, among: QuerySet[Job] | None = None) -> queue.Claim[Job] | None:
    """Take an upload for reading, the one named or whichever of ``among`` (all) waits; None where nothing waits."""
    rows = Job.objects.all() if among is None else among
    if upload_id is not None:
        rows = rows.filter(upload_id=upload_id)
    with transaction.atomic():
        held = queue.take(rows, done_bytes=0)
        if held is not None:
            Upload.objects.filter(job=held.pk).update(status=State.READING)
        return held


def give_back(held: queue.Claim[Job]) -> None:
    """Queue the upload again, uncounted, so that whoever comes next reads it."""
    with transaction.atomic():
        if queue.give_back(held):
            Upload.objects.filter(job=held.pk).update(status=State.QUEUED)


def put_back(job: Job) -> None:
    """Queue a lost ``job`` again, or fail it once it ended three processes; see ``queue.Kind``."""
    error = ""
    if job.attempts >= queue.MAX_ATTEMPTS:
        phase = f"while {job.phase}, " if job.phase else ""
        error = (
            f"Reading this file ended its process {job.attempts} times. Last: {job.ending}, "
            f"{phase}at byte {job.done_bytes:,} of {job.total_bytes:,}. "
            "The bytes are kept: upload the file again to retry."
        )
        job.upload.parts.all().delete()
    job.state, job.error = State.FAILED if error else State.QUEUED, error
    Upload.objects.filter(pk=job.upload_id).update(status=job.state, error=error)
