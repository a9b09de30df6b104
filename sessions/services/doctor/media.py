"""Images and documents that no session shows, or that are not where they should stand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sessions.models import Media, MediaUse
from sessions.services import blobs
from sessions.services.doctor.counts import reread
from sessions.services.doctor.finding import Finding
from sessions.services.media import stands

if TYPE_CHECKING:
    from collections.abc import Iterator


def amiss(*, deep: bool) -> Iterator[Finding]:
    """What is wrong; ``deep`` reads every image and document in its transcript."""
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
