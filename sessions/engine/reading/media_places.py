"""Where the base64 of an image or document stands in a file, so that it is read from there.

Base64 has a place where it stands in one piece: its letters follow from the decoded bytes, so that a run of the right
length, with the right beginning and end, need only be decoded and hashed to be sure.  URL-safe letters and missing
padding are the same.  What has line breaks or escapes of JSON in it, or lies in a zip archive or a database, has none.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import BinaryIO, NamedTuple

from sessions.engine.reading.archive import MAGIC as ZIP
from sessions.engine.reading.database import is_database
from sessions.engine.reading.images import Place
from sessions.engine.reading.json_values import BOM
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.measure import decoded_media
from sessions.engine.reading.reading import read_contents
from sessions.engine.transcript.types import Content, Message, Origin, Parsed

EDGE_BYTES = 48
"""Decoded bytes at either end by which a text is told from others of its length: 64 letters."""

_RUN = re.compile(rb"([A-Za-z0-9+/_-]{64,})={0,2}")
"""What is shorter is looked up nowhere: the smallest picture there is has 68 bytes."""
_STANDARD = bytes.maketrans(b"-_", b"+/")


class Base64Fingerprint(NamedTuple):
    """What base64 of some bytes looks like, without padding: how many letters, the first ones, the last ones."""

    n_letters: int
    head: bytes
    tail: bytes


def fingerprint_of(data: bytes) -> Base64Fingerprint:
    """The trace of decoded ``data``."""
    tail = max(0, (len(data) - 1) // 3 * 3 + 3 - EDGE_BYTES)
    return Base64Fingerprint((len(data) * 4 + 2) // 3, _letters(data[:EDGE_BYTES]), _letters(data[tail:]))


def has_places(file: BinaryIO) -> bool:
    """Whether the file is text, in which base64 stands as it is: no zip archive and no database."""
    file.seek(0)
    head = file.read(16)
    return not head.removeprefix(BOM).startswith(ZIP) and not is_database(head)


def find(file: BinaryIO, parsed: Parsed, traces: Mapping[str, Base64Fingerprint]) -> dict[str, Place]:
    """Where in ``file`` the media of ``traces`` (by sha256) stand that messages show; those not found are left out."""
    found: dict[str, Place] = {}
    runs = _Runs(file)
    for _, message, hashes in _showing(parsed, traces):
        for sha256 in hashes - found.keys():
            places = (place for origin in message.origins for place in runs.of(origin, sha256, traces[sha256]))
            if place := next(places, None):
                found[sha256] = place
    return found


def read(file: BinaryIO, place: Place, sha256: str) -> bytes | None:
    """The decoded bytes that stand at ``place``; None where their hash is another."""
    file.seek(place.offset)
    return _decoded(file.read(place.n_chars), sha256)


def read_again(file: BinaryIO, parsed: Parsed, hashes: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The sha256 and bytes of those of the media that messages show, each once: their lines are parsed again."""
    left, source = set(hashes), Source(file)
    for name, message, wanted in _showing(parsed, hashes):
        if wanted & left:
            for content in _with_nested(read_contents(source, name, message)):
                data = decoded_media(content.data)[0] if content.data else b""
                sha256 = hashlib.sha256(data).hexdigest()
                if sha256 in left:
                    left.discard(sha256)
                    yield sha256, data


class _Runs:
    """Runs of base64 letters by their length, of the piece of the file that was asked for last."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._span = (0, 0)
        self._data = b""
        self._found: dict[int, list[tuple[int, int]]] = {}

    def of(self, origin: Origin, sha256: str, wanted: Base64Fingerprint) -> Iterator[Place]:
        """Where at ``origin`` a run stands that is base64 of the bytes with this hash and trace."""
        if self._span != (origin.offset, origin.length):
            self._look(origin)
        for start, end in self._found.get(wanted.n_letters, ()):
            last = start + wanted.n_letters
            head, tail = self._data[start : start + len(wanted.head)], self._data[last - len(wanted.tail) : last]
            like = (head.translate(_STANDARD), tail.translate(_STANDARD)) == (wanted.head, wanted.tail)
            if like and _decoded(self._data[start:end], sha256) is not None:
                yield Place(origin.offset + start, end - start)

    def _look(self, origin: Origin) -> None:
        self._span = (origin.offset, origin.length)
        self._file.seek(origin.offset)
        self._data = self._file.read(origin.length)
        self._found = {}
        for run in _RUN.finditer(self._data):
            self._found.setdefault(run.end(1) - run.start(), []).append(run.span())


def _showing(parsed: Parsed, hashes: Collection[str]) -> Iterator[tuple[str, Message, set[str]]]:
    """The messages that show any of the media, with their format, and which."""
    for transcript in (*parsed.transcripts, *parsed.alternatives):
        for message in transcript.messages:
            shown = {leaf.media.sha256 for leaf in message.leaves() if leaf.media and leaf.media.sha256 in hashes}
            if shown:
                yield transcript.format, message, shown


def _with_nested(contents: Iterable[Content]) -> Iterator[Content]:
    for content in contents:
        yield content
        yield from _with_nested(content.parts)


def _decoded(letters: bytes, sha256: str) -> bytes | None:
    """The bytes that base64 in one piece stands for, None where their hash is another."""
    data, _ = decoded_media(letters)
    return data if hashlib.sha256(data).hexdigest() == sha256 else None


def _letters(data: bytes) -> bytes:
    return binascii.b2a_base64(data, newline=False).rstrip(b"=")
