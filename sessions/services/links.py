"""Replay links: create, open, revoke.  The token is shown once; the database knows only its hash."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from ctxweb.version import ctxweb_version
from sessions.engine.redact import BY_KEY, EVERYTHING, Choice
from sessions.models import LinkedView, ReplayLink, Session
from sessions.services.tokens import digest

TOKEN_BYTES = 16
"""128 random bits."""
MOST_REPLIES = 100
"""Replies that one link takes in all."""


class TooManyRepliesError(Exception):
    """A link has as many replies as it takes."""


class NewLink(NamedTuple):
    """A link just made and the token of its URL, which is not stored anywhere."""

    link: ReplayLink
    token: str


@dataclass(frozen=True, slots=True)
class Terms:
    """Who may open a link and how long, what it leaves out, and what its recipients may do with a replay."""

    days: int | None = None
    password: str = ""
    choice: Choice = EVERYTHING
    moves: bool = True
    takes_replies: bool = False


def create_link(
    *,
    session: Session,
    view: str,
    state: str = "",
    title: str = "",
    note: str = "",
    terms: Terms | None = None,
    remarks: Sequence[tuple[int, str]] = (),
    maker_id: int | None = None,
) -> NewLink:
    """Freeze ``state`` (a query string) of a view behind a random token; ``remarks`` by message.  Raises ValueError."""
    terms = terms or Terms()
    return _made(
        session=session,
        view=LinkedView(view),
        state=state,
        title=title,
        note=note,
        remarks=[list(one) for one in remarks],
        maker_id=maker_id,
        expires_at=None if terms.days is None else timezone.now() + dt.timedelta(days=terms.days),
        password=make_password(terms.password) if terms.password else "",
        left_in=sorted(BY_KEY.keys() - terms.choice.kinds),
        words=list(terms.choice.words),
        moves=terms.moves and view == LinkedView.REPLAY,
        takes_replies=terms.takes_replies and terms.moves and view == LinkedView.REPLAY,
    )


def _made(*, title: str, **fields: Any) -> NewLink:
    """A link under a random token."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    fields |= {"token_hash": digest(token), "title": title[:255], "version": ctxweb_version()}
    return NewLink(ReplayLink.objects.create(**fields), token)


def reply(*, to: ReplayLink, state: str, title: str, note: str, author: str, maker_id: int | None) -> NewLink:
    """A recipient's answer: a link with their setting, on the same terms; raises TooManyRepliesError and ValueError."""
    if not to.takes_replies or to.reply_to_id is not None:
        raise ValueError("this link takes no replies")
    with transaction.atomic():
        first = ReplayLink.objects.select_for_update().get(pk=to.pk)
        if first.replies.count() >= MOST_REPLIES:
            raise TooManyRepliesError(f"This link has {MOST_REPLIES} replies; it takes no more.")
        return _made(
            session_id=first.session_id, view=LinkedView.REPLAY, state=state, title=title, note=note,
            maker_id=maker_id, author=author, reply_to=first, moves=True, expires_at=first.expires_at,
            password=first.password, left_in=first.left_in, words=first.words,
        )  # fmt: skip


def find_link(*, token: str) -> ReplayLink | None:
    """The link behind ``token``; None if there is none, or it was revoked, or has expired: say no more than that."""
    known = ReplayLink.objects.open().select_related("session__upload", "session__parent", "reply_to", "maker")
    return known.filter(token_hash=digest(token)).first()


def keep_results(*, link_id: int, results: bytes, version: str, prices: str, title: str) -> None:
    """What the link's page shows, as this version computed it, in place of what was kept before."""
    ReplayLink.objects.filter(pk=link_id).update(results=results, version=version, prices=prices, title=title)


def count_view(link: ReplayLink) -> None:
    ReplayLink.objects.filter(pk=link.pk).update(n_views=F("n_views") + 1, viewed_at=timezone.now())


def renew_link(*, link_id: int) -> NewLink:
    """A new address for a link, the old one leads nowhere; ReplayLink.DoesNotExist where it is revoked or expired."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    if not ReplayLink.objects.open().filter(pk=link_id).update(token_hash=digest(token)):
        raise ReplayLink.DoesNotExist(f"no open link {link_id}")
    return NewLink(ReplayLink.objects.select_related("session").get(pk=link_id), token)


def revoke_link(*, link_id: int) -> ReplayLink:
    """Make the link lead nowhere, for good; revoking twice keeps the first moment.  Raises ReplayLink.DoesNotExist."""
    ReplayLink.objects.filter(pk=link_id, revoked_at=None).update(revoked_at=timezone.now())
    return ReplayLink.objects.select_related("session").get(pk=link_id)
