"""From a stored upload to sessions and media: read, weigh, pack, then one short write.

Everything that takes time happens before the transaction, so that other writers wait for milliseconds; text never
enters the database.  Running it twice yields the same rows once, under the same session ids.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, BinaryIO

from django.db import OperationalError, transaction

from sessions.adapters import storage
from sessions.engine.base.errors import EngineError
from sessions.engine.packing.memory import give_back
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.parts import without_gc
from sessions.engine.transcript.types import Parsed
from sessions.faults import fault_of
from sessions.models import Job, Media, Member, State, Upload
from sessions.services import ahead, blobs, continuations, counting, jobs, parts, queue, search, sharing
from sessions.services.archives import NothingInside, Outcome, is_archive, read_archive, remarks
from sessions.services.archives import Read as ReadOne
from sessions.services.media import MediaStore, make_thumbnails, write_media
from sessions.services.session_rows import PackedSession, compared_anew, insert_sessions, pack_sessions, plain
from sessions.services.sharing import link_families

if TYPE_CHECKING:
    from sessions.engine.reading.measure import OnMedia

KEPT_BY_PEOPLE = {"id", "owner", "private", "created_at", "dismissed"}
"""Fields of an upload that no reading changes."""

KEPT_SKIPPED = 200
"""Skipped parts listed with the upload; all of them are counted."""

ARCHIVE_GUESS = 8
"""How many times larger an archive of transcripts is thought to be unpacked."""

DELETED = "the upload was deleted before it was read: nothing of it is stored; upload the file again to have it"

Progress = Callable[[int], None]
"""Told the bytes that are read so far."""

Told = Callable[[], None]

log = logging.getLogger(__name__)


class UploadDeleted(EngineError):
    """Somebody deleted the upload while it waited or was read."""


def ingest(
    *, upload_id: uuid.UUID, on_progress: Progress | None = None, on_read: Told | None = None, verified: bool = False
) -> Upload:
    """Read the stored bytes of an upload into sessions, if nobody else does; returns the upload as it then stands.

    Whoever asked waits, so pages make thumbnails.  ``on_read`` is called before anything is written, and may wait until
    what came before is: what is shared is then looked for again.  ``verified``: the caller has just stored the bytes.
    Raises what ``ingest_claimed`` raises, and UploadDeleted where the upload is no longer there.
    """
    try:
        held = jobs.claim(upload_id=upload_id)
        if held is not None:
            ingest_claimed(held, on_progress, on_read, thumbnails=False, verified=verified)
        return Upload.objects.called(upload_id)
    except Upload.DoesNotExist:
        raise UploadDeleted(DELETED) from None


def ingest_claimed(
    held: queue.Claim[Job],
    on_progress: Progress | None = None,
    on_read: Told | None = None,
    *,
    thumbnails: bool = True,
    verified: bool = False,
) -> None:
    """Read the upload of a claimed job, then make ``thumbnails``; one that was deleted meanwhile leaves nothing.

    A file that cannot be read ends as status ``failed`` with its message, line and offset; nothing is raised for it.
    Raises OperationalError where the database stays locked and queue.Interrupted where the process is to end: the job
    is queued again first.
    """
    upload = Upload.objects.filter(job=held.pk).first()
    if upload is None:
        return
    try:
        with queue.beating(held):
            if not verified:
                storage.verify(upload.sha256)
            read = _ingest(upload, held, on_progress or (lambda done_bytes: None), on_read)
            if read and thumbnails:
                _thumbnails(read)
    except queue.Superseded:
        log.info("upload %s was deleted, or its reading has passed to somebody else", upload.pk)
    except NothingInside as error:
        _fail(held, str(error), error.members)
    except EngineError as error:
        _fail(held, str(error))
    except (OperationalError, queue.Interrupted):
        jobs.give_back(held)
        raise
    except MemoryError:
        phase = held.shown.get("phase") or "reading"
        _fail(held, f"There was not enough memory to read this file (while {phase}). The bytes are kept.")
    except Exception as error:
        log.exception("ingest of upload %s failed", upload.pk)
        fault = fault_of(error)
        ours = (
            f"ctxweb could not read this file ({type(error).__name__}: {error}). This is a fault of ctxweb; the bytes "
            "are kept, upload the file again after an update."
        )
        _fail(held, fault.words if fault else ours)


def _ingest(upload: Upload, held: queue.Claim[Job], on_progress: Progress, on_read: Told | None) -> Read | None:
    """What was read and written; None where the upload was deleted meanwhile."""

    def progress(done_bytes: int) -> None:
        phase = "reading" if done_bytes < upload.n_bytes else "counting"
        held.show(done_bytes=min(done_bytes, upload.n_bytes), phase=phase)
        on_progress(done_bytes)

    with storage.open_blob(upload.sha256) as file:
        archive = is_archive(file)
        head = "" if archive else continuations.head_of(file)
    if archive and upload.n_bytes >= parts.SPREAD_BYTES:
        if on_read:
            on_read()
        _ingest_parts(upload, held, on_progress)
        return None
    upload.head = head
    strangers: set[uuid.UUID] = set()
    while True:
        found = continuations.candidates(upload)
        before = continuations.among(upload, [one for one in found if one.pk not in strangers])
        as_read, read = upload, None
        if before is None or before.n_bytes < upload.n_bytes:
            as_read = continuations.grown(before, upload) if before else upload
            read = read_upload(as_read, progress, on_packing=lambda: held.show(phase="packing"))
            if before and not continuations.goes_on(before, read.packed):
                strangers.add(before.pk)
                continue
        if on_read:
            on_read()
            if read:
                read.outcome.packed = compared_anew(as_read, read.packed)
        held.show(phase="writing")
        hashes = _ready(read, upload.n_bytes) if read else set()
        freed: set[str] = set()
        with transaction.atomic():
            blobs.naming()
            # Nothing is written where the claim has passed to somebody else meanwhile, or the upload was deleted.
            if not held.rows().update(state=State.DONE, done_bytes=upload.n_bytes, phase=""):
                break
            lost = read is not None and sharing.lost(one.session for one in read.packed)
            if lost or blobs.missing(hashes) or not continuations.alone(upload, found):
                # What it shares was deleted with another session while this one was read, or its beginning came.
                transaction.set_rollback(True)
                continue
            if before:
                continuations.lead(upload, before, read.packed if read else None)
            if read:
                freed = write_upload(as_read, read)
        if before:
            freed |= {before.sha256, upload.sha256}
        blobs.remove_unnamed(freed)
        return read
    _forget(upload, hashes)
    return None


def _ready(read: Read, n_bytes: int) -> set[str]:
    if n_bytes >= counting.HELPED_AMONG_BYTES:
        give_back()  # the database takes two copies of the facts while it writes them
    return read.hashes


def _ingest_parts(upload: Upload, held: queue.Claim[Job], on_progress: Progress) -> None:
    """Share an archive out, read what nobody else reads, and put it together when all is read."""
    try:
        with storage.open_blob(upload.sha256) as file:
            parts.share_out(upload, file, held)
    except parts.Gone as gone:
        _forget(upload, gone.hashes)
        return
    parts.work_off(upload, held, reading, on_progress)
    outcome = parts.gathered_outcome(upload)
    with transaction.atomic():
        if not held.rows().update(state=State.DONE, done_bytes=upload.n_bytes, phase=""):
            return
        hashes = parts.put_together(upload)
        note_upload(upload, outcome)
    blobs.remove_unnamed(hashes)


def _thumbnails(read: Read) -> None:
    """Its sessions are stored and shown by now: whatever goes wrong here is left to the page that asks."""
    try:
        make_thumbnails(row.sha256 for row in read.media)
    except Exception:
        log.exception("thumbnails are left to be made when they are asked for")


def _forget(upload: Upload, hashes: set[str]) -> None:
    """Remove what was put away for an upload that was deleted while it was read."""
    if not Upload.objects.filter(pk=upload.pk).exists():
        blobs.remove_unnamed(hashes)


@dataclass(frozen=True, slots=True)
class Read:
    """What one reading of an upload's bytes yields, ready to be written."""

    outcome: Outcome
    media: list[Media]

    @property
    def packed(self) -> list[PackedSession]:
        """Its sessions, the root first."""
        return self.outcome.packed

    @property
    def hashes(self) -> set[str]:
        """The blobs that it needs besides the upload's own."""
        return {row.sha256 for row in self.media if row.apart} | {p.session.text_sha256 for p in self.packed} - {""}


def read_upload(upload: Upload, on_progress: Progress | None = None, on_packing: Told | None = None) -> Read:
    """Read and count an upload's bytes, then ``on_packing``, weigh and pack; writes no session.  Raises EngineError."""
    told = on_progress or (lambda done_bytes: None)
    with without_gc(), storage.open_blob(upload.sha256) as file:
        if is_archive(file):
            with reading(ARCHIVE_GUESS * upload.n_bytes, lambda _: told(file.tell())) as (read, media):
                return Read(read_archive(upload, file, read), list(media.values()))
        if found := ahead.take(upload.sha256, upload.filename):
            parsed, media = found.parsed, found.media
            told(upload.n_bytes)
        else:
            parsed, media = read_alone(file, upload.filename, upload.n_bytes, told)
        if on_packing:
            on_packing()
        packed = pack_sessions(upload, parsed)
    outcome = Outcome(parsed.format, parsed.reason, packed, list(parsed.skipped), parsed.fates, remarks(parsed))
    return Read(outcome, list(media.values()))


def read_alone(file: BinaryIO, name: str, n_bytes: int, on_progress: Progress) -> tuple[Parsed, dict[str, Media]]:
    """What one file holds, and the media that it shows, by hash.  Raises EngineError."""
    with reading(n_bytes, on_progress, alone=True) as (read, media):
        return read(file, name), media


@contextmanager
def reading(n_bytes: int, on_progress: Progress, *, alone: bool = False) -> Iterator[tuple[ReadOne, dict[str, Media]]]:
    """How files of ``n_bytes`` together (``alone``: one) are read, and the media that this puts away, by hash."""
    media = MediaStore()
    with without_gc(), counting.counter_of(n_bytes, alone=alone) as counter:

        def read(part: BinaryIO, name: str) -> Parsed:
            def parse(on_media: OnMedia) -> Parsed:
                return read_transcripts(part, name, counter=counter, on_media=on_media, on_progress=on_progress)

            return media.read(part, parse)

        yield read, media.seen


def write_upload(upload: Upload, read: Read) -> set[str]:
    """All that was read, in place of what was there; the blobs that may be unnamed now.  Call inside a transaction."""
    outcome = read.outcome
    # Who sees it may have been changed while it was read.
    upload.private = Upload.objects.select_for_update().values_list("private", flat=True).get(pk=upload.pk)
    for one in outcome.packed:
        one.session.private = upload.private
    insert_sessions(upload, outcome.packed)
    freed = write_media(outcome.packed, read.media)
    _write_members(upload.pk, outcome.members)
    note_upload(upload, outcome)
    return freed


def note_upload(upload: Upload, outcome: Outcome) -> None:
    """What the import's report says, once its sessions are written.  Call inside a transaction."""
    link_families(upload=upload)
    search.ask()
    upload.status, upload.format, upload.reason, upload.error = State.DONE, outcome.format, plain(outcome.reason), ""
    upload.warnings = [plain(warning) for warning in outcome.warnings[:KEPT_SKIPPED]]
    upload.n_skipped, upload.n_deleted = len(outcome.skipped) + outcome.n_unlisted, 0
    upload.skipped = [[s.line, s.offset, plain(s.reason)] for s in outcome.skipped[:KEPT_SKIPPED]]
    upload.fates = [[plain(f.name), *astuple(f)[1:]] for f in outcome.fates]
    upload.save(update_fields=[f.name for f in Upload._meta.concrete_fields if f.name not in KEPT_BY_PEOPLE])


def _write_members(upload_id: uuid.UUID, members: list[Member]) -> None:
    Member.objects.filter(upload_id=upload_id).delete()
    for member in members:
        member.pk, member.sha256 = None, ""
    Member.objects.bulk_create(members, batch_size=100)


def _fail(held: queue.Claim[Job], reason: str, members: list[Member] | None = None) -> None:
    message = plain(reason)
    with transaction.atomic():
        if not held.rows().update(state=State.FAILED, error=message):
            return
        upload = Upload.objects.get(job=held.pk)
        hashes = parts.clear(upload)
        _write_members(upload.pk, members or [])
        Upload.objects.filter(pk=upload.pk).update(status=State.FAILED, error=message)
    blobs.remove_unnamed(hashes)
