"""Where messages stand in a file, packed, so that one is read again without the rest of its session."""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from collections.abc import Sequence
from itertools import accumulate

from sessions.engine.reading import jsonio
from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.types import Origin

MOST_CHARS = 200_000
"""Characters of one string that are read; a longer one without a blank at its start is no text but data."""
_HEAD = struct.Struct("<II")


def pack_places(places: Sequence[Sequence[Origin]]) -> bytes:
    """The origins of messages in their order: how many each has, then their figures, then the paths that there are."""
    every = [origin for origins in places for origin in origins]
    counts = array("Q", [len(origins) for origins in places])
    figures = array("Q", [figure for o in every for figure in (o.line, o.offset, o.length)])
    if sys.byteorder == "big":
        counts.byteswap()
        figures.byteswap()
    paths = jsonio.dumps({str(n): list(o.path) for n, o in enumerate(every) if o.path}).encode()
    body = _HEAD.pack(len(places), len(every)) + counts.tobytes() + figures.tobytes() + paths
    return zlib.compress(body, 6)


class Places:
    """Packed places, opened: ``of(n)`` are the origins of the message ``n`` of them, ``n_bytes(n)`` their length."""

    def __init__(self, packed: bytes) -> None:
        body = zlib.decompress(packed)
        n_messages, n_origins = _HEAD.unpack_from(body)
        counts, self._figures = array("Q"), array("Q")
        at = _HEAD.size + 8 * n_messages
        counts.frombytes(body[_HEAD.size : at])
        self._figures.frombytes(body[at : at + 24 * n_origins])
        if sys.byteorder == "big":
            counts.byteswap()
            self._figures.byteswap()
        self._starts = [0, *accumulate(counts)]
        self._paths: dict[str, list[str | int]] = jsonio.loads(body[at + 24 * n_origins :])

    def of(self, n: int) -> list[Origin]:
        """The origins of one message."""
        found = []
        for at in range(self._starts[n], self._starts[n + 1]):
            line, offset, length = self._figures[3 * at : 3 * at + 3]
            found.append(Origin(line, offset, length, tuple(self._paths.get(str(at), ()))))
        return found

    def n_bytes(self, n: int) -> int:
        """Bytes of the records that one message was read from."""
        return sum(self._figures[3 * at + 2] for at in range(self._starts[n], self._starts[n + 1]))


def strings_at(source: Source, origins: Sequence[Origin]) -> list[str]:
    """Every string at the origins, however the format nests them; raises JsonProblem, OSError."""
    waiting = [source.read(origin) for origin in reversed(origins)]
    found: list[str] = []
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and (len(one) <= MOST_CHARS or " " in one[:1_000]):
            found.append(one)
        elif isinstance(one, dict):
            waiting += reversed(one.values())
        elif isinstance(one, list | tuple):
            waiting += reversed(one)
    return found
