"""A file that comes again, longer: its upload goes on with it, and its sessions keep their ids.

An upload whose bytes are exactly the first bytes of a newcomer takes over what the newcomer holds, read whole, in the
newcomer's one transaction; a newcomer that is the beginning of an upload is led to it.  Only the sender's own uploads
are looked at, and only those that are seen by the same people: nothing of anybody else's is told.  Uploads that follow
a watched file are left to it, and archives are never taken for each other.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Collection, Sequence
from typing import IO, TYPE_CHECKING

from django.db import connection
from django.db.models import Exists, Sum

from sessions.adapters import storage
from sessions.models import Continuation, Job, Session, State, Upload

if TYPE_CHECKING:
    from sessions.services.session_rows import PackedSession

HEAD_BYTES = 256
"""First bytes by which candidates are found; a file that has fewer is never continued."""

MOST = 50
"""Uploads with the same first bytes that are compared, the longest."""


def head_of(file: IO[bytes]) -> str:
    """The hash of a file's first bytes, "" where it has too few."""
    file.seek(0)
    data = file.read(HEAD_BYTES)
    return hashlib.sha256(data).hexdigest() if len(data) == HEAD_BYTES else ""


def candidates(upload: Upload) -> list[Upload]:
    """Finished uploads that may be the beginning of ``upload`` or go on after it, the longest first."""
    if not upload.head or upload.followed:
        return []
    same = Upload.objects.filter(
        head=upload.head, owner=upload.owner_id, private=upload.private, followed=False, status=State.DONE, n_deleted=0
    )
    same = same.exclude(pk=upload.pk).exclude(Exists(Session.objects.filter(upload=upload.pk)))  # it is read again
    return list(same.order_by("-n_bytes", "created_at")[:MOST])


def alone(upload: Upload, found: Collection[Upload]) -> bool:
    """Whether the candidates are still these, and stay so until this transaction ends."""
    if upload.head and connection.vendor == "postgresql":
        key = int.from_bytes(bytes.fromhex(upload.head)[:8], signed=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])
    return {(one.pk, one.sha256) for one in candidates(upload)} == {(one.pk, one.sha256) for one in found}


def among(upload: Upload, found: Sequence[Upload]) -> Upload | None:
    """The first of the candidates that begins with all of ``upload``, else the longest that it begins with."""
    with storage.open_blob(upload.sha256) as file:
        tail = _before(file, upload.n_bytes)
        for one in found:
            if one.n_bytes > upload.n_bytes and storage.exists(one.sha256):
                with storage.open_blob(one.sha256) as longer:
                    same = _before(longer, upload.n_bytes) == tail
                    if same and _beginnings(longer, [upload.n_bytes]) == {upload.sha256}:
                        return one
        return beginning_of(file, upload.n_bytes, found)


def beginning_of(file: IO[bytes], n_bytes: int, found: Sequence[Upload]) -> Upload | None:
    """The longest of the candidates that the first ``n_bytes`` of a file begin with and that is shorter than they."""
    shorter = [one for one in found if one.n_bytes < n_bytes]
    hashes = _beginnings(file, sorted({one.n_bytes for one in shorter}))
    return next((one for one in shorter if one.sha256 in hashes), None)


def _before(file: IO[bytes], place: int) -> bytes:
    """The bytes before a place: where they differ, nothing else need be read."""
    file.seek(max(0, place - HEAD_BYTES))
    return file.read(min(place, HEAD_BYTES))


def _beginnings(file: IO[bytes], lengths: Sequence[int]) -> set[str]:
    """The hashes of a file's first bytes, as many as each of ``lengths`` (ascending) says."""
    digest, hashes, at = hashlib.sha256(), set(), 0
    file.seek(0)
    for length in lengths:
        while at < length and (data := file.read(min(storage.CHUNK_BYTES, length - at))):
            digest.update(data)
            at += len(data)
        hashes.add(digest.hexdigest())
    return hashes


def grown(before: Upload, upload: Upload) -> Upload:
    """``before`` as it is to be with the bytes of ``upload``; nothing is saved."""
    one = Upload.objects.get(pk=before.pk)
    one.sha256, one.n_bytes = upload.sha256, upload.n_bytes
    return one


def goes_on(before: Upload, packed: Sequence[PackedSession]) -> bool:
    """Whether every session that ``before`` has is still among those that were read, under its id and format."""
    stored = set(before.sessions.values_list("pk", "format"))
    return stored <= {(one.session.id, one.session.format) for one in packed}


def lead(upload: Upload, before: Upload, packed: Sequence[PackedSession] | None) -> None:
    """Let ``before`` answer for ``upload``, whose row goes; ``packed``: it grows.  In a transaction, first."""
    n_new = 0
    if packed is not None:
        n_before = before.sessions.latest_branches().aggregate(n=Sum("n_messages", default=0))["n"]
        n_new = max(0, sum(one.session.n_messages for one in packed if one.session.branch_of_id is None) - n_before)
        Job.objects.filter(upload=before).update(done_bytes=upload.n_bytes, total_bytes=upload.n_bytes)
    came_as: uuid.UUID = upload.pk
    Upload.objects.filter(pk=upload.pk).delete()
    Upload.objects.filter(pk=before.pk).update(dismissed=False)
    Continuation.objects.create(id=came_as, upload=before, is_beginning=packed is None, n_new=n_new)
