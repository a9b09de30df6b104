"""Zstandard by Python 3.14's own module, else by the ``zstandard`` package: streams of others piece by piece within
limits, and single frames of our own.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from sessions.engine.base import limits

MAGIC = b"\x28\xb5\x2f\xfd"
"""How a frame begins."""
WINDOW_LOG = limits.MAX_UNPACK_MEMORY.bit_length() - 1
PIECE_BYTES = 1024
"""Packed bytes given to the decoder at once: they hold 32 MB at the most, as four bytes can be a block of 128 KB."""

LEVEL = 3
"""Of 100 MB of text 14% stay; level 1 saves 0.06 s of their reading and leaves 16% (docs/decisions/0022)."""


class ZstdProblem(OSError):
    """A stream that is damaged, or asks for more memory than ``limits.MAX_UNPACK_MEMORY``.

    ``n_bytes``: what had come out of it by then.
    """

    n_bytes = 0


class Decoder:
    """One frame, with the interface of ``bz2.BZ2Decompressor``: never more bytes at once than were asked for."""

    def __init__(self) -> None:
        self._decoder = _decoder()
        self._packed, self._data = memoryview(b""), memoryview(b"")

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before more goes in."""
        return not self._data and not self._packed and not self._decoder.eof

    @property
    def eof(self) -> bool:
        """Whether the frame is complete and all of it was taken."""
        return bool(self._decoder.eof) and not self._data

    @property
    def unused_data(self) -> bytes:
        """What follows the frame in the bytes that were given."""
        return bytes(self._decoder.unused_data) + bytes(self._packed)

    def decompress(self, data: bytes, most: int) -> bytes:
        """At most ``most`` bytes of what ``data`` holds; raises ZstdProblem."""
        if data:
            self._packed = memoryview(bytes(self._packed) + data)
        try:
            while not self._data and self._packed and not self._decoder.eof:
                piece, self._packed = self._packed[:PIECE_BYTES], self._packed[PIECE_BYTES:]
                self._data = memoryview(self._decoder.decompress(piece))
        except Exception as error:  # each of the two modules has an error class of its own, right below Exception
            raise ZstdProblem(str(error)) from error
        found, self._data = bytes(self._data[:most]), self._data[most:]
        return found


@cache
def _modules() -> tuple[Any, Any]:
    """Python's own module and the package: one of the two, None for the other."""
    try:
        return importlib.import_module("compression.zstd"), None
    except ImportError:
        return None, importlib.import_module("zstandard")


def _decoder() -> Any:
    own, package = _modules()
    if own is None:
        return package.ZstdDecompressor(max_window_size=limits.MAX_UNPACK_MEMORY).decompressobj()
    return own.ZstdDecompressor(options={own.DecompressionParameter.window_log_max: WINDOW_LOG})


def frame(data: bytes) -> bytes:
    """``data`` as one frame that says its length and ends with a checksum."""
    own, package = _modules()
    if own is None:
        return bytes(package.ZstdCompressor(level=LEVEL, write_checksum=True).compress(data))
    options = {own.CompressionParameter.compression_level: LEVEL, own.CompressionParameter.checksum_flag: 1}
    return bytes(own.compress(data, options=options))


def frame_data(made: bytes, n_bytes: int) -> bytes:
    """What ``frame`` was given; raises ZstdProblem where that is longer than ``n_bytes``, or the frame is damaged."""
    own, package = _modules()
    try:
        if own is None:
            return bytes(package.ZstdDecompressor().decompress(made, max_output_size=n_bytes))
        decoder = own.ZstdDecompressor()
        data = bytes(decoder.decompress(made, max_length=n_bytes))
        data += b"" if decoder.eof else decoder.decompress(b"", max_length=1)  # the checksum
    except Exception as error:  # see Decoder.decompress
        raise ZstdProblem(str(error)) from error
    if not decoder.eof:
        raise ZstdProblem("a frame that is cut off or too long")
    return data


def unpacked(data: bytes, most: int) -> bytes:
    """The first ``most`` bytes of the frames in ``data``; raises ZstdProblem."""
    found = bytearray()
    try:
        for piece in _pieces(data, most):
            found += piece
    except ZstdProblem as problem:
        problem.n_bytes = len(found)
        raise
    return bytes(found)


def _pieces(data: bytes, left: int) -> Iterator[bytes]:
    while data and left > 0:
        decoder = Decoder()
        while not decoder.eof and left > 0:
            piece, data = decoder.decompress(data, left), b""
            if not piece and not decoder.eof:
                raise ZstdProblem("it ends before its end marker was reached")
            left -= len(piece)
            yield piece
        data = decoder.unused_data if decoder.eof else b""
