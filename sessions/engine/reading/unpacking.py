"""Uploaded archives of transcripts (zip; tar; gzip, bzip2, xz, zstd of a file or a tar), told by their first bytes.

Nothing is ever written under a name that an archive chooses: a member's bytes pass through an unnamed temporary file,
its name is only text.  What comes out is counted as it comes, because a directory can lie.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.packing import zstd
from sessions.engine.reading.archive import BROKEN, END, BeyondLimits, directory, is_folder
from sessions.engine.reading.archive import MAGIC as ZIP_MAGIC

ZIP, TAR, GZIP, BZIP2, XZ, ZSTD = "zip", "tar", "gzip", "bzip2", "xz", "zstd"
NAMES = {kind: f"a {kind} archive" for kind in (ZIP, TAR, GZIP, BZIP2, ZSTD)} | {XZ: "an xz archive"}
MAGIC: dict[str, tuple[bytes, ...]] = {
    ZIP: (ZIP_MAGIC, END), GZIP: (b"\x1f\x8b\x08",), BZIP2: (b"BZh",), XZ: (b"\xfd7zXZ\0",),
    ZSTD: (zstd.MAGIC,),
}  # fmt: skip
ENDINGS = {GZIP: (".gz", ".tgz"), BZIP2: (".bz2", ".tbz2"), XZ: (".xz", ".txz"), ZSTD: (".zst", ".zstd", ".tzst")}
CHUNK_BYTES = 1 << 20
SPOOL_BYTES = 8 << 20
NAME_CHARS = 500


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive.

    ``file`` holds its bytes until the next member is asked for; None where they cannot be had, ``problem`` says why.
    A member that is cut off has both: what came, and how it ended.  Links and devices are not files.
    """

    name: str
    n_bytes: int
    file: BinaryIO | None = None
    problem: str = ""
    is_file: bool = True


@dataclass(slots=True)
class Budget:
    """What one upload may still unpack to; archives inside it draw on the same budget."""

    n_packed: int
    n_members: int = 0
    n_bytes: int = 0

    def members(self, n_more: int) -> None:
        """Count members; raises BeyondLimits."""
        self.n_members += n_more
        if self.n_members > limits.MAX_UPLOAD_MEMBERS:
            most = f"the limit is {limits.MAX_UPLOAD_MEMBERS:,}"
            raise BeyondLimits(f"an archive of {self.n_members:,} files or more; {most}")

    def take(self, n_more: int) -> None:
        """Count unpacked bytes; raises BeyondLimits."""
        self.n_bytes += n_more
        self.declared(0)

    def declared(self, n_more: int) -> None:
        """Check bytes that are said to come; raises BeyondLimits."""
        total = self.n_bytes + n_more
        if total > limits.MAX_UPLOAD_BYTES:
            raise BeyondLimits(f"an archive that unpacks to more than {limits.MAX_UPLOAD_BYTES:,} bytes")
        if total > limits.ARCHIVE_RATIO_FLOOR and total > limits.MAX_UPLOAD_RATIO * self.n_packed:
            most = f"more than {limits.MAX_UPLOAD_RATIO} times as many"
            raise BeyondLimits(f"an archive of {self.n_packed:,} bytes that unpacks to {most}")


def packing(file: BinaryIO) -> str:
    """A key of ``NAMES`` by the first bytes of ``file``, "" for anything else."""
    file.seek(0)
    head = file.read(512)
    found = (kind for kind, magic in MAGIC.items() if head.startswith(magic))
    return next(found, TAR if head[257:262] == b"ustar" else "")


def zip_names(file: BinaryIO) -> tuple[str, ...]:
    """Names in a zip's directory; raises UnreadableInput where it is broken or too large to be read."""
    return tuple(info.filename for info in directory(file).infolist() if not is_folder(info))


def unpack(
    file: BinaryIO, name: str, *, is_whole: Callable[[BinaryIO], bool], budget: Budget | None = None, level: int = 0
) -> Iterator[Member]:
    """Every file in the archive, archives inside it opened one level deep, folders left out.

    ``is_whole`` tells an archive that is a transcript itself, so that it is handed on unopened.  Raises
    UnreadableInput where the archive cannot be opened, BeyondLimits where it holds too much.
    """
    if budget is None:
        budget = Budget(file.seek(0, os.SEEK_END))
    kind = packing(file)
    file.seek(0)
    members = {ZIP: _zip, TAR: _tar}[kind](file, budget) if kind in (ZIP, TAR) else _stream(file, name, budget, kind)
    for member in members:
        try:
            yield from _opened(member, is_whole, budget, level)
        finally:
            if member.file is not None:
                member.file.close()


def _opened(member: Member, is_whole: Callable[[BinaryIO], bool], budget: Budget, level: int) -> Iterator[Member]:
    """The member itself, or what is in it where it is an archive."""
    file = member.file
    packed = packing(file) if file is not None else ""
    is_opened = file is not None and packed and not is_whole(file)
    if file is not None:
        file.seek(0)
    if file is None or not is_opened:
        yield member
        return
    if level >= limits.MAX_UPLOAD_NESTING:
        reason = f"{NAMES[packed]} nested more than {limits.MAX_UPLOAD_NESTING} level deep: not opened"
        yield Member(member.name, member.n_bytes, problem=reason)
        return
    try:
        for inner in unpack(file, member.name, is_whole=is_whole, budget=budget, level=level + 1):
            name = f"{member.name}/{inner.name}" if inner.name else member.name
            yield Member(shown(name), inner.n_bytes, inner.file, inner.problem, inner.is_file)
    except BeyondLimits:
        raise
    except UnreadableInput as error:
        yield Member(member.name, member.n_bytes, problem=error.reason)


def shown(name: str) -> str:
    """A member's name as text: printable, its end where it is very long; never used as a path on disk."""
    printable = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    kept = printable.encode("utf-8", "replace").decode("utf-8")
    return kept if len(kept) <= NAME_CHARS else "…" + kept[1 - NAME_CHARS :]


def _zip(file: BinaryIO, budget: Budget) -> Iterator[Member]:
    archive = directory(file)
    infos = [info for info in archive.infolist() if not is_folder(info)]
    budget.members(len(infos))
    budget.declared(sum(info.file_size for info in infos))
    for info in infos:
        label, kind = shown(info.filename), info.external_attr >> 16
        if info.flag_bits & 0x1:
            reason = "encrypted: unpack it with its password and upload the file itself"
            yield Member(label, info.file_size, problem=reason)
        elif stat.S_ISLNK(kind):
            yield Member(label, info.file_size, problem="a link: not followed", is_file=False)
        else:
            try:
                with archive.open(info) as packed:
                    spool, problem = _copied(cast("BinaryIO", packed), budget)
            except BeyondLimits:
                raise
            except BROKEN as error:
                yield Member(label, info.file_size, problem=f"cannot be unpacked: {error}")
                continue
            if problem:  # a zip member whose checksum fails may be wrong anywhere
                spool.close()
                yield Member(label, info.file_size, problem=f"cannot be unpacked: {problem}")
            else:
                yield Member(label, _size(spool), spool)


def _stream(file: BinaryIO, name: str, budget: Budget, kind: str) -> Iterator[Member]:
    """The one file in a gzip, bzip2, xz or zstd stream, or the files of the tar in it."""
    try:
        with _unpacked(file, kind) as packed:
            is_tar = packed.read(512)[257:262] == b"ustar"
    except BROKEN as error:
        raise UnreadableInput(f"a broken {kind} file: {error}", next_step="Download or copy it again") from error
    with _unpacked(file, kind) as packed:
        if is_tar:
            yield from _tar(packed, budget)
            return
        budget.members(1)
        spool, problem = _copied(packed, budget)
        base = name.replace("\\", "/").rpartition("/")[2]
        ending = next((ending for ending in ENDINGS[kind] if base.lower().endswith(ending)), "")
        problem = f"the {kind} file is cut off or damaged: {problem}" if problem else ""
        yield Member(shown(base[: len(base) - len(ending)]), _size(spool), spool, problem)


def _unpacked(file: BinaryIO, kind: str) -> BinaryIO:
    file.seek(0)
    if kind == GZIP:
        return cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb"))
    return cast("BinaryIO", io.BufferedReader(_Unpacked(file, kind)))


class _Unpacked(io.RawIOBase):
    """What bzip2, xz or zstd streams hold, one after another; a header that asks for too much memory is an error."""

    def __init__(self, file: BinaryIO, kind: str) -> None:
        self._file, self._kind = file, kind
        self._decoder, self._packed = self._new(), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._decoder.eof:
                self._packed = self._decoder.unused_data.lstrip(b"\0") or self._file.read(CHUNK_BYTES).lstrip(b"\0")
                if not self._packed:
                    return 0
                self._decoder = self._new()
            elif self._decoder.needs_input and not self._packed:
                self._packed = self._file.read(CHUNK_BYTES)
                if not self._packed:
                    raise EOFError("it ends before its end marker was reached")
            data, self._packed = self._decoder.decompress(self._packed, len(buffer)), b""
            if data:
                buffer[: len(data)] = data
                return len(data)

    def _new(self) -> Any:
        if self._kind == BZIP2:
            return bz2.BZ2Decompressor()
        if self._kind == ZSTD:
            return zstd.Decoder()
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=limits.MAX_UNPACK_MEMORY)


class _Counted:
    """An unpacked tar as it is read: every byte is counted, and headers may take only so much between two members."""

    def __init__(self, file: BinaryIO, budget: Budget) -> None:
        self.file, self.budget, self.n_header = file, budget, 0

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.n_header += len(data)
        self.budget.take(len(data))
        if self.n_header > limits.MAX_ARCHIVE_LISTING:
            raise BeyondLimits("a tar archive whose headers fill megabytes")
        return data


def _tar(file: BinaryIO, budget: Budget) -> Iterator[Member]:
    stream, last = _Counted(file, budget), ""
    try:
        with tarfile.open(fileobj=cast("Any", stream), mode="r|") as archive:
            while (info := archive.next()) is not None:
                archive.members = []  # type: ignore[attr-defined]  # tarfile keeps every header; only the next one is of use
                last = shown(info.name)
                if info.isdir():
                    continue
                budget.members(1)
                packed = archive.extractfile(info) if info.isreg() else None
                if packed is None:
                    reason = "a link: not followed" if info.issym() or info.islnk() else "not a regular file"
                    yield Member(last, 0, problem=reason, is_file=False)
                    continue
                spool, problem = _copied(cast("BinaryIO", packed), None, stream)
                yield Member(last, _size(spool), spool, f"the archive ends inside it: {problem}" * bool(problem))
                stream.n_header = 0
                if problem:
                    return
    except BeyondLimits:
        raise
    except BROKEN as error:
        if not last:
            raise UnreadableInput(f"a broken tar archive: {error}", next_step="Download or copy it again") from error
        yield Member("", 0, problem=f"the archive is cut off or damaged after {last}: {error}")


def _copied(packed: BinaryIO, budget: Budget | None, stream: _Counted | None = None) -> tuple[BinaryIO, str]:
    """The unpacked bytes in a temporary file at its start, and why they end early ("" where they do not)."""
    spool = cast("BinaryIO", tempfile.SpooledTemporaryFile(SPOOL_BYTES))  # noqa: SIM115  the caller closes it
    problem = ""
    try:
        # read1 gives what it has: a larger read would lose what came before the cut.
        while chunk := cast("io.BufferedReader", packed).read1(CHUNK_BYTES):
            if budget is not None:
                budget.take(len(chunk))
            if stream is not None:
                stream.n_header = 0
            spool.write(chunk)
    except BeyondLimits:
        spool.close()
        raise
    except BROKEN as error:
        problem = str(error) or type(error).__name__
    spool.seek(0)
    return spool, problem


def _size(spool: BinaryIO) -> int:
    n_bytes = spool.seek(0, os.SEEK_END)
    spool.seek(0)
    return n_bytes
