"""The texts of a session's messages, read again from what was uploaded: messages themselves hold only sizes.

Where they stand in the file is packed, so that one is read again without the rest of its session.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import BinaryIO, Self

from sessions.engine.base.errors import TextGone
from sessions.engine.reading.jsonio import Source, dumps, loads
from sessions.engine.reading.reading import read_contents
from sessions.engine.transcript.types import Content, Message, Origin

KEPT_CHARS = 32_000_000
"""Texts are kept up to about this many characters; beyond it a message is read again when asked for."""
MOST_CHARS = 200_000
"""Characters of one string that are read; a longer one without a blank at its start is no text but data."""
_HEAD = struct.Struct("<II")


class Texts:
    """Reads messages' contents from one file, opened when first asked; keeps what it read, up to a bound."""

    def __init__(self, opener: Callable[[], BinaryIO], format_name: str) -> None:
        """``opener`` opens the file; ``format_name`` is the format it was read with."""
        self._open = opener
        self._file: BinaryIO | None = None
        self._source: Source | None = None
        self._format = format_name
        self._kept: dict[int, tuple[Content, ...]] = {}
        self._n_chars = 0

    def of(self, message: Message) -> tuple[Content, ...]:
        """The blocks of a message; raises UnreadableInput where the file cannot be opened or is not the message's."""
        found = self._kept.get(message.index)
        if found is None:
            found = read_contents(self._opened(), self._format, message)
            n_chars = sum(len(part) for part in texts_in(found))
            if self._n_chars + n_chars <= KEPT_CHARS:
                self._kept[message.index] = found
                self._n_chars += n_chars
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was read stays, and asking for more opens it again."""
        if self._file is not None:
            self._file.close()
        self._file, self._source = None, None

    def _opened(self) -> Source:
        if self._source is None:
            try:
                self._file = self._open()
                self._source = Source(self._file)
            except OSError as error:
                raise TextGone(error) from error
        return self._source

    def plain(self, message: Message) -> str:
        """All text of a message, one block per line group; "" for one that was not in the file."""
        return "\n".join(texts_in(self.of(message))) if message.origins else ""


def texts_in(contents: tuple[Content, ...]) -> Iterator[str]:
    """The texts of blocks and of their parts, in order."""
    for content in contents:
        if content.text:
            yield content.text
        yield from texts_in(content.parts)


def pack_places(places: Sequence[Sequence[Origin]]) -> bytes:
    """The origins of messages in their order: how many each has, then their figures, then the paths that there are."""
    every = [origin for origins in places for origin in origins]
    counts = array("Q", [len(origins) for origins in places])
    figures = array("Q", [figure for o in every for figure in (o.line, o.offset, o.length)])
    if sys.byteorder == "big":
        counts.byteswap()
        figures.byteswap()
    paths = dumps({str(n): list(o.path) for n, o in enumerate(every) if o.path}).encode()
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
        self._paths: dict[str, list[str | int]] = loads(body[at + 24 * n_origins :])

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
