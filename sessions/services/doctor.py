"""Finds what is wrong with the database, the work and the stored bytes, and mends it: every finding has its mending."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from sessions.adapters import leftovers as temporary
from sessions.adapters import storage
from sessions.adapters.frames import Damaged
from sessions.engine.packing import pack
from sessions.models import LiveSource, Media, MediaUse, ModelAnswer, Session, SessionFacts, State, Upload
from sessions.services import blobs, queue
from sessions.services.media import in_transcript
from sessions.services.processes import is_gone
from sessions.services.uploads import requeue
from sessions.services.work import KINDS


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong (``kind`` for programs) and the ``action`` that mends it: ``mend``'s, else of whoever reads it."""

    kind: str
    text: str
    action: str
    mend: Callable[[], object] | None = None


def examine(*, deep: bool = False) -> Iterator[Finding]:
    """All that is wrong, as it is found; ``deep`` reads every byte.  Another schema ends it: mend that, look again."""
    differs = list(schema())
    yield from differs
    if differs:
        return
    yield from integrity()
    yield from find_stuck_work()
    yield from incomplete(deep=deep)
    yield from blobs_amiss(deep=deep)
    yield from media_amiss(deep=deep)
    yield from leftovers()


MOST_PROBLEMS = 20
RESTORE = "restore a backup: ctxweb restore FILE.tar"


def migrations() -> tuple[list[str], int]:
    """Those applied that nobody knows here, as "app.name", and how many are to apply."""
    executor = MigrationExecutor(connection)
    loader = executor.loader
    known = set(loader.disk_migrations) | {old for new in loader.disk_migrations.values() for old in new.replaces}
    unknown = [key for key in loader.applied_migrations if key[0] in loader.migrated_apps and key not in known]
    return [".".join(key) for key in sorted(unknown)], len(executor.migration_plan(loader.graph.leaf_nodes()))


def schema() -> Iterator[Finding]:
    """Migrations that are not applied yet, and those of a newer program."""
    unknown, n_pending = migrations()
    if unknown:
        text = f"The database was written by a newer ctxweb: {', '.join(unknown[:3])} is unknown here."
        yield Finding("newer_database", text, "install that version, or restore a backup of this one")
        return
    if n_pending:
        text = f"The database is of an older ctxweb: migrations to apply: {n_pending}."
        apply = partial(call_command, "migrate", interactive=False, verbosity=0)
        yield Finding("migrations", text, "applies them, then looks at the data", apply)


def integrity() -> Iterator[Finding]:
    """SQLite's own checks; PostgreSQL checks its pages and keys by itself."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA integrity_check({MOST_PROBLEMS})")
        for (said,) in cursor.fetchall():
            if said != "ok":
                yield Finding("integrity", f"The database file is damaged: {said}.", RESTORE)
        cursor.execute("PRAGMA foreign_key_check")
        for table, row, parent, _ in cursor.fetchmany(MOST_PROBLEMS):
            yield Finding("foreign_key", f"Row {row} of {table} names a row of {parent} that is gone.", RESTORE)


LOST_AFTER = dt.timedelta(hours=1)
"""Silence, by the clock, after which a worker on another host counts as lost for somebody who looks only once."""


def find_stuck_work() -> Iterator[Finding]:
    """Uploads without a job, and work whose worker is gone."""
    for upload in Upload.objects.unfinished().filter(job__isnull=True):
        text = f"{upload.filename} ({upload.pk}) waits without a job."
        yield Finding("job_missing", text, "queues it", partial(requeue, upload=upload))
    for kind in KINDS:
        name = kind.model._meta.verbose_name
        for row in kind.model._default_manager.filter(state=kind.model.active):
            if is_gone(row.worker) or timezone.now() - row.heartbeat_at > LOST_AFTER:
                text = f"Nobody works on {name} {row.pk}, which is {row.state}."
                yield Finding("work_stuck", text, "gives it back", partial(queue.release, kind, row.pk, row.worker))


def release_all() -> None:
    """Give back whatever was under way: in a restored database nobody who worked on it is there any more."""
    for kind in KINDS:
        for row in kind.model._default_manager.filter(state=kind.model.active):
            queue.release(kind, row.pk, row.worker)


STRAY_AFTER = dt.timedelta(hours=1)
"""A blob that no row names for this long will not be named any more: an upload under way stores it first."""


def blobs_amiss(*, deep: bool) -> Iterator[Finding]:
    """Blobs of the wrong length or, with ``deep``, hash; missing ones; and old ones that no row names.

    Rows are read after blobs, which may be younger: what changes meanwhile is looked at twice before it is wrong.
    """
    media = Media.objects.filter(apart=True)
    lengths = dict(Upload.objects.values_list("sha256", "n_bytes")) | dict(media.values_list("pk", "n_bytes"))
    there, strays, before = set(), [], timezone.now() - STRAY_AFTER
    for blob in storage.stored():
        there.add(blob.sha256)
        whole = storage.is_whole(blob, lengths.get(blob.sha256, blob.n_bytes), fetched=deep)
        if not whole or (deep and not _is_itself(blob.sha256)):
            yield from _damaged(blob.sha256)
        if blob.written_at < before:
            strays.append(blob)
    named = blobs.named()
    for sha256 in sorted(named - there):
        if not storage.exists(sha256) and blobs.named([sha256]):
            yield from _missing(sha256, f"The bytes {sha256[:12]} are missing")
    for blob in strays:
        if blob.sha256 not in named:
            text = f"No row names the stored file {blob.sha256[:12]} ({blob.n_bytes:,} bytes)."
            yield Finding("orphan", text, "deletes it", partial(blobs.remove_unnamed, [blob.sha256]))


def _is_itself(sha256: str) -> bool:
    """Whether what is stored has its name for a hash; also where it vanished meanwhile."""
    try:
        storage.verify(sha256)
    except FileNotFoundError:
        return True
    except Damaged:
        return False
    return True


def _damaged(sha256: str) -> Iterator[Finding]:
    """A blob that is not what its name says: it is moved out of the way, then what needed it is as without it."""
    move = partial(storage.set_aside, sha256)
    yield Finding("damaged", f"The stored file {sha256[:12]} is damaged.", "moves it to the folder damaged", move)
    yield from _missing(sha256, f"The bytes {sha256[:12]} are damaged")


def _missing(sha256: str, text: str) -> Iterator[Finding]:
    kind = "blob_missing"
    for upload in Upload.objects.filter(sha256=sha256):
        yield Finding(kind, f"{text}: upload {upload.filename} ({upload.pk}).", f"upload {upload.filename} again")
    for session in Session.objects.filter(text_sha256=sha256).select_related("upload"):
        yield reread(kind, f"{text}: the text of session {session.pk}.", session.upload)
    for use in MediaUse.objects.filter(sha256=sha256).exclude(n_chars__gt=0).select_related("session__upload"):
        yield reread(kind, f"{text}: an image or document of session {use.session_id}.", use.session.upload)
    for answer in ModelAnswer.objects.filter(text_sha256=sha256):
        what = f"{text}: a {answer.kind} by {answer.model}."
        yield Finding(kind, what, "forgets it; a model can be asked again", answer.delete)
    for source in LiveSource.objects.filter(previous_sha256=sha256):
        rows = LiveSource.objects.filter(pk=source.pk, previous_sha256=sha256)
        what = f"{text}: the version before of {source.path}."
        yield Finding(kind, what, "forgets that version", partial(rows.update, previous_sha256=""))


def leftovers() -> Iterator[Finding]:
    """Files that an upload, a backup or a start wrote half and left."""
    for path in temporary.leftovers():
        text = f"A temporary file was left: {path} ({path.stat().st_size:,} bytes)."
        yield Finding("leftover", text, "deletes it", partial(path.unlink, missing_ok=True))


def media_amiss(*, deep: bool) -> Iterator[Finding]:
    """Images and documents that no session shows, or that are not where they should stand (``deep`` reads each)."""
    for media in Media.objects.exclude(pk__in=MediaUse.objects.values("sha256")):
        text = f"No session shows the {media.media_type} {media.pk[:12]} ({media.n_bytes:,} bytes)."
        yield Finding("media_unused", text, "deletes it", partial(_forget, media.pk))
    lost = MediaUse.objects.filter(n_chars=0, sha256__in=Media.objects.filter(apart=False).values("pk"))
    for use in lost.select_related("session__upload"):
        text = f"The image {use.sha256[:12]} of session {use.session_id} is nowhere."
        yield reread("incomplete", text, use.session.upload)
    if deep:
        for use in MediaUse.objects.filter(n_chars__gt=0).select_related("session__upload").order_by("session_id"):
            if in_transcript(use) is None:
                text = f"The image {use.sha256[:12]} of session {use.session_id} is not where it should stand."
                yield reread("incomplete", text, use.session.upload)


def _forget(sha256: str) -> None:
    if not MediaUse.objects.filter(sha256=sha256).exists():
        Media.objects.filter(pk=sha256).delete()
        blobs.remove_unnamed([sha256])


def incomplete(*, deep: bool = False) -> Iterator[Finding]:
    """Sessions without facts, and images that are known to no table; ``deep`` reads the facts of every session."""
    for session in Session.objects.filter(facts__isnull=True).select_related("upload"):
        yield reread("incomplete", f"Session {session.pk} has no facts.", session.upload)
    if deep:
        yield from _broken_facts()
    known = Media.objects.values("pk")
    for use in MediaUse.objects.exclude(sha256__in=known).select_related("session__upload"):
        text = f"Session {use.session_id} shows {use.sha256[:12]}, of which nothing is known."
        yield reread("incomplete", text, use.session.upload)


def _broken_facts() -> Iterator[Finding]:
    for facts in SessionFacts.objects.select_related("session__upload").iterator(chunk_size=1):
        session, has = facts.session, "facts that cannot be read"
        with suppress(Exception):  # whatever a damaged byte makes of them
            transcript = pack.unpack(bytes(facts.packed))
            n = len([*transcript.messages, *transcript.requests]) - len(transcript.requests)
            has = "" if n == session.n_messages else f"{n:,} of {session.n_messages:,} messages"
        if has:
            yield reread("incomplete", f"Session {session.pk} has {has}.", session.upload)


def reread(kind: str, text: str, upload: Upload) -> Finding:
    """A finding that reading the upload again mends, where its bytes are there."""
    if upload.status != State.DONE:
        return Finding(kind, text, "nothing more: its upload is about to be read", lambda: None)
    if storage.exists(upload.sha256):
        return Finding(kind, text, f"reads {upload.filename} again", partial(requeue, upload=upload))
    return Finding(kind, text, f"upload {upload.filename} again: its bytes are lost")
