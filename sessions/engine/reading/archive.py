"""Zip archives read within limits, member by member, straight from the upload.

Sizes that the directory declares are checked first (members, total, ratio), then the bytes that really come out: a
directory can lie.
"""

from __future__ import annotations

import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from typing import BinaryIO

from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.packing import zstd

MAGIC = b"PK\x03\x04"
ZSTD = 93
END, _END64 = b"PK\x05\x06", b"PK\x06\x07"
BROKEN = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, ValueError, RuntimeError, MemoryError),
)
"""What the standard library raises for an archive that is broken or lies."""


class BeyondLimits(UnreadableInput):
    """An archive with too many members, or that unpacks to too much: reading stops."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, next_step="Unpack it and upload what you need")


class BadMember(ValueError):
    """A member that cannot be unpacked within limits; the text says why."""


def is_folder(info: zipfile.ZipInfo) -> bool:
    """Whether a zip's entry is a folder; ``ZipInfo.is_dir`` fails on an entry without a name before Python 3.12."""
    return info.filename.endswith("/")


class Archive:
    """An open zip file, ``n_unpacked`` bytes as it declares; raises UnreadableInput for a broken or too large one."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size
        self._zip = directory(file)
        self._members = {info.filename: info for info in self._zip.infolist() if not is_folder(info)}
        self._check()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members that are files, in the archive's order, each once."""
        return tuple(self._members)

    def read(self, name: str) -> bytes:
        """A member's bytes; raises BadMember."""
        info = self._members.get(name)
        if info is None:
            raise BadMember(f"the archive has no member {name!r}")
        try:
            data = self._zstd(info) if info.compress_type == ZSTD else self._plain(info)
        except NotImplementedError as error:
            raise BadMember(f"member {name!r} is compressed in a way we cannot read ({error})") from error
        except BROKEN as error:
            if isinstance(error, BadMember):
                raise
            raise BadMember(f"member {name!r} cannot be unpacked: {error}") from error
        if len(data) > limits.MAX_DOCUMENT_BYTES:
            raise BadMember(f"member {name!r} unpacks to more than {limits.MAX_DOCUMENT_BYTES:,} bytes")
        return data

    def _plain(self, info: zipfile.ZipInfo) -> bytes:
        with self._zip.open(info) as member:
            return member.read(limits.MAX_DOCUMENT_BYTES + 1)

    def _zstd(self, info: zipfile.ZipInfo) -> bytes:
        """Unpack a zstd member: the local header is followed by hand, as ``zipfile`` refuses the method before 3.14."""
        self._file.seek(info.header_offset)
        header = self._file.read(30)
        if len(header) < 30 or header[:4] != MAGIC:
            raise BadMember(f"member {info.filename!r} has no header where the directory says")
        n_name, n_extra = struct.unpack("<HH", header[26:30])
        self._file.seek(info.header_offset + 30 + n_name + n_extra)
        packed = self._file.read(min(info.compress_size, self._size))
        return zstd.unpacked(packed, limits.MAX_DOCUMENT_BYTES + 1)

    def _check(self) -> None:
        self.n_unpacked = total = sum(info.file_size for info in self._members.values())
        if len(self._members) > limits.MAX_ARCHIVE_MEMBERS:
            most = f"the limit is {limits.MAX_ARCHIVE_MEMBERS:,}"
            raise BeyondLimits(f"an archive of {len(self._members):,} members; {most}")
        if total > limits.MAX_ARCHIVE_BYTES:
            raise BeyondLimits(f"an archive that unpacks to {total:,} bytes; the limit is {limits.MAX_ARCHIVE_BYTES:,}")
        if total > limits.ARCHIVE_RATIO_FLOOR and total > limits.MAX_ARCHIVE_RATIO * self._size:
            most = f"more than {limits.MAX_ARCHIVE_RATIO} times as many"
            raise BeyondLimits(f"an archive of {self._size:,} bytes that unpacks to {total:,}, {most}")


def directory(file: BinaryIO) -> zipfile.ZipFile:
    """A zip's directory; raises UnreadableInput where it is broken, BeyondLimits where it is too large to be read."""
    _check_listing(file)
    try:
        return zipfile.ZipFile(file)
    except BROKEN as error:
        raise UnreadableInput(f"a broken zip archive: {error}", next_step="Download or copy it again") from error


def _check_listing(file: BinaryIO) -> None:
    """Refuse a directory of a size that would fill the memory before its members are counted."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 66_000))
    tail = file.read()
    place = tail.rfind(END)
    if place < 0 or len(tail) < place + 16:
        return
    n_bytes = struct.unpack("<I", tail[place + 12 : place + 16])[0]
    if tail[max(0, place - 20) : place].startswith(_END64):
        file.seek(struct.unpack("<Q", tail[place - 12 : place - 4])[0])
        record = file.read(56)
        n_bytes = struct.unpack("<Q", record[40:48])[0] if len(record) == 56 else n_bytes
    file.seek(0)
    if n_bytes > limits.MAX_ARCHIVE_LISTING:
        most = f"the limit is {limits.MAX_ARCHIVE_LISTING:,}"
        raise BeyondLimits(f"a zip archive with a directory of {n_bytes:,} bytes; {most}")
