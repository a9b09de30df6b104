"""Content-addressed blobs: uploads and images by the sha256 of their bytes, each stored once, through Django's storage.

On a local disk a blob is written to a temporary file beside its place, flushed and renamed, so a name that exists
always has all its bytes.  On another storage (S3) the bytes are spooled first, because the name is their hash.

At rest they are packed where that saves room (``frames``); everything here gives and takes them as they came, unless it
says *at rest*.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

from django.core.files import File
from django.core.files.storage import FileSystemStorage, default_storage

from sessions.adapters import frames, leftovers

CHUNK_BYTES = 1 << 20
SPOOL_BYTES = 8 << 20
HEXADECIMAL = frozenset("0123456789abcdef")


class Blob(NamedTuple):
    """What ``put`` stored: its hash and its bytes as they came."""

    sha256: str
    n_bytes: int


def blob_name(sha256: str) -> str:
    """The storage name: two folder levels keep any folder below a few thousand entries."""
    if len(sha256) != 64 or not set(sha256) <= HEXADECIMAL:
        raise ValueError(f"not a sha256: {sha256!r}")
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def hashed(file: IO[bytes], writer: frames.FrameWriter | None = None) -> Blob:
    """What is left to read in ``file``, written to ``writer`` on the way."""
    digest, n_bytes = hashlib.sha256(), 0
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
        n_bytes += len(chunk)
        if writer:
            writer.write(chunk)
    return Blob(digest.hexdigest(), n_bytes)


def put(file: IO[bytes], *, look: bool = False) -> Blob:
    """Store what is left to read in ``file``, once; ``look``: see first, reading twice, whether it is there already."""
    if look and file.seekable():
        start = file.tell()
        blob = hashed(file)
        if exists(blob.sha256):
            return blob
        file.seek(start)
    with _spool() as spool:
        writer = frames.FrameWriter(spool)
        blob = hashed(file, writer)
        writer.end()
        if not exists(blob.sha256):
            _keep(blob.sha256, spool, durable=True)
        return blob


def put_bytes(data: bytes, sha256: str) -> None:
    """Store an image or document, ``data``, whose hash the caller has just computed; nothing is tried to pack it.

    Not flushed: what can be read again from its upload may be lost, and a blob of the wrong size is written anew.
    """
    if exists(sha256) and (_local_root() is None or length(sha256) == len(data)):
        return
    with _spool() as spool:
        if data.startswith(frames.MARK):
            writer = frames.FrameWriter(spool)
            writer.write(data)
            writer.end()
        else:
            spool.write(data)
        _keep(sha256, spool, durable=False)


def open_blob(sha256: str) -> BinaryIO:
    """The blob, open for reading and seekable; raises FileNotFoundError, Damaged (when it is read, too)."""
    return frames.original(open_at_rest(sha256))


def open_at_rest(sha256: str) -> BinaryIO:
    """What is stored for the blob, packed or not; ``frames.original`` unpacks it.  Raises FileNotFoundError."""
    root = _local_root()
    if root is not None:
        return (root / blob_name(sha256)).open("rb")
    return frames.opened(cast("IO[bytes]", default_storage.open(blob_name(sha256), "rb")))


def verify(sha256: str) -> None:
    """Check that the stored bytes are those that were stored; raises FaultError, and FileNotFoundError."""
    with open_blob(sha256) as file:
        checked(file, sha256)


def checked(file: BinaryIO, sha256: str) -> BinaryIO:
    """``file`` at its start, after all of it was read and found to be what was stored; raises Damaged."""
    found = hashed(file).sha256
    if found != sha256:
        raise frames.Damaged(f"{blob_name(sha256)} has the hash {found[:12]}…")
    file.seek(0)
    return file


def remove(sha256: str) -> None:
    """Delete the blob, if it is there; the caller has made sure that nothing refers to it."""
    default_storage.delete(blob_name(sha256))


def exists(sha256: str) -> bool:
    return default_storage.exists(blob_name(sha256))


def size(sha256: str) -> int | None:
    """Bytes of the blob at rest, None where it is not stored."""
    try:
        return int(default_storage.size(blob_name(sha256)))
    except FileNotFoundError:
        return None


def length(sha256: str) -> int | None:
    """Bytes of the blob, None where it is not stored, or cut off."""
    try:
        with open_blob(sha256) as file:
            return file.seek(0, os.SEEK_END)
    except (FileNotFoundError, frames.Damaged):
        return None


class Stored(NamedTuple):
    """One stored blob: its name, its bytes at rest, and when it was written."""

    sha256: str
    n_bytes: int
    written_at: dt.datetime


def stored() -> Iterator[Stored]:
    """Every blob of the storage; what vanishes meanwhile is left out."""
    for folder in _folders(""):
        for place in _folders(folder):
            for sha256 in default_storage.listdir(place)[1]:
                name = f"{place}/{sha256}"
                with suppress(FileNotFoundError, ValueError):
                    if name == blob_name(sha256):
                        n_bytes = int(default_storage.size(name))
                        yield Stored(sha256, n_bytes, default_storage.get_modified_time(name))


def is_whole(blob: Stored, n_bytes: int, *, fetched: bool) -> bool:
    """Whether ``blob`` holds ``n_bytes``; a packed one that is not on a local disk is believed unless ``fetched``."""
    believed = blob.n_bytes < n_bytes and not fetched and _local_root() is None
    return blob.n_bytes == n_bytes or believed or length(blob.sha256) == n_bytes or not exists(blob.sha256)


def set_aside(sha256: str) -> str:
    """Move a damaged blob out of its place, into the folder ``damaged``; returns its new name."""
    name = f"damaged/{sha256}"
    with default_storage.open(blob_name(sha256), "rb") as file:
        kept = str(default_storage.save(name, file))
    remove(sha256)
    return kept


def _folders(below: str) -> list[str]:
    """Folders whose name is two hexadecimal digits."""
    with suppress(FileNotFoundError):
        names = default_storage.listdir(below)[0]
        return [f"{below}/{n}".lstrip("/") for n in sorted(names) if len(n) == 2 and set(n) <= HEXADECIMAL]
    return []


def _local_root() -> Path | None:
    return Path(default_storage.path("")) if isinstance(default_storage, FileSystemStorage) else None


@contextmanager
def _spool() -> Iterator[IO[bytes]]:
    """A file to collect bytes in until their hash is known; on local storage it lies on the same disk as the blobs."""
    root = _local_root()
    if root is None:
        with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as spool:
            yield cast("IO[bytes]", spool)
        return
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=root, prefix=leftovers.PART_PREFIX, delete=False) as part:
        leftovers.hold(part)
        try:
            yield cast("IO[bytes]", part)
        finally:
            Path(part.name).unlink(missing_ok=True)


def _keep(sha256: str, spool: IO[bytes], *, durable: bool) -> None:
    root = _local_root()
    if root is None:
        spool.seek(0)
        default_storage.save(blob_name(sha256), File(spool))
        return
    spool.flush()
    if durable:
        os.fsync(spool.fileno())
    place = root / blob_name(sha256)
    place.parent.mkdir(parents=True, exist_ok=True)
    Path(spool.name).replace(place)
