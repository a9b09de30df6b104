"""Reading a file that another program is writing: how much of it is whole, and whether it only grew."""

from __future__ import annotations

import hashlib
import os
from typing import IO

from sessions.engine.base.limits import MAX_LINE_BYTES
from sessions.engine.reading.jsonio import JsonProblem, loads

CHUNK_BYTES = 1 << 20
FIRST_LINE_BYTES = 1 << 20
"""A first line longer than this is taken for JSON without a look: its file is JSON lines."""


class Beginning:
    """The sha256 of a file's first ``n_bytes``, taken while the whole passes by."""

    def __init__(self, n_bytes: int) -> None:
        self.left = n_bytes
        self.hash = hashlib.sha256()

    def add(self, data: bytes) -> None:
        """The next bytes of the file."""
        if self.left:
            self.hash.update(data[: self.left])
            self.left -= min(self.left, len(data))

    def digest(self) -> str:
        """The hash in hexadecimal; empty where the file is shorter."""
        return "" if self.left else self.hash.hexdigest()


class Snapshot:
    """The first ``length`` bytes of a file, read once; bytes written meanwhile are not seen."""

    def __init__(self, file: IO[bytes], length: int, beginning: Beginning) -> None:
        self.file, self.left, self.beginning = file, length, beginning

    def read(self, size: int = -1, /) -> bytes:
        """Up to ``size`` of the bytes left."""
        data = self.file.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(data)
        self.beginning.add(data)
        return data


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
        start = max(0, stop - CHUNK_BYTES)
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
