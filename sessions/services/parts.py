"""A large archive is read in parts, by as many workers as there are: its own job unpacks it, shares it out and ends it.

A part names its files by position and by the hash of their bytes, so it comes out the same whoever reads it, and again.
Its sessions are written when it is done, in one transaction with its state: never twice, and never without it.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import astuple
from typing import Any, BinaryIO, cast

from django.db import OperationalError, transaction
from django.db.models import Sum
from django.utils import timezone

from sessions.adapters import storage
from sessions.engine.reading import byte_breakdown, unpacking
from sessions.engine.reading.reading import NotATranscript, recognise
from sessions.engine.transcript.types import Fate, Skipped
from sessions.models import QUEUED, UNFINISHED, Media, Member, MemberStatus, Part, Session, State, Upload
from sessions.services import blobs, queue, sharing
from sessions.services.archives import Gathered, Outcome, Read, is_transcript, outcome_of
from sessions.services.media import make_thumbnails, write_media
from sessions.services.session_rows import drop_sessions, plain, write_sessions

Reading = Callable[[int, Callable[[int], None]], AbstractContextManager[tuple[Read, dict[str, Media]]]]
"""How files are read, given their bytes and who is told of progress: ``read``, and the media that it put away."""

SPREAD_BYTES = 1_000_000
"""Archives from this size on are read in parts; a smaller one takes a worker seconds."""
PART_BYTES, PART_FILES = 4_000_000, 100
"""A part ends with the file that brings it to so many unpacked bytes, or with so many files."""
LOOK_SECONDS = 0.2
TOLD_SECONDS = 1.0
KEPT = 200
"""Skipped parts and warnings listed of one part; an upload lists no more."""

log = logging.getLogger(__name__)


class Gone(Exception):
    """The archive was deleted while it was unpacked; ``hashes`` are what was stored of it."""

    def __init__(self, hashes: set[str]) -> None:
        self.hashes = hashes
        super().__init__()


def share_out(upload: Upload, file: BinaryIO, held: queue.Claim[Any]) -> None:
    """Store an archive's transcripts and make the parts, unless that was done; raises UnreadableInput, and Gone."""
    if upload.parts.exists():
        return
    parts: list[Part] = []
    while True:
        members = list(_members(upload, file, held))
        hashes = {row.sha256 for row in members} - {""}
        with transaction.atomic():
            blobs.naming()
            if not held.rows().update(phase="reading", done_bytes=0):
                break
            if not (missing := blobs.missing(hashes)):
                upload.members.all().delete()
                Member.objects.bulk_create(members, batch_size=100)
                parts = _parts(upload, members)
                Part.objects.bulk_create(parts, batch_size=100)
        if not missing:
            for tell in queue.tell:
                tell(len(parts) - 1)
            return
    raise Gone(hashes)


def _members(upload: Upload, file: BinaryIO, held: queue.Claim[Any]) -> Iterator[Member]:
    for position, found in enumerate(unpacking.unpack(file, upload.filename, is_whole=is_transcript)):
        held.show(phase="unpacking")
        row = Member(upload=upload, position=position, name=plain(found.name), n_bytes=found.n_bytes)
        row.status, row.error = MemberStatus.WAITS, plain(found.problem)
        if found.file is None:
            row.status = MemberStatus.FAILED if found.is_file else MemberStatus.OTHER
        elif _is_recognised(found.file, found.name):
            found.file.seek(0)
            row.sha256 = storage.put(found.file).sha256
        else:
            Gathered(upload, cast("Read", recognise)).judge(found, row)
        yield row


def _is_recognised(file: BinaryIO, name: str) -> bool:
    """Whether its reading is worth a part: also where its start cannot be looked at, for the reading says why."""
    try:
        recognise(file, name)
    except NotATranscript:
        return False
    except Exception:  # whatever it is, its own reading says so in its row
        return True
    return True


def _parts(upload: Upload, members: list[Member]) -> list[Part]:
    made: list[Part] = []
    now, start, n_bytes, n_files = timezone.now(), 0, 0, 0
    for row in members:
        stop = row.position + 1
        n_files += bool(row.sha256)
        n_bytes += row.n_bytes if row.sha256 else 0
        last = row is members[-1]
        if n_bytes >= PART_BYTES or n_files >= PART_FILES or last:
            if n_files:
                made.append(Part(upload=upload, start=start, stop=stop, total_bytes=n_bytes, heartbeat_at=now))
            start, n_bytes, n_files = stop, 0, 0
    return made


def work_off(upload: Upload, held: queue.Claim[Any], reading: Reading, on_progress: Callable[[int], None]) -> None:
    """Read the parts that nobody takes, await others; raises queue.Superseded, queue.Interrupted, OperationalError."""
    told = 0.0

    def show() -> None:
        nonlocal told
        if time.monotonic() - told >= TOLD_SECONDS:
            told = time.monotonic()
            sums = upload.parts.aggregate(done=Sum("done_bytes", default=0), all=Sum("total_bytes", default=0))
            done = upload.n_bytes * sums["done"] // max(1, sums["all"])
            held.shown |= {"done_bytes": min(done, upload.n_bytes), "phase": "reading"}
            on_progress(done)
        held.show()

    while True:
        show()
        mine = queue.take(Part.objects.filter(upload=upload))
        if mine is not None:
            run_claimed(mine, reading, show)
        elif upload.parts.filter(state__in=UNFINISHED).exists():
            queue.stopping.wait(LOOK_SECONDS)
        else:
            return


def claim() -> queue.Claim[Part] | None:
    return queue.take(Part.objects.all())


def run_claimed(held: queue.Claim[Part], reading: Reading, show: Callable[[], None] = lambda: None) -> None:
    """Read the files of a claimed part and write their sessions; what goes wrong with one is said in its row.

    ``show`` is called as it goes on, and may break it off.  Raises OperationalError where the database stays locked and
    queue.BrokenOff where the process, or the archive's job, is to end: the part is queued again first.
    """
    part = Part.objects.select_related("upload").filter(pk=held.pk).first()
    if part is None:
        return
    try:
        with queue.beating(held):
            _read(part, held, reading, show)
    except queue.Superseded:
        if held.is_mine:
            queue.give_back(held, done_bytes=0)
            raise
    except (OperationalError, queue.Interrupted):
        queue.give_back(held, done_bytes=0)
        raise
    except MemoryError:
        _fail(held, part, "there was not enough memory to read it with the files beside it")
    except Exception as error:
        log.exception("files %d to %d of upload %s failed", part.start, part.stop, part.upload_id)
        _fail(held, part, f"ctxweb could not read this file ({type(error).__name__}: {error}): a fault of ctxweb")


def put_back(part: Part) -> None:
    """Queue a lost ``part`` again; one that ended three processes is done, and its files failed; see ``queue.Kind``."""
    part.state, part.done_bytes = QUEUED, 0
    if part.attempts >= queue.MAX_ATTEMPTS:
        part.state, part.done_bytes = State.FAILED, part.total_bytes
        _give_up(part, f"reading it, or a file beside it, ended its process {part.attempts} times. Last: {part.ending}")


def _read(part: Part, held: queue.Claim[Part], reading: Reading, show: Callable[[], None]) -> None:
    before = part.upload.members.filter(position__lt=part.start).exclude(sha256="")
    names = Counter(before.values_list("name", flat=True))
    members = list(part.upload.members.filter(position__gte=part.start, position__lt=part.stop))
    done = 0

    def progress(n_bytes: int) -> None:
        held.show(done_bytes=min(part.total_bytes, done + n_bytes), phase="reading")
        show()

    while True:
        done = 0
        with reading(part.total_bytes, progress) as (read, media):
            gathered = Gathered(part.upload, read, apart=True, names=Counter(names))
            for row in members:
                if row.sha256:
                    with storage.open_blob(row.sha256) as file:
                        gathered.take(unpacking.Member(row.name, row.n_bytes, file, row.error), row)
                    done += row.n_bytes
        held.show(phase="writing")
        hashes = {row.sha256 for row in gathered.members} | {row.sha256 for row in media.values() if row.apart}
        freed: set[str] = set()
        with transaction.atomic():
            blobs.naming()
            if not held.rows().update(state=State.DONE, done_bytes=part.total_bytes, found=_found(gathered), phase=""):
                raise queue.Superseded
            gone = blobs.missing(hashes) or sharing.lost(one.session for one in gathered.packed)
            if not gone:
                freed = _write(part.upload, gathered, media)
            else:  # what they share was deleted with another session while these were read
                transaction.set_rollback(True)
        if not gone:
            blobs.remove_unnamed(freed)
            make_thumbnails(media)
            return
        members = list(part.upload.members.filter(position__gte=part.start, position__lt=part.stop))


def _found(gathered: Gathered) -> dict[str, Any]:
    return {
        "sessions": [one.session.id for one in gathered.packed],
        "n_skipped": len(gathered.skipped),
        "skipped": [[s.line, s.offset, plain(s.reason)] for s in gathered.skipped[:KEPT]],
        "warnings": [plain(warning) for warning in gathered.warnings[:KEPT]],
        "fates": [[plain(f.name), *astuple(f)[1:]] for f in byte_breakdown.merged(gathered.fates)],
    }


def _write(upload: Upload, gathered: Gathered, media: dict[str, Media]) -> set[str]:
    private = Upload.objects.select_for_update().values_list("private", flat=True).get(pk=upload.pk)
    for one in gathered.packed:
        one.session.private = private
    ids = [one.session.id for one in gathered.packed]
    write_sessions(gathered.packed, list(Session.objects.filter(pk__in=ids).values_list("pk", flat=True)))
    freed = write_media(gathered.packed, list(media.values()))
    told = ["status", "format", "n_sessions", "n_skipped", "error"]
    Member.objects.bulk_update(gathered.members, told, batch_size=100)
    return freed


def _fail(held: queue.Claim[Part], part: Part, reason: str) -> None:
    with transaction.atomic():
        if held.rows().update(state=State.FAILED, error=plain(reason), done_bytes=part.total_bytes):
            _give_up(part, reason)


def _give_up(part: Part, reason: str) -> None:
    waiting = part.upload.members.filter(position__gte=part.start, position__lt=part.stop, status=MemberStatus.WAITS)
    waiting.update(status=MemberStatus.FAILED, error=plain(reason))


def gathered_outcome(upload: Upload) -> Outcome:
    """What all parts came to; raises NothingInside where no file was a transcript that can be read."""
    members = list(upload.members.all())
    found = [part.found for part in upload.parts.order_by("start") if part.found]
    unread = [Gathered.unread(row) for row in members if row.status != MemberStatus.READ and not row.sha256]
    made = [*unread, *(tuple(Fate(*one) for one in part["fates"]) for part in found)]
    with storage.open_blob(upload.sha256) as file:
        kind = unpacking.NAMES[unpacking.packing(file)]
    skipped = [Skipped(*one) for part in found for one in part["skipped"]]
    warnings = tuple(warning for part in found for warning in part["warnings"])
    outcome = outcome_of(kind, members, skipped, made, warnings)
    outcome.n_unlisted = sum(part["n_skipped"] for part in found) - len(skipped)
    return outcome


def put_together(upload: Upload) -> set[str]:
    """Let all parts' sessions alone stand, in the archive's order; blobs unnamed now.  Call inside a transaction."""
    drop_sessions(upload, [key for part in upload.parts.all() for key in part.found.get("sessions", ())])
    ordered = list(Session.objects.filter(upload=upload).order_by("position").only("position"))
    for position, one in enumerate(ordered):
        one.position = position
    Session.objects.bulk_update(ordered, ["position"], batch_size=400)
    return clear(upload)


def clear(upload: Upload) -> set[str]:
    """Forget how the archive was shared out; the hashes that its members named."""
    hashes = set(upload.members.exclude(sha256="").values_list("sha256", flat=True))
    upload.members.update(sha256="")
    upload.parts.all().delete()
    return hashes
