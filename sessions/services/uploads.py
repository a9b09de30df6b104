"""Receiving files: the bytes are safe before anything parses them."""

from __future__ import annotations

import uuid
from pathlib import PurePosixPath
from typing import IO, NamedTuple

from django.db import transaction
from django.utils import timezone

from sessions.adapters import storage
from sessions.models import UNFINISHED, Job, State, Upload, viewer
from sessions.services import blobs


class Received(NamedTuple):
    """The upload that holds a file's bytes; ``duplicate`` if these bytes were here before (whatever their name)."""

    upload: Upload
    duplicate: bool


def receive(
    *,
    file: IO[bytes],
    filename: str,
    folders: bool = False,
    owner_id: int | None = None,
    private: bool = False,
    look: bool = False,
    blob: storage.Blob | None = None,
) -> Received:
    """Store a file and queue it for reading, once for one owner; nothing is parsed here.

    ``folders``: those in the name are kept.  ``look``: whether the bytes are there is found out before any are packed.
    ``blob``: the file is stored as this.  What failed before, or had a session deleted, is queued anew.
    ``private``: its sessions are the owner's alone, also those that were the team's.
    """
    blob = blob or storage.put(file, look=look)
    name = clean_path(filename) if folders else clean_filename(filename)
    now = timezone.now()
    with transaction.atomic():
        blobs.naming()
        mine = Upload.objects.filter(sha256=blob.sha256, owner=owner_id)  # nobody else's, the team's or not
        upload, created = mine.order_by("-followed", "-created_at").first(), False
        if upload is None:
            fresh = {"filename": name, "n_bytes": blob.n_bytes, "private": private and owner_id is not None}
            upload, created = Upload.objects.get_or_create(
                sha256=blob.sha256, followed=False, owner_id=owner_id, defaults=fresh
            )
        if created:
            Job.objects.create(upload=upload, total_bytes=blob.n_bytes, heartbeat_at=now)
        elif private and owner_id is not None and not upload.private:
            upload.sessions.update(private=True)  # what the team saw so far; never the other way
            upload.private = True
            Upload.objects.filter(pk=upload.pk).update(private=True)  # silent where it was deleted meanwhile
        again = not created and upload.finished and (upload.status == State.FAILED or bool(upload.n_deleted))
        if again:
            requeue(upload=upload)
        if blobs.missing([blob.sha256]):
            # Equal bytes were deleted between our look and our row, or lost.
            file.seek(0)
            storage.put(file)
    return Received(upload, duplicate=not created and not again)


def clean_filename(filename: str) -> str:
    """The last part of a path, without control characters, at most 255 characters; never empty."""
    return clean_path(PurePosixPath(filename.replace("\\", "/")).name)


def clean_path(filename: str) -> str:
    """The same with the folders that it has, as text: it is never a path on our disk."""
    kept = "".join(c for c in filename.encode("utf-8", "replace").decode("utf-8") if c.isprintable()).strip()
    return kept[-255:] or "unnamed"


def requeue(*, upload: Upload) -> None:
    """Queue the upload as if it had just come, under its first name; what is stored of it stays until it is read."""
    fresh = {"state": State.QUEUED, "attempts": 0, "done_bytes": 0, "total_bytes": upload.n_bytes}
    fresh |= dict.fromkeys(("worker", "ending", "phase", "error"), "") | {"heartbeat_at": timezone.now()}
    upload.parts.all().delete()
    Job.objects.update_or_create(upload=upload, defaults=fresh)
    upload.status, upload.error, upload.dismissed = State.QUEUED, "", False
    upload.save(update_fields=["status", "error", "dismissed"])


def dismiss(*, upload_id: uuid.UUID | None = None) -> int:
    """Take a finished upload of the viewer's off their list, or all of them; how many.  Nothing is deleted."""
    mine = Upload.objects.sent_by(viewer()).exclude(status__in=UNFINISHED).filter(dismissed=False)
    return (mine if upload_id is None else mine.filter(pk=upload_id)).update(dismissed=True)
