"""An uploaded archive, file by file: every transcript gives its own sessions, everything else is listed with a reason.

A transcript's bytes become a blob of their own, so that its messages are found again without unpacking.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

from django.db import OperationalError

from sessions.adapters import storage
from sessions.engine.base.errors import EngineError, UnreadableInput
from sessions.engine.base.words import counted
from sessions.engine.reading import byte_breakdown, unpacking
from sessions.engine.reading.reading import NotATranscript, claims
from sessions.engine.reading.unpacking import NAMES, packing, unpack
from sessions.engine.transcript.types import Fate, Parsed, Skipped
from sessions.faults import fault_of
from sessions.models import MIXED, Member, MemberStatus, Upload
from sessions.services.session_rows import PackedSession, Place, pack_sessions, plain

Read = Callable[[BinaryIO, str], Parsed]


ROOM = 200_000
"""Places that each file of an archive has for its sessions while parts of it are read apart."""

log = logging.getLogger(__name__)


class NothingInside(EngineError):
    """An archive without a transcript; ``members`` says what each of its files was."""

    def __init__(self, text: str, members: list[Member]) -> None:
        self.members = members
        super().__init__(text)


@dataclass(slots=True)
class Outcome:
    """What was made of an upload, ready to be written."""

    format: str
    reason: str
    packed: list[PackedSession]
    skipped: list[Skipped]
    fates: tuple[Fate, ...]
    warnings: tuple[str, ...] = ()
    members: list[Member] = field(default_factory=list)
    n_unlisted: int = 0
    """Parts skipped beyond those in ``skipped``."""


def is_archive(file: BinaryIO) -> bool:
    """Whether the file is an archive that no format reads as a transcript; raises UnreadableInput for a broken one."""
    return bool(packing(file)) and not claims(file)


def read_archive(upload: Upload, file: BinaryIO, read: Read) -> Outcome:
    """Every file, by ``read(file, name)``, each failing alone; raises NothingInside, and UnreadableInput for all."""
    kind = NAMES[packing(file)]
    gathered = Gathered(upload, read)
    for member in unpack(file, upload.filename, is_whole=is_transcript):
        gathered.take(member)
    return outcome_of(
        kind, gathered.members, gathered.skipped, gathered.fates, tuple(gathered.warnings), gathered.packed
    )


def is_transcript(file: BinaryIO) -> bool:
    """Whether an archive inside an archive is a transcript itself."""
    try:
        return claims(file)
    except UnreadableInput:
        return False


class Gathered:
    """Collects the members' results in the archive's order; ``names`` says how often each name came before them.

    ``apart``: they are some of an archive's members, whose sessions get places that leave room for all others.
    """

    def __init__(self, upload: Upload, read: Read, *, apart: bool = False, names: Counter[str] | None = None) -> None:
        self.upload, self.read, self.apart = upload, read, apart
        self.packed: list[PackedSession] = []
        self.members: list[Member] = []
        self.skipped: list[Skipped] = []
        self.warnings: list[str] = []
        self.fates: list[tuple[Fate, ...]] = []
        self.names: Counter[str] = Counter() if names is None else names

    def take(self, found: unpacking.Member, row: Member | None = None) -> None:
        """Read one file; what goes wrong is said in its row."""
        if row is None:
            name, position = plain(found.name), len(self.members)
            row = Member(upload=self.upload, position=position, name=name, n_bytes=found.n_bytes)
        self.members.append(row)
        self.judge(found, row)
        if row.status != MemberStatus.READ:
            self.fates.append(self.unread(row))

    def judge(self, found: unpacking.Member, row: Member) -> None:
        """Read a file into its row."""
        row.status = MemberStatus.FAILED if found.is_file else MemberStatus.OTHER
        row.error = plain(found.problem)
        if found.file is None:
            return
        try:
            self._read(found.file, row)
        except NotATranscript as error:
            row.status = MemberStatus.FAILED if found.problem else MemberStatus.OTHER
            row.error = plain("; ".join(filter(None, (found.problem, f"not a transcript: {error.reason}"))))
        except EngineError as error:
            row.error = plain("; ".join(filter(None, (found.problem, str(error)))))
        except OperationalError:
            raise
        except Exception as error:
            log.exception("member %d of upload %s failed", row.position, self.upload.pk)
            fault = fault_of(error)
            ours = f"ctxweb could not read this file ({type(error).__name__}: {error}): a fault of ctxweb"
            row.error = plain(fault.words if fault else ours)

    def _read(self, file: BinaryIO, row: Member) -> None:
        parsed = self.read(file, row.name)
        file.seek(0)
        sha256 = row.sha256 or storage.put(file).sha256
        self.names[row.name] += 1
        key = row.name if self.names[row.name] == 1 else f"{row.name}\0{self.names[row.name]}"
        start = (row.position + 1) * ROOM if self.apart else len(self.packed)
        self.packed += pack_sessions(self.upload, parsed, Place(start, row.name, sha256, key))
        row.status, row.format = MemberStatus.READ, parsed.format
        row.n_sessions, row.n_skipped = len(parsed.transcripts), len(parsed.skipped)
        self.skipped += [Skipped(s.line, s.offset, f"{row.name}: {s.reason}") for s in parsed.skipped]
        self.warnings += [f"{row.name}: {warning}" for warning in remarks(parsed)]
        self.fates.append(parsed.fates)

    @staticmethod
    def unread(row: Member) -> tuple[Fate, ...]:
        """Where the bytes of a file went that is no transcript, or could not be read."""
        tally = byte_breakdown.Tally()
        other = row.status == MemberStatus.OTHER
        name = "files that are not transcripts" if other else "files that could not be read"
        tally.add(name, 0, row.n_bytes, part=True)
        return tally.fates(0, 0)


def outcome_of(  # noqa: PLR0917 - what an outcome is made of, in its order
    kind: str,
    members: list[Member],
    skipped: list[Skipped],
    made: list[tuple[Fate, ...]],
    warnings: tuple[str, ...],
    packed: list[PackedSession] | None = None,
) -> Outcome:
    """What an archive of a ``kind`` came to; raises NothingInside where no member is a transcript."""
    read = [row for row in members if row.status == MemberStatus.READ]
    n_files = counted(len(members), "file")
    if not read:
        raise NothingInside(_nothing(kind, n_files, members), members)
    formats = {row.format for row in read}
    reason = f"its members: {kind} of {n_files}, {len(read):,} of them transcripts"
    return Outcome(
        formats.pop() if len(formats) == 1 else MIXED,
        reason, packed or [], skipped, byte_breakdown.merged(made), warnings, members,
    )  # fmt: skip


def remarks(parsed: Parsed) -> tuple[str, ...]:
    """What the import's report says of a file: what was not understood first."""
    return (*(f"Not fully understood: {gap.text}" for gap in parsed.gaps), *parsed.warnings)


def _nothing(kind: str, n_files: str, members: list[Member]) -> str:
    """Why nothing was found: the reason of the only file, else how many were what."""
    if not members:
        return f"{kind} without files. Upload one that holds transcripts"
    first = f"{members[0].name}: {members[0].error}"
    if len(members) == 1:
        return f"{kind} of 1 file, {first}"
    return f"{kind} of {n_files}, none of them a transcript that can be read. The first, {first}"
