"""The files that somebody uploaded, as the lists of them show them; images and documents of sessions."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Prefetch, Q, QuerySet

from sessions.models import UNFINISHED, Media, MediaUse, Session, State, Upload, viewer

PAGE = 100
"""Rows of one page."""


def open_uploads() -> tuple[Upload, ...]:
    """What stands above the library, newest first: uploads still read, and failures not yet dismissed (two queries)."""
    failed = Q(status=State.FAILED, dismissed=False, pk__in=Upload.objects.sent_by(viewer()).values("pk"))
    found = Upload.objects.seen_by(viewer()).filter(Q(status__in=UNFINISHED) | failed)
    return tuple(found.select_related("job").prefetch_related("sessions")[:PAGE])


@dataclass(frozen=True, slots=True)
class UploadPage:
    """Some of a person's uploads, newest first; counts are of all of them, ``n_failed`` of those not dismissed."""

    uploads: tuple[Upload, ...]
    start: int
    n_listed: int
    n_failed: int
    n_finished: int
    n_dismissed: int


def upload_list(*, start: int = 0, dismissed: bool = False, limit: int = PAGE) -> UploadPage:
    """The files that the viewer uploaded; ``dismissed`` lists those, too.  Three queries."""
    mine = Upload.objects.sent_by(viewer())
    kept = Q(dismissed=False)
    counts = mine.aggregate(
        n_listed=Count("pk", filter=None if dismissed else kept),
        n_failed=Count("pk", filter=kept & Q(status=State.FAILED)),
        n_finished=Count("pk", filter=kept & ~Q(status__in=UNFINISHED)),
        n_dismissed=Count("pk", filter=~kept),
    )
    some = Session.objects.only("id", "upload_id", "branch_of", "parent", "position", "n_messages", "n_compactions")
    found = (mine if dismissed else mine.filter(kept)).select_related("job")
    rows = found.prefetch_related(Prefetch("sessions", some))[start : start + limit]
    return UploadPage(tuple(rows), start, **counts)


def seen_media() -> QuerySet[Media]:
    """The images and documents of sessions that the viewer sees."""
    if viewer().is_admin:
        return Media.objects.all()
    shown = MediaUse.objects.filter(session__in=Session.objects.seen_by(viewer()))
    return Media.objects.filter(pk__in=shown.values("sha256"))
