"""Watched files: what a file holds now becomes the content of one upload, again and again, under the same ids.

A file that grew, or that its writer rewrote with the same beginning of the same session, updates its upload in place:
session ids, links and message positions stay, and the bytes of the version before are removed one version later.  A
file that was truncated, or replaced by another session, starts a new upload; the old one stays as it was, with its
sessions, links and bytes.  What cannot be read (yet) changes nothing that is stored.
"""

from __future__ import annotations

import hashlib
import os
import socket
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, NamedTuple, cast

from django.db import OperationalError, transaction
from django.utils import timezone

from sessions.adapters import storage
from sessions.engine.base.limits import MAX_LINE_BYTES
from sessions.engine.reading.jsonio import JsonProblem, loads
from sessions.models import Job, LiveSource, Session, State, StoppedSource, Upload
from sessions.services import blobs, continuations, sharing
from sessions.services.ingest import Read, read_upload, write_upload
from sessions.services.uploads import clean_filename


class Change(StrEnum):
    """What reading a watched file came to."""

    SAME = "same"
    NEW = "new"
    KNOWN = "known"
    GROWN = "grown"
    REWRITTEN = "rewritten"
    REPLACED = "replaced"
    WAITING = "waiting"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Followed:
    """A watched file after it was read, ``upload`` where it is stored; ``waiting`` where its end was left for later."""

    change: Change
    upload: Upload | None
    waiting: bool = False


class Look(NamedTuple):
    """A watched file as it is now; ``waiting`` where a half-written end is left for later."""

    path: Path
    stat: os.stat_result
    waiting: bool


def source_key(path: Path) -> str:
    """The name of a watched file in the database: the sha256 of this host's name and the absolute path."""
    return hashlib.sha256(f"{socket.gethostname()}:{path}".encode("utf-8", "surrogateescape")).hexdigest()


def unchanged(path: Path, stat: os.stat_result) -> bool:
    """Whether the file was read already as it is now, by its size and modification time."""
    found = LiveSource.objects.filter(key=source_key(path), n_bytes=stat.st_size, mtime_ns=stat.st_mtime_ns)
    return found.exists()


def follow_again(*, folder: Path) -> int:
    """Follow the files below ``folder`` (absolute) again whose sessions were deleted; returns how many there are."""
    below = [one for one in StoppedSource.objects.all() if Path(one.path).is_relative_to(folder)]
    mine = [one.pk for one in below if one.key == source_key(Path(one.path))]
    StoppedSource.objects.filter(pk__in=mine).delete()
    return len(mine)


def follow_file(*, path: Path, quiet: bool) -> Followed:
    """Read the file at ``path`` (absolute) as it is now, and bring its upload and sessions up to date.

    A half-written last line is left for later unless the file is ``quiet``.  Raises OSError where the file cannot be
    read, EngineError where it holds no transcript (then nothing changes), OperationalError where the database stays
    locked or equal bytes are deleted meanwhile (then call again).  A file whose sessions were deleted is left alone.
    """
    if StoppedSource.objects.filter(key=source_key(path)).exists():
        return Followed(Change.STOPPED, None)
    source = LiveSource.objects.select_related("upload").filter(key=source_key(path)).first()
    with path.open("rb") as file:
        stat = os.fstat(file.fileno())
        length = stat.st_size if quiet else settled_length(file, stat.st_size)
        waiting = length < stat.st_size
        if length == 0 and waiting:
            return Followed(Change.WAITING, source.upload if source else None, waiting=True)
        look = Look(path, stat, waiting)
        begun = _begun(look, file, length) if source is None else None
        source = source or begun
        file.seek(0)
        snapped = Snapshot(file, length, source.upload.n_bytes if source else 0)
        blob = storage.put(cast("IO[bytes]", snapped))
    if source and source.upload.sha256 == blob.sha256:
        if (source.n_bytes, source.mtime_ns) != (stat.st_size, stat.st_mtime_ns):
            _note(source, look)
        return Followed(Change.SAME, source.upload, waiting)
    try:
        return _taken(look, source, blob, beginning=snapped.beginning(), strict=begun is not None)
    finally:
        blobs.remove_unnamed([blob.sha256])


def _taken(look: Look, source: LiveSource | None, blob: storage.Blob, *, beginning: str, strict: bool) -> Followed:
    """Store the bytes just snapped as what the file holds; ``strict``: in the place of what a person uploaded."""
    if source is None and (known := _adoptable(blob.sha256)):
        _adopt(look, known)
        return Followed(Change.KNOWN, known, look.waiting)
    filename = clean_filename(look.path.name)
    upload = source.upload if source else Upload(filename=filename)
    before, upload.sha256, upload.n_bytes, upload.followed = upload.sha256, blob.sha256, blob.n_bytes, True
    read = read_upload(upload)
    change = Change.NEW
    if source:
        change = Change.GROWN if beginning == before else Change.REWRITTEN
        lost = strict and not continuations.goes_on(source.upload, read.packed)
        if lost or (change == Change.REWRITTEN and not _continues(upload, read)):
            change, before = Change.REPLACED, ""
            upload = Upload(filename=filename, followed=True, sha256=blob.sha256, n_bytes=blob.n_bytes)
            read = read_upload(upload)  # its sessions' ids follow from its own
    stored = _stored(look, source, upload, read, before)
    if stored is None:
        blobs.remove_unnamed(read.hashes)
    return Followed(change, stored, look.waiting)


def _stored(look: Look, source: LiveSource | None, upload: Upload, read: Read, before: str) -> Upload | None:
    """Write what was read, unless another watcher did so meanwhile or it was deleted; the upload as it then stands."""
    now, key = timezone.now(), source_key(look.path)
    with transaction.atomic():
        blobs.naming()
        current = LiveSource.objects.select_for_update().select_related("upload").filter(key=key).first()
        if (current and current.n_versions) != (source and source.n_versions):
            return current.upload if current else None
        if blobs.missing({upload.sha256, *read.hashes}) or sharing.lost(one.session for one in read.packed):
            raise OperationalError("what it shares with other files was deleted while this file was read")
        if upload._state.adding:
            upload.status = State.DONE
            upload.save(force_insert=True)
        freed = write_upload(upload, read)
        job = {"state": State.DONE, "done_bytes": upload.n_bytes, "total_bytes": upload.n_bytes, "heartbeat_at": now}
        Job.objects.update_or_create(upload=upload, defaults=job)
        row = current or LiveSource(key=key, path=str(look.path), n_versions=0)
        outdated, row.previous_sha256 = row.previous_sha256, before
        row.upload, row.changed_at, row.n_versions = upload, now, row.n_versions + 1
        _note(row, look)
    blobs.remove_unnamed({outdated, *freed})
    return upload


def _continues(upload: Upload, read: Read) -> bool:
    """Whether rewritten bytes still hold the session stored for ``upload``, from its first message on, no shorter."""
    stored = Session.objects.filter(upload=upload).order_by("position").first()
    fresh = read.packed[0].session if read.packed else None
    if stored is None or fresh is None:
        return False
    same = (stored.format, stored.native_id) == (fresh.format, fresh.native_id)
    if not same or fresh.n_messages < stored.n_messages:
        return False
    return stored.opening in ("", fresh.opening)


def _adoptable(sha256: str) -> Upload | None:
    """An upload of these bytes to go on with, made by hand or its file moved; an account's changes as it says alone."""
    same = Upload.objects.filter(sha256=sha256, status=State.DONE, owner=None)
    for upload in same.select_related("live").order_by("created_at"):
        if not upload.followed or (hasattr(upload, "live") and not Path(upload.live.path).exists()):
            return upload
    return None


def _begun(look: Look, file: IO[bytes], length: int) -> LiveSource | None:
    """Follow a file under the upload that a person made when it was shorter; what came since is yet to be read."""
    head = continuations.head_of(file)
    known = continuations.beginning_of(file, length, continuations.candidates(Upload(head=head)))
    if known is None:
        return None
    _adopt(look._replace(waiting=True), known)
    return LiveSource.objects.select_related("upload").get(key=source_key(look.path))


def _adopt(look: Look, upload: Upload) -> None:
    """Follow a file under an upload that holds its bytes already; its sessions and links go on."""
    with transaction.atomic():
        Upload.objects.filter(pk=upload.pk).update(followed=True)
        moved = LiveSource.objects.filter(upload=upload).first()
        row = moved or LiveSource(upload=upload, changed_at=upload.created_at)
        row.key, row.path = source_key(look.path), str(look.path)
        _note(row, look)


def _note(row: LiveSource, look: Look) -> None:
    """Save ``row`` with what the file was like when read; a file whose end waits counts as not read."""
    row.n_bytes, row.mtime_ns = look.stat.st_size, 0 if look.waiting else look.stat.st_mtime_ns
    row.save()


FIRST_LINE_BYTES = 1 << 20
"""A first line longer than this is taken for JSON without a look: its file is JSON lines."""


class Snapshot:
    """The first ``length`` bytes of a file, read once; bytes written meanwhile are not seen."""

    def __init__(self, file: IO[bytes], length: int, n_beginning: int) -> None:
        self.file, self.left, self.left_of_beginning = file, length, n_beginning
        self.hash = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        """Up to ``size`` of the bytes left."""
        data = self.file.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(data)
        self.hash.update(data[: self.left_of_beginning])
        self.left_of_beginning -= min(self.left_of_beginning, len(data))
        return data

    def beginning(self) -> str:
        """The sha256 of the first ``n_beginning`` bytes; empty where the file is shorter."""
        return "" if self.left_of_beginning else self.hash.hexdigest()


def settled_length(file: IO[bytes], n_bytes: int) -> int:
    """How many of the ``n_bytes`` can be read now: a last line of JSON lines that is cut off is still being written.

    Anything but JSON lines is taken whole; if it is half written, it does not parse and is read again later.
    """
    end = _last_newline(file, n_bytes) + 1
    if end == n_bytes or not _is_json_lines(file, end):
        return n_bytes
    if n_bytes - end > MAX_LINE_BYTES:
        return end
    file.seek(end)
    tail = file.read(n_bytes - end)
    return n_bytes if not tail.strip(b" \t\r\n\0") or _is_json(tail) else end


def _last_newline(file: IO[bytes], n_bytes: int) -> int:
    """Position of the last newline, -1 without one."""
    stop = n_bytes
    while stop > 0:
        start = max(0, stop - storage.CHUNK_BYTES)
        file.seek(start)
        found = file.read(stop - start).rfind(b"\n")
        if found >= 0:
            return start + found
        stop = start
    return -1


def _is_json_lines(file: IO[bytes], end: int) -> bool:
    """Whether the first line that is not blank is a JSON value; with no whole line, whether one may become one."""
    file.seek(0, os.SEEK_SET)
    while file.tell() < end:
        line = file.readline(FIRST_LINE_BYTES)
        if line.strip(b" \t\r\n\0\xef\xbb\xbf"):
            return len(line) >= FIRST_LINE_BYTES or _is_json(line)
    file.seek(end)
    return file.read(1) in {b"{", b"["}


def _is_json(line: bytes) -> bool:
    try:
        loads(line)
    except JsonProblem:
        return False
    return True
