"""Named sections in one byte string: each compressed by itself and opened when it is asked for; damage is noticed.

Until then compressed ones may wait in an unnamed temporary file, which goes with the process or the last of them.

The magic, CRC-32 of everything behind that, the length of the head, the head (JSON: key, names and lengths of the
sections), the sections (zlib).
"""

from __future__ import annotations

import io
import json
import struct
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from threading import Lock
from typing import IO

from sessions.engine.base.errors import EngineError

MAGIC = b"ctx\x02"
_CRC = struct.Struct("<4sI")
_LENGTH = struct.Struct("<I")
_START = _CRC.size + _LENGTH.size


class Kept:
    """Some bytes that were put away; as long as they are."""

    __slots__ = ("_at", "_data", "_n_bytes", "_spool")

    def __init__(self, spool: TempSpool, at: int, n_bytes: int, data: bytes | None = None) -> None:
        self._spool, self._at, self._n_bytes, self._data = spool, at, n_bytes, data

    def __len__(self) -> int:
        return self._n_bytes

    def read(self) -> bytes:
        return self._spool.read(self._at, self._n_bytes) if self._data is None else self._data


class TempSpool:
    """One temporary file; what it cannot take stays in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_bytes = 0
        self._file: IO[bytes] | None = None
        with suppress(OSError):
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed with the last of its bytes

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def put(self, data: bytes) -> Kept:
        at = self._n_bytes
        with suppress(OSError), self._lock:
            if self._file is not None:
                self._file.seek(at)
                self._file.write(data)
                self._file.flush()
                self._n_bytes += len(data)
                return Kept(self, at, len(data))
        return Kept(self, at, len(data), data)

    def read(self, at: int, n_bytes: int) -> bytes:
        if self._file is None:
            return b""
        with self._lock:
            self._file.seek(at)
            return self._file.read(n_bytes)


class Damaged(EngineError):
    """Bytes that were not sealed by this rule, or are no longer what was sealed."""


def packed(data: bytes) -> bytes:
    return zlib.compress(data, 3)


class Sections:
    """What was sealed under ``key``: sections by name."""

    def __init__(self, key: str, packed: Mapping[str, memoryview]) -> None:
        self.key = key
        self._packed = packed

    def __contains__(self, name: str) -> bool:
        return name in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __getitem__(self, name: str) -> bytes:
        """The section's bytes, decompressed anew at each call; raises KeyError."""
        return zlib.decompress(self._packed[name])


def seal(key: str, sections: Mapping[str, bytes | Kept]) -> bytes:
    """The sections in one byte string; equal ones make equal bytes.  What is kept is ``packed`` already."""
    small = {name: packed(data) if isinstance(data, bytes) else data for name, data in sections.items()}
    head = json.dumps([key, [[name, len(data)] for name, data in small.items()]]).encode("ascii")
    # Written once: a long session has tens of megabytes, which are not held twice.
    out, found = io.BytesIO(), 0
    out.write(_CRC.pack(MAGIC, found))
    for part in (_LENGTH.pack(len(head)), head, *small.values()):
        data = part if isinstance(part, bytes) else part.read()
        found = zlib.crc32(data, found)
        out.write(data)
    out.seek(0)
    out.write(_CRC.pack(MAGIC, found))
    return out.getvalue()


def unseal(data: bytes) -> Sections:
    """The sections, none of them decompressed yet; raises Damaged."""
    view = memoryview(data)
    if len(data) < _START or data[: len(MAGIC)] != MAGIC:
        raise Damaged("these are no sealed bytes")
    if zlib.crc32(view[_CRC.size :]) != _CRC.unpack_from(data)[1]:
        raise Damaged("the sealed bytes are damaged")
    start = _START + _LENGTH.unpack_from(data, _CRC.size)[0]
    key, places = json.JSONDecoder().decode(bytes(view[_START:start]).decode("ascii"))
    packed: dict[str, memoryview] = {}
    for name, length in places:
        packed[name] = view[start : start + length]
        start += length
    return Sections(key, packed)
