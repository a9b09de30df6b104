"""The stored bytes against the rows, images against transcripts: what is missing, damaged, left or named by nobody."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from django.utils import timezone

from sessions.adapters import leftovers as temporary
from sessions.adapters import storage
from sessions.adapters.frames import Damaged
from sessions.engine.packing import pack
from sessions.models import LiveSource, Media, MediaUse, ModelAnswer, Session, SessionFacts, State, Upload
from sessions.services import blobs
from sessions.services.doctor.finding import Finding
from sessions.services.media import stands
from sessions.services.uploads import requeue

STRAY_AFTER = dt.timedelta(hours=1)
"""A blob that no row names for this long will not be named any more: an upload under way stores it first."""


def blobs_amiss(*, deep: bool) -> Iterator[Finding]:
    """Blobs of the wrong length or, with ``deep``, hash; missing ones; and old ones that no row names.

    The rows are read after the blobs, and a blob may be younger than the rows: what is written or deleted meanwhile is
    looked at twice before it is called wrong.
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
    """One finding for each row that needs the blob."""
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
            if not stands(use):
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
        return Finding(kind, text, "nothing more: its upload is about to be read", _nothing)
    if storage.exists(upload.sha256):
        return Finding(kind, text, f"reads {upload.filename} again", partial(requeue, upload=upload))
    return Finding(kind, text, f"upload {upload.filename} again: its bytes are lost")


def _nothing() -> None:
    """The worker mends it."""
