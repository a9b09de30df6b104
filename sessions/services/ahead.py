"""A large file of the command line is read where it lies while its bytes are stored: neither waits for the other."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

from sessions.adapters import storage
from sessions.engine.packing.memory import share_heap
from sessions.engine.transcript.types import Parsed
from sessions.models import Media
from sessions.services import blobs, counting
from sessions.services.archives import is_archive


class Ahead(NamedTuple):
    """What was made of a file under the name that its reader was told: ``media`` are those it shows, by hash."""

    name: str
    parsed: Parsed
    media: dict[str, Media]


_kept: dict[str, Ahead] = {}
"""The last one, by the hash of its bytes, until their upload is read."""


def take(sha256: str, name: str) -> Ahead | None:
    """What was read ahead of these bytes under this name, once; None where nothing was."""
    found = _kept.get(sha256)
    return _kept.pop(sha256) if found and found.name == name else None


def store_and_read(path: Path, name: str, read: Callable[[BinaryIO], tuple[Parsed, dict[str, Media]]]) -> storage.Blob:
    """Store the file, and keep what ``read`` makes of it meanwhile (``take``).  Raises OSError.

    Nothing is read of bytes that are there already and of an archive, nothing is kept of a file that cannot be read
    or changes meanwhile: who reads its upload finds out why.  What is interrupted stores nothing.
    """
    share_heap()
    with path.open("rb") as file, path.open("rb") as beside, ThreadPoolExecutor(1) as thread:
        state = _state(file)
        blob = storage.hashed(file)
        if storage.exists(blob.sha256):
            return blob
        if is_archive(file):
            return storage.put(beside)
        counting.start_ahead(blob.n_bytes)
        lying = _Stoppable(beside)
        storing = thread.submit(storage.put, cast("IO[bytes]", lying))
        found: Ahead | None = None
        try:
            found = _ahead(file, name, read)
            stored = storing.result()
        except BaseException:
            lying.stopped = True
            counting.stop_ahead()
            _forget(found, () if storing.exception() else (blob.sha256,))
            raise
        if stored == blob and _state(file) == state and found:
            _kept.clear()
            _kept[blob.sha256] = found
        else:
            _forget(found)
        return stored


def _ahead(file: BinaryIO, name: str, read: Callable[[BinaryIO], tuple[Parsed, dict[str, Media]]]) -> Ahead | None:
    """What ``read`` makes of the file, None where it cannot: the reader of its upload says why."""
    try:
        return Ahead(name, *read(file))
    except OSError:
        raise
    except Exception:
        return None


def _forget(found: Ahead | None, more: Iterable[str] = ()) -> None:
    media = found.media.values() if found else ()
    blobs.remove_unnamed({*(row.sha256 for row in media if row.apart), *more})


class _Stoppable(io.RawIOBase):
    """The file, until somebody says that it is stopped: the thread that stores it cannot be."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.stopped = file, False

    def read(self, n_bytes: int = -1, /) -> bytes:
        if self.stopped:
            raise InterruptedError
        return self._file.read(n_bytes)


def _state(file: BinaryIO) -> tuple[int, int]:
    """What changes with the file's bytes."""
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns
