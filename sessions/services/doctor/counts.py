"""Sessions whose rows are not all there: the upload is read again, under the same ids."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db.models import Count, F, Q

from sessions.adapters import storage
from sessions.models import Media, MediaUse, Session, State, Upload
from sessions.services.doctor.finding import Finding
from sessions.services.uploads import read_again

if TYPE_CHECKING:
    from collections.abc import Iterator


def incomplete() -> Iterator[Finding]:
    """Sessions without facts or with too few message rows, and images that are known to no table."""
    counted = Session.objects.annotate(n_rows=Count("messages")).filter(
        ~Q(n_rows=F("n_messages")) | Q(facts__isnull=True)
    )
    n_rows = dict(counted.values_list("pk", "n_rows"))
    for session in Session.objects.filter(pk__in=n_rows).select_related("upload"):
        has = n_rows[session.pk]
        what = f"{has} of {session.n_messages} messages" if has != session.n_messages else "no facts"
        yield reread("incomplete", f"Session {session.pk} has {what}.", session.upload)
    known = Media.objects.values("pk")
    for use in MediaUse.objects.exclude(sha256__in=known).select_related("session__upload"):
        text = f"Session {use.session_id} shows {use.sha256[:12]}, of which nothing is known."
        yield reread("incomplete", text, use.session.upload)


def reread(kind: str, text: str, upload: Upload) -> Finding:
    """A finding that reading the upload again mends, where its bytes are there."""
    if upload.status != State.DONE:
        return Finding(kind, text, "nothing more: its upload is about to be read", _nothing)
    if storage.exists(upload.sha256):
        return Finding(kind, text, f"reads {upload.filename} again", partial(read_again, upload=upload))
    return Finding(kind, text, f"upload {upload.filename} again: its bytes are lost")


def _nothing() -> None:
    """The worker mends it."""
