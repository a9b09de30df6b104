"""A file that is read a piece at a time: whichever piece has the next byte, the last one is kept."""

from __future__ import annotations

import io


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
