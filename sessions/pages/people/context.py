"""What the page of people shows: a line for each account, a line for each link."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.base.words import counted
from sessions.models import ReplayLink, Viewer

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class AccountRow:
    """One account; ``n_private`` is known to its owner and to admins alone."""

    user: User
    role: str
    n_team: int
    n_private: int | None
    is_me: bool


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One replay link: by whom, for whom, until when; ``may_revoke`` where its end is the viewer's to decide."""

    link: ReplayLink
    maker: str
    opens_for: str
    state: str
    may_revoke: bool


def accounts(found: Iterable[tuple[User, int, int]], who: Viewer) -> tuple[AccountRow, ...]:
    """One row for each account with its sessions: the team's, and its own."""
    return tuple(
        AccountRow(
            user,
            "admin" if user.is_superuser else "member",
            n_team,
            n_private if who.is_admin or who.user_id == user.pk else None,
            who.user_id == user.pk,
        )
        for user, n_team, n_private in found
    )


def links(found: Iterable[ReplayLink], who: Viewer) -> tuple[LinkRow, ...]:
    """One row for each link."""
    return tuple(
        LinkRow(
            link,
            str(link.maker) if link.maker else "–",
            "whoever has the address and the password" if link.password else "whoever has the address",
            "revoked" if link.revoked else "expired" if link.ended else "open",
            who.owns(link.maker_id) or who.owns(link.session.upload.owner_id),
        )
        for link in found
    )


def changed(n: int, *, private: bool) -> str:
    """What a change did, as the next page says it."""
    sessions = counted(n, "session")
    return f"Only you and admins see {sessions} now." if private else f"The team sees {sessions} now."
