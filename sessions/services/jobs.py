"""Who reads which upload: claims, heartbeats, and the requeue of work whose worker is gone.

A queue may lose a task (the filesystem broker does when its worker is killed), so the ``Job`` row is the truth.  A
claim raises ``attempts``; only the newest claim may write, so a reader that was wrongly given up on does no harm.
"""

from __future__ import annotations

import datetime as dt
import os
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from sessions.models import Job, State, Upload

if TYPE_CHECKING:
    import uuid

    from django.db.models import QuerySet

MAX_ATTEMPTS = 3
"""Reading an upload is tried this often; then something in the file ends the worker each time."""

LOST_AFTER = dt.timedelta(seconds=60)
"""Silence after which unfinished work counts as lost where the worker cannot be asked whether it lives."""

BEAT_SECONDS = 0.5
"""A claim writes its progress at most this often."""


@dataclass(slots=True)
class Claim:
    """The right to read one upload; ``attempt`` tells it from earlier claims of the same upload."""

    upload_id: uuid.UUID
    attempt: int
    last_beat: float = field(default_factory=time.monotonic)

    def beat(self, done_bytes: int) -> None:
        """Say that the reader is alive and how far it is; writes at most twice a second."""
        now = time.monotonic()
        if now - self.last_beat >= BEAT_SECONDS:
            self.last_beat = now
            self.rows().update(done_bytes=done_bytes, heartbeat_at=timezone.now())

    def rows(self) -> QuerySet[Job]:
        """The job, if this claim still holds it, else nothing."""
        return Job.objects.filter(upload_id=self.upload_id, attempts=self.attempt, state=State.READING)


def claim(*, upload_id: uuid.UUID) -> Claim | None:
    """Take the upload for reading; None where it is finished or another living process reads it."""
    with transaction.atomic():
        job = Job.objects.select_for_update().get(upload_id=upload_id)
        if job.state == State.READING and is_lost(job):
            _release(job)
        if job.state != State.QUEUED:
            return None
        job.state, job.attempts, job.done_bytes, job.worker = State.READING, job.attempts + 1, 0, this_process()
        job.heartbeat_at = timezone.now()
        job.save()
        Upload.objects.filter(pk=upload_id).update(status=State.READING)
        return Claim(job.upload_id, job.attempts)


def give_back(*, held: Claim) -> None:
    """Queue the upload again after a passing fault (a locked database), so that a retry can claim it."""
    with transaction.atomic():
        if held.rows().update(state=State.QUEUED, worker="", heartbeat_at=timezone.now()):
            Upload.objects.filter(pk=held.upload_id).update(status=State.QUEUED)


def requeue_lost() -> list[uuid.UUID]:
    """Queue again what lost its worker or its task; returns the uploads whose task must be sent again.

    One query when nothing is unfinished, so a polling page may ask.  After three attempts the upload fails with a
    message instead.
    """
    lost: list[uuid.UUID] = []
    for candidate in Job.objects.unfinished():
        if not is_lost(candidate):
            continue
        with transaction.atomic():
            job = Job.objects.select_for_update().get(pk=candidate.pk)
            if is_lost(job) and _release(job):
                lost.append(job.upload_id)
    return lost


def is_lost(job: Job) -> bool:
    """Whether nobody will finish the job: its reader is dead or silent, or its task never came."""
    if job.state not in {State.QUEUED, State.READING}:
        return False
    if job.state == State.READING and is_gone(job.worker):
        return True
    return timezone.now() - job.heartbeat_at > LOST_AFTER


def this_process() -> str:
    """``host:pid``, so that others on this host can see whether the reader still lives."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _release(job: Job) -> bool:
    """Queue the locked ``job`` again, or fail it after its last attempt; True if queued."""
    if job.attempts >= MAX_ATTEMPTS:
        message = (
            f"Reading this file ended the worker {job.attempts} times, near byte {job.done_bytes:,} of "
            f"{job.total_bytes:,}; most likely it ran out of memory. The bytes are kept: upload it again to retry."
        )
        job.state, job.error = State.FAILED, message
        Upload.objects.filter(pk=job.upload_id).update(status=State.FAILED, error=message)
    else:
        job.state, job.worker, job.heartbeat_at = State.QUEUED, "", timezone.now()
        Upload.objects.filter(pk=job.upload_id).update(status=State.QUEUED)
    job.save()
    return job.state == State.QUEUED


def is_gone(worker: str) -> bool:
    """True only if the process was on this host and is gone; other hosts are judged by their heartbeat."""
    host, _, pid = worker.rpartition(":")
    if host != socket.gethostname() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
        # A killed process whose parent has not noticed yet (a zombie) still takes signals.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except ProcessLookupError:
        return True
    except OSError:
        return False
