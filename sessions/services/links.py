"""Replay links: create, open, revoke.  The token is shown once; the database knows only its hash."""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

from django.db.models import F
from django.utils import timezone

from sessions.models import LinkedView, ReplayLink, Session

TOKEN_BYTES = 16
"""128 random bits."""


class NewLink(NamedTuple):
    """A link just made and the token of its URL, which is not stored anywhere."""

    link: ReplayLink
    token: str


def create_link(*, session: Session, view: str, state: str = "", title: str = "", note: str = "") -> NewLink:
    """Freeze ``state`` (a query string) of one view of ``session`` behind an unguessable token.

    Raises ValueError for a view that cannot be shared.
    """
    token = secrets.token_urlsafe(TOKEN_BYTES)
    link = ReplayLink.objects.create(
        token_hash=_digest(token), session=session, view=LinkedView(view), state=state, title=title[:255], note=note
    )
    return NewLink(link, token)


def open_link(*, token: str) -> ReplayLink | None:
    """The link behind ``token``, its view counted; None if there is none or it was revoked: say no more than that."""
    digest = _digest(token)
    if not ReplayLink.objects.open().filter(token_hash=digest).update(n_views=F("n_views") + 1):
        return None
    return ReplayLink.objects.select_related("session__upload", "session__parent").get(token_hash=digest)


def find_link(*, token: str) -> ReplayLink | None:
    """The same without counting a view: for the parts that a page already open asks for."""
    return (
        ReplayLink.objects.open()
        .select_related("session__upload", "session__parent")
        .filter(token_hash=_digest(token))
        .first()
    )


def revoke_link(*, link_id: int) -> ReplayLink:
    """Make the link lead nowhere, for good; revoking twice keeps the first moment.  Raises ReplayLink.DoesNotExist."""
    ReplayLink.objects.open().filter(pk=link_id).update(revoked_at=timezone.now())
    return ReplayLink.objects.select_related("session").get(pk=link_id)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
