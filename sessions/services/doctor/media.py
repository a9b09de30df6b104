"""Images and documents that no session shows, that lie apart without need, or that are not where they should stand."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Count

from sessions import selectors
from sessions.adapters import storage
from sessions.engine import media_places, pack
from sessions.engine.errors import EngineError
from sessions.engine.types import Parsed
from sessions.engine.words import counted
from sessions.models import Media, MediaUse, Session, SessionFacts, State, Upload
from sessions.services import blobs
from sessions.services.doctor.counts import reread
from sessions.services.doctor.finding import Finding
from sessions.services.media import stands, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.engine.images import Place


def amiss(*, deep: bool) -> Iterator[Finding]:
    """What is wrong; ``deep`` reads every image and document in its transcript."""
    for media in Media.objects.exclude(pk__in=MediaUse.objects.values("sha256")):
        text = f"No session shows the {media.media_type} {media.pk[:12]} ({media.n_bytes:,} bytes)."
        yield Finding("media_unused", text, "deletes it", partial(_forget, media.pk))
    unlooked = MediaUse.objects.filter(n_chars=None, session__upload__status=State.DONE)
    counts = dict(unlooked.order_by().values_list("session__upload").annotate(n=Count("sha256", distinct=True)))
    for upload in Upload.objects.filter(pk__in=unlooked.values("session__upload")):
        text = f"{counted(counts.get(upload.pk, 0), 'image')} of {upload.filename} may be stored twice."
        yield Finding("media_twice", text, "keeps them in the transcript alone", partial(_move, upload))
    lost = MediaUse.objects.exclude(n_chars__gt=0).exclude(n_chars=None)
    for use in lost.filter(sha256__in=Media.objects.filter(apart=False).values("pk")).select_related("session__upload"):
        text = f"The image {use.sha256[:12]} of session {use.session_id} is nowhere."
        yield reread("incomplete", text, use.session.upload)
    unplaced = MediaUse.objects.exclude(n_chars__gt=0).values("sha256")
    for media in Media.objects.filter(apart=True, pk__in=MediaUse.objects.values("sha256")).exclude(pk__in=unplaced):
        text = f"Every session has the {media.media_type} {media.pk[:12]} in its transcript; it is stored twice."
        yield Finding("media_twice", text, "keeps it in the transcripts alone", partial(_join, media.pk))
    if deep:
        for use in MediaUse.objects.filter(n_chars__gt=0).select_related("session__upload").order_by("session_id"):
            if not stands(use):
                text = f"The image {use.sha256[:12]} of session {use.session_id} is not where it should stand."
                yield reread("incomplete", text, use.session.upload)


def _forget(sha256: str) -> None:
    if not MediaUse.objects.filter(sha256=sha256).exists():
        Media.objects.filter(pk=sha256).delete()
        blobs.remove_unnamed([sha256])


def _join(sha256: str) -> None:
    with transaction.atomic():
        freed = together([sha256])
    blobs.remove_unnamed(freed)


def _move(upload: Upload) -> None:
    """Look for media of sessions that were stored before places were noted; what is found need not lie apart."""
    for session in upload.sessions.filter(media_uses__n_chars=None).distinct():
        uses = MediaUse.objects.filter(session=session, n_chars=None)
        with suppress(EngineError, OSError):  # another finding says so: all stays as it is
            places = _places(session, list(uses.values_list("sha256", flat=True)))
            with transaction.atomic():
                for sha256, place in places.items():
                    uses.filter(sha256=sha256).update(offset=place.offset, n_chars=place.n_chars)
                uses.update(offset=0, n_chars=0)
                freed = together(places)
            blobs.remove_unnamed(freed)


def _places(session: Session, hashes: list[str]) -> dict[str, Place]:
    """Where those of the media stand that have a place; raises EngineError, OSError."""
    facts = SessionFacts.objects.filter(session=session).first()
    if facts is None:
        raise FileNotFoundError(session.pk)
    transcript = pack.read_whole(pack.unpack(bytes(facts.packed)))
    with selectors.open_text(session) as file:
        if not media_places.has_places(file):
            return {}
        traces = {sha256: _trace(sha256) for sha256 in hashes}
        return media_places.find(file, Parsed(session.format, (transcript,)), traces)


def _trace(sha256: str) -> media_places.Trace:
    with storage.open_blob(sha256) as file:
        return media_places.trace(file.read())
