"""Uploaded archives of transcripts (zip, tar, tar.gz, gzip), told by their first bytes and read member by member.

Nothing is ever written under a name that an archive chooses: a member's bytes pass through an unnamed temporary file,
its name is only text.  What comes out is counted as it comes, because a directory can lie.
"""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from sessions.engine import limits
from sessions.engine.archive import BROKEN, END, MAGIC, STEP, BeyondLimits, directory
from sessions.engine.errors import UnreadableInput

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator

ZIP, TAR, GZIP = "zip", "tar", "gzip"
NAMES = {ZIP: "a zip archive", TAR: "a tar archive", GZIP: "a gzip archive"}
CHUNK_BYTES = 1 << 20
SPOOL_BYTES = 8 << 20
NAME_CHARS = 500
ENCRYPTED = 0x1


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
            reason = f"an archive of {self.n_members:,} files or more; the limit is {limits.MAX_UPLOAD_MEMBERS:,}"
            raise BeyondLimits(reason, next_step=STEP)

    def take(self, n_more: int) -> None:
        """Count unpacked bytes; raises BeyondLimits."""
        self.n_bytes += n_more
        self.declared(0)

    def declared(self, n_more: int) -> None:
        """Check bytes that are said to come; raises BeyondLimits."""
        total = self.n_bytes + n_more
        if total > limits.MAX_UPLOAD_BYTES:
            reason = f"an archive that unpacks to more than {limits.MAX_UPLOAD_BYTES:,} bytes"
            raise BeyondLimits(reason, next_step=STEP)
        if total > limits.ARCHIVE_RATIO_FLOOR and total > limits.MAX_UPLOAD_RATIO * self.n_packed:
            most = f"more than {limits.MAX_UPLOAD_RATIO} times as many"
            raise BeyondLimits(f"an archive of {self.n_packed:,} bytes that unpacks to {most}", next_step=STEP)


def packing(file: BinaryIO) -> str:
    """``"zip"``, ``"tar"`` or ``"gzip"`` by the first bytes of ``file``, "" for anything else."""
    file.seek(0)
    head = file.read(512)
    if head.startswith((MAGIC, END)):
        return ZIP
    if head.startswith(b"\x1f\x8b\x08"):
        return GZIP
    return TAR if head[257:262] == b"ustar" else ""


def zip_names(file: BinaryIO) -> tuple[str, ...]:
    """Names in a zip's directory; raises UnreadableInput where it is broken or too large to be read."""
    return tuple(info.filename for info in directory(file).infolist() if not info.is_dir())


def unpack(
    file: BinaryIO, name: str, *, is_whole: Callable[[BinaryIO], bool], budget: Budget | None = None, level: int = 0
) -> Iterator[Member]:
    """Every file in the archive, archives inside it opened one level deep, folders left out.

    ``is_whole`` tells an archive that is a transcript itself, so that it is handed on unopened.  Raises
    UnreadableInput where the archive cannot be opened, BeyondLimits where it holds too much.
    """
    if budget is None:
        budget = Budget(file.seek(0, os.SEEK_END))
    read = {ZIP: _zip, TAR: _tar, GZIP: _gzip}[packing(file)]
    file.seek(0)
    for member in read(file, name, budget):
        try:
            yield from _opened(member, is_whole, budget, level)
        finally:
            if member.file is not None:
                member.file.close()


def _opened(member: Member, is_whole: Callable[[BinaryIO], bool], budget: Budget, level: int) -> Iterator[Member]:
    """The member itself, or what is in it where it is an archive."""
    inner = packing(member.file) if member.file is not None else ""
    whole = member.file is None or not inner or is_whole(member.file)
    if member.file is not None:
        member.file.seek(0)
    if whole:
        yield member
    elif level >= limits.MAX_UPLOAD_NESTING:
        reason = f"{NAMES[inner]} nested more than {limits.MAX_UPLOAD_NESTING} level deep: not opened"
        yield Member(member.name, member.n_bytes, problem=reason)
    else:
        yield from _inside(member, is_whole, budget, level + 1)


def _inside(member: Member, is_whole: Callable[[BinaryIO], bool], budget: Budget, level: int) -> Iterator[Member]:
    try:
        for inner in unpack(cast("BinaryIO", member.file), member.name, is_whole=is_whole, budget=budget, level=level):
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


def _zip(file: BinaryIO, name: str, budget: Budget) -> Iterator[Member]:
    del name
    archive = directory(file)
    infos = [info for info in archive.infolist() if not info.is_dir()]
    budget.members(len(infos))
    budget.declared(sum(info.file_size for info in infos))
    for info in infos:
        label, kind = shown(info.filename), info.external_attr >> 16
        if info.flag_bits & ENCRYPTED:
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


def _gzip(file: BinaryIO, name: str, budget: Budget) -> Iterator[Member]:
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as packed:
            is_tar = packed.read(512)[257:262] == b"ustar"
    except BROKEN as error:
        raise UnreadableInput(f"a broken gzip file: {error}", next_step="Download or copy it again") from error
    file.seek(0)
    with gzip.GzipFile(fileobj=file, mode="rb") as packed:
        if is_tar:
            yield from _tar(cast("BinaryIO", packed), name, budget)
            return
        budget.members(1)
        spool, problem = _copied(cast("BinaryIO", packed), budget)
        base = name.replace("\\", "/").rpartition("/")[2]
        label = base[:-3] if base.lower().endswith(".gz") else base
        yield Member(
            shown(label), _size(spool), spool, f"the gzip file is cut off or damaged: {problem}" * bool(problem)
        )


class _Stream:
    """An unpacked tar as it is read: every byte is counted, and headers may take only so much between two members."""

    def __init__(self, file: BinaryIO, budget: Budget) -> None:
        self.file, self.budget, self.n_header = file, budget, 0

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.n_header += len(data)
        self.budget.take(len(data))
        if self.n_header > limits.MAX_ARCHIVE_LISTING:
            raise BeyondLimits("a tar archive whose headers fill megabytes", next_step=STEP)
        return data


def _tar(file: BinaryIO, name: str, budget: Budget) -> Iterator[Member]:
    del name
    stream, last = _Stream(file, budget), ""
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


def _copied(packed: BinaryIO, budget: Budget | None, stream: _Stream | None = None) -> tuple[BinaryIO, str]:
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
