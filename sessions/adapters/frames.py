"""Bytes at rest as zstd frames of about 1 MB, so that any offset is read without unpacking what stands before it.

The layout is zstd's own seekable format: a skippable frame that marks the file as ours, the frames, and a last
skippable frame with the packed and unpacked bytes of each.  ``zstd -d`` unpacks such a file whole.  What does not
shrink (images, archives) and what fits into one block of a disk is written as it is; only bytes that would be taken
for ours are always packed, so reading them gives them back.

A frame ends where a line ends.  Agents write a screenshot into a line twice: within one frame the second costs nothing.
A file in a bucket is read by ranges, not whole before its first byte.
"""

from __future__ import annotations

import io
import struct
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from typing import IO, Any, BinaryIO, cast

from sessions.engine.packing import zstd
from sessions.faults import GONE, FaultError


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


LEAST_FETCHED = 64 << 10
"""Fetched at once, at least, and beyond what was asked for: a buffer asks for its last part by itself."""

MOST_FETCHED = 8 << 20
"""Fetched at once while a file is read on and on: each fetch takes twice as much as the one before."""


def opened(file: IO[bytes]) -> BinaryIO:
    """``file`` as a storage opened it; one in an S3 bucket (django-storages) is read by ranges, any other as it is."""
    thing: Any = getattr(file, "obj", None)
    if thing is None:
        return cast("BinaryIO", file)

    def fetch(start: int, end: int) -> bytes:
        return bytes(thing.get(Range=f"bytes={start}-{end - 1}")["Body"].read())

    return io.BufferedReader(Ranged(fetch, int(thing.content_length), file.close), LEAST_FETCHED)


class Ranged(Pieces):
    """``n_bytes`` that ``fetch(start, end)`` gives.  ``done`` is called when it is closed."""

    def __init__(self, fetch: Callable[[int, int], bytes], n_bytes: int, done: Callable[[], object]) -> None:
        super().__init__(n_bytes)
        self._fetch, self._done = fetch, done
        self._start = 0
        self._piece = b""
        self._ahead = LEAST_FETCHED

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
        self._ahead = min(2 * self._ahead, MOST_FETCHED) if goes_on else LEAST_FETCHED
        end = min(self._n_bytes, at + max(asked + LEAST_FETCHED, self._ahead))
        self._start = at if goes_on else min(at, max(0, end - LEAST_FETCHED))
        self._piece = self._fetch(self._start, end)
        if len(self._piece) < end - self._start:
            raise OSError(f"{len(self._piece):,} of {end - self._start:,} bytes came")


FRAME_BYTES = 1 << 20
"""A frame ends with the last line that ends within so many bytes, behind the first quarter of them."""

MOST_BYTES = 4 << 20
"""A longer line takes a frame of up to so many bytes; one longer than that is cut every ``FRAME_BYTES``."""

LEAST_BYTES = 4096
"""What is smaller takes one block of a disk either way."""

AHEAD = 2
LEAST_SAVED = 20
"""The first frame has to lose one part in so many, or nothing is packed."""

MARK = struct.pack("<II8s", 0x184D2A50, 8, b"ctxweb\x00\x01")
ENTRY, FOOTER = struct.Struct("<II"), struct.Struct("<IBI")
TABLE_FRAME, SEEKABLE = 0x184D2A5E, 0x8F92EAB1


class Damaged(FaultError, OSError):
    """Stored frames that are cut off or changed."""

    def __init__(self, how: str) -> None:
        super().__init__(
            f"Stored bytes have changed: {how}.",
            "`ctxweb doctor --deep` names the file: restore a backup of it, or remove it and upload again.",
            GONE,
        )
        self.strerror = how


class FrameWriter:
    """Writes what it is given to ``target``, packed on a thread where that is worth it; ``end`` finishes it."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target
        self._beside = ThreadPoolExecutor(1)
        self._waiting: deque[tuple[int, Future[bytes]]] = deque()
        self._pending = bytearray()
        self._sizes: list[tuple[int, int]] = []
        self._packed: bool | None = None

    def write(self, data: bytes) -> None:
        if self._packed is False:
            self._target.write(data)
            return
        self._pending += data
        while len(self._pending) > FRAME_BYTES and (n_bytes := self._lines() or self._piece()):
            self._frame(n_bytes)

    def end(self) -> None:
        """Write what is left, and the table."""
        while self._pending:
            whole = len(self._pending) <= FRAME_BYTES
            self._frame(len(self._pending) if whole else self._lines() or min(len(self._pending), MOST_BYTES))
        self._write_packed(0)
        self._beside.shutdown()
        if self._packed:
            table = b"".join(ENTRY.pack(*sizes) for sizes in self._sizes)
            self._target.write(struct.pack("<II", TABLE_FRAME, len(table) + FOOTER.size) + table)
            self._target.write(FOOTER.pack(len(self._sizes), 0, SEEKABLE))

    def _lines(self) -> int:
        """Bytes of the lines that the next frame takes, 0 where none ends where one may."""
        last = self._pending.rfind(b"\n", FRAME_BYTES // 4, FRAME_BYTES) + 1
        return last or self._pending.find(b"\n", FRAME_BYTES, MOST_BYTES) + 1

    def _piece(self) -> int:
        """Bytes of a line that is too long for a frame; 0 while more of it has to be seen."""
        return FRAME_BYTES if len(self._pending) >= MOST_BYTES else 0

    def _frame(self, n_bytes: int) -> None:
        with memoryview(self._pending)[:n_bytes] as view:
            data = bytes(view)
        if self._packed is None:
            self._first(data)
            return
        self._waiting.append((len(data), self._beside.submit(zstd.frame, data)))
        self._write_packed(AHEAD)
        del self._pending[: len(data)]

    def _first(self, data: bytes) -> None:
        """Write the first frame; where it does not shrink, nothing is packed."""
        made = zstd.frame(data) if len(data) >= LEAST_BYTES or data.startswith(MARK) else data
        self._packed = len(made) < len(data) - len(data) // LEAST_SAVED or data.startswith(MARK)
        if self._packed:
            self._target.write(MARK + made)
            self._sizes.append((len(made), len(data)))
            del self._pending[: len(data)]
        else:
            self._target.write(bytes(self._pending))
            self._pending.clear()

    def _write_packed(self, n_left: int) -> None:
        """Write the frames that wait, in their order, until ``n_left`` do."""
        while len(self._waiting) > n_left:
            n_bytes, made = self._waiting.popleft()
            self._target.write(made.result())
            self._sizes.append((len(made.result()), n_bytes))


def original(file: BinaryIO) -> BinaryIO:
    """What a FrameWriter was given, open at its start; ``file``, its target, is closed along.  Raises Damaged."""
    if file.read(len(MARK)) != MARK:
        file.seek(0)
        return file
    try:
        return io.BufferedReader(_Frames(file), FRAME_BYTES)
    except Damaged:
        file.close()
        raise


class _Frames(Pieces):
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        sizes = _table(file)
        self._places = list(accumulate((packed for packed, _ in sizes), initial=len(MARK)))
        self._starts = list(accumulate((n_bytes for _, n_bytes in sizes), initial=0))
        self._kept, self._data = -1, b""
        super().__init__(self._starts[-1])

    def piece(self, at: int, asked: int) -> tuple[int, bytes]:
        del asked
        number = bisect_right(self._starts, at) - 1
        if number != self._kept:
            self._data = self._unpacked(number)
            self._kept = number
        return self._starts[number], self._data

    def close(self) -> None:
        self._data = b""
        self._file.close()
        super().close()

    def _unpacked(self, number: int) -> bytes:
        self._file.seek(self._places[number])
        n_bytes = self._starts[number + 1] - self._starts[number]
        try:
            data = zstd.frame_data(self._file.read(self._places[number + 1] - self._places[number]), n_bytes)
        except zstd.ZstdProblem as error:
            raise Damaged(f"frame {number} is damaged: {error}") from error
        if len(data) != n_bytes:
            raise Damaged(f"frame {number} has {len(data)} bytes for {n_bytes}")
        return data


def _table(file: IO[bytes]) -> list[tuple[int, int]]:
    """Packed and unpacked bytes of each frame; raises Damaged where they do not fill the file."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - FOOTER.size))
    tail = file.read(FOOTER.size)
    n_frames, flags, mark = FOOTER.unpack(tail) if len(tail) == FOOTER.size else (0, 0, 0)
    n_table = n_frames * ENTRY.size + FOOTER.size + 8
    if mark != SEEKABLE or flags or n_table > size:
        raise Damaged("a file ends before its table")
    file.seek(size - n_table)
    if struct.unpack("<II", file.read(8)) != (TABLE_FRAME, n_table - 8):
        raise Damaged("a table does not begin where it should")
    sizes = list(ENTRY.iter_unpack(file.read(n_frames * ENTRY.size)))
    if len(MARK) + sum(packed for packed, _ in sizes) + n_table != size:
        raise Damaged("the frames do not fill their file")
    return sizes
