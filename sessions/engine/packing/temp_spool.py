"""Bytes that wait in an unnamed temporary file, which goes with the process or with the last of them."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from threading import Lock
from typing import IO


class Kept:
    """Some bytes that were put away; as long as they are."""

    __slots__ = ("_at", "_data", "_n_bytes", "_spool")

    def __init__(self, spool: TempSpool, at: int, n_bytes: int, data: bytes | None = None) -> None:
        self._spool, self._at, self._n_bytes, self._data = spool, at, n_bytes, data

    def __len__(self) -> int:
        return self._n_bytes

    def read(self) -> bytes:
        """The bytes."""
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
        """Put bytes away at the end."""
        at = self._n_bytes
        try:
            self._write(data)
        except OSError:
            return Kept(self, at, len(data), data)
        self._n_bytes += len(data)
        return Kept(self, at, len(data))

    def _write(self, data: bytes) -> None:
        if self._file is None:
            raise OSError("there is no temporary file")
        with self._lock:
            self._file.seek(self._n_bytes)
            self._file.write(data)
            self._file.flush()

    def read(self, at: int, n_bytes: int) -> bytes:
        """What stands there."""
        if self._file is None:
            return b""
        with self._lock:
            self._file.seek(at)
            return self._file.read(n_bytes)
