"""A file that is read a piece at a time; one in a bucket by ranges, not whole before its first byte."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO, Any, BinaryIO, cast


class Pieces(io.RawIOBase):
    """``n_bytes`` to read; what makes it says in ``piece`` which bytes stand around a place."""

    def __init__(self, n_bytes: int) -> None:
        self._n_bytes = n_bytes
        self._at = 0

    def piece(self, at: int, asked: int) -> tuple[int, bytes]:
        """A piece that holds the byte at ``at``, and where it starts; ``asked`` bytes are wanted from there."""
        raise NotImplementedError

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        before = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._n_bytes}[whence]
        if before + offset < 0:
            raise ValueError(f"a negative place: {before + offset}")
        self._at = before + offset
        return self._at

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        if self._at >= self._n_bytes:
            return 0
        begin, data = self.piece(self._at, len(buffer))
        start = self._at - begin
        found = memoryview(data)[start : start + len(buffer)]
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)


LEAST_BYTES = 64 << 10
"""Fetched at once, at least, and beyond what was asked for: a buffer asks for its last part by itself."""

MOST_BYTES = 8 << 20
"""Fetched at once while a file is read on and on: each fetch takes twice as much as the one before."""


def opened(file: IO[bytes]) -> BinaryIO:
    """``file`` as a storage opened it; one in an S3 bucket (django-storages) is read by ranges, any other as it is."""
    thing: Any = getattr(file, "obj", None)
    if thing is None:
        return cast("BinaryIO", file)

    def fetch(start: int, end: int) -> bytes:
        return bytes(thing.get(Range=f"bytes={start}-{end - 1}")["Body"].read())

    return io.BufferedReader(Ranged(fetch, int(thing.content_length), file.close), LEAST_BYTES)


class Ranged(Pieces):
    """``n_bytes`` that ``fetch(start, end)`` gives.  ``done`` is called when it is closed."""

    def __init__(self, fetch: Callable[[int, int], bytes], n_bytes: int, done: Callable[[], object]) -> None:
        super().__init__(n_bytes)
        self._fetch, self._done = fetch, done
        self._start = 0
        self._piece = b""
        self._ahead = LEAST_BYTES

    def piece(self, at: int, asked: int) -> tuple[int, bytes]:
        if not self._start <= at < self._start + len(self._piece):
            self._take(at, asked)
        return self._start, self._piece

    def close(self) -> None:
        if not self.closed:
            self._piece = b""
            self._done()
        super().close()

    def _take(self, at: int, asked: int) -> None:
        """Fetch what is asked for, and more; at the end of the file also what stands before it."""
        goes_on = bool(self._piece) and at == self._start + len(self._piece)
        self._ahead = min(2 * self._ahead, MOST_BYTES) if goes_on else LEAST_BYTES
        end = min(self._n_bytes, at + max(asked + LEAST_BYTES, self._ahead))
        self._start = at if goes_on else min(at, max(0, end - LEAST_BYTES))
        self._piece = self._fetch(self._start, end)
        if len(self._piece) < end - self._start:
            raise OSError(f"{len(self._piece):,} of {end - self._start:,} bytes came")
