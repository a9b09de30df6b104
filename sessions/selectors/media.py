"""Images and documents of sessions, for who sees the sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.models import Media, MediaUse, Session, viewer

if TYPE_CHECKING:
    from django.db.models import QuerySet


def get_media(sha256: str) -> Media:
    """An image or document of a session that the viewer sees; raises Media.DoesNotExist."""
    return seen_media().get(pk=sha256)


def seen_media() -> QuerySet[Media]:
    """The images and documents that the viewer sees."""
    if viewer().is_admin:
        return Media.objects.all()
    shown = MediaUse.objects.filter(session__in=Session.objects.seen_by(viewer()))
    return Media.objects.filter(pk__in=shown.values("sha256"))
