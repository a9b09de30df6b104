"""Accounts of a team: inviting, joining, roles, leaving; and whose a session is."""

from __future__ import annotations

import datetime as dt
import secrets
import uuid
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session as SignedIn
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from sessions.models import Invitation, ReplayLink, Session, Upload
from sessions.services import deleting
from sessions.services.model_access import HANDLE, forget_key
from sessions.services.tokens import digest

TOKEN_BYTES = 32
INVITATION_DAYS = 7

TEAM, DELETE = "team", "delete"
"""What may become of the sessions of an account that goes, besides another account's name."""


class NewInvitation(NamedTuple):
    """An invitation just made and the token of its address, which is not stored anywhere."""

    invitation: Invitation
    token: str


class NotPossibleError(Exception):
    """What was asked cannot be done; its words say why and what to do."""


@dataclass(frozen=True, slots=True)
class AccountHoldings:
    """What an account holds: its sessions (``n_private`` of them its own), uploads, open links, saved views, tokens."""

    n_sessions: int
    n_private: int
    n_uploads: int
    n_links: int
    n_saved: int
    n_tokens: int


def accounts() -> list[tuple[User, int, int]]:
    """The accounts by name, each with how many sessions of the team's and of its own it has: one query."""
    of_session = "uploads__sessions"
    roots = Q(**{f"{of_session}__parent": None, f"{of_session}__branch_of": None, f"{of_session}__isnull": False})
    counted = User.objects.filter(is_active=True).annotate(
        n_team=Count(of_session, filter=roots & Q(**{f"{of_session}__private": False})),
        n_private=Count(of_session, filter=roots & Q(**{f"{of_session}__private": True})),
    )
    return [(user, user.n_team, user.n_private) for user in counted.order_by("username")]


def invite(
    *, maker_id: int | None = None, hint: str = "", is_admin: bool = False, days: int = INVITATION_DAYS
) -> NewInvitation:
    """An address that makes one account, once, within ``days``."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    invitation = Invitation.objects.create(
        token_hash=digest(token),
        hint=hint[:150],
        is_admin=is_admin,
        maker_id=maker_id,
        expires_at=timezone.now() + dt.timedelta(days=days),
    )
    return NewInvitation(invitation, token)


def find_invitation(*, token: str) -> Invitation | None:
    """The invitation behind ``token``; None if there is none, or it was used, or has expired: say no more than that."""
    return Invitation.objects.open().filter(token_hash=digest(token)).first()


def join(*, token: str, name: str, password: str) -> User | None:
    """Make the account that an invitation is for, once; None where it lets nobody in (any more).

    Raises ValidationError for a name or password that cannot be taken; the invitation then still stands.
    """
    with transaction.atomic():
        invitation = Invitation.objects.select_for_update().open().filter(token_hash=digest(token)).first()
        if invitation is None or not Invitation.objects.open().filter(pk=invitation.pk).update(used_at=timezone.now()):
            return None
        return make_account(name=name, password=password, is_admin=invitation.is_admin)


def make_account(*, name: str, password: str, is_admin: bool) -> User:
    """A new account; raises ValidationError.  Names that differ in case alone are one name."""
    user = User(username=User.normalize_username(name), is_superuser=is_admin)
    if User.objects.filter(username__iexact=user.username).exists():
        raise ValidationError({"name": "This name is taken. Choose another."})
    user.full_clean(exclude=["password"])
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationError({"password": error.messages}) from None
    user.set_password(password)
    user.save()
    return user


def set_role(*, user: User, is_admin: bool) -> None:
    """Make an account an admin or a member.  An admin's links and other ways in end; NotPossibleError for the last."""
    with transaction.atomic():
        if not is_admin:
            _keep_an_admin(user)
        demoted = not is_admin and User.objects.filter(pk=user.pk, is_superuser=True).exists()
        User.objects.filter(pk=user.pk).update(is_superuser=is_admin)
        if demoted:
            end_access(user=user)
            ReplayLink.objects.open().filter(maker=user).exclude(session__upload__owner=user).update(
                revoked_at=timezone.now()
            )


def set_password(*, user: User, password: str) -> None:
    """Give an account a new password, and end what the old one opened; raises ValidationError."""
    validate_password(password, user)
    user.set_password(password)
    with transaction.atomic():
        user.save(update_fields=["password"])
        end_access(user=user)


def end_access(*, user: User, keep_session_key: str | None = None) -> None:
    """End every way in that an account has or made besides its password; one browser may stay signed in.

    Invitations that it made, and an admin's that is meant for its name: whoever holds one makes an account of its own.
    Tokens; and sign-ins with the keys pasted there, looked for among all, since only their content says whose they are.
    """
    now = timezone.now()
    for_its_name = Q(is_admin=True, hint__iexact=user.get_username())
    Invitation.objects.open().filter(Q(maker=user) | for_its_name).delete()
    user.api_tokens.filter(revoked_at=None).update(revoked_at=now)
    for signed_in in SignedIn.objects.filter(expire_date__gt=now).exclude(session_key=keep_session_key).iterator():
        content = signed_in.get_decoded()
        if content.get(SESSION_KEY) == str(user.pk):
            forget_key(content.get(HANDLE, ""))
            signed_in.delete()


def _keep_an_admin(user: User) -> None:
    """Raise NotPossibleError where ``user`` is the only admin and others have accounts.  Call in a transaction."""
    admins = list(User.objects.select_for_update().filter(is_superuser=True, is_active=True))
    others = User.objects.filter(is_active=True).exclude(pk=user.pk).exists()
    if others and [admin.pk for admin in admins] == [user.pk]:
        raise NotPossibleError(f"{user} is the only admin. Make somebody else an admin first.")


def holdings(*, user: User) -> AccountHoldings:
    """What an account holds, which becomes homeless with it."""
    sessions = Session.objects.filter(upload__owner=user).latest_branches()
    return AccountHoldings(
        n_sessions=sessions.count(),
        n_private=sessions.filter(private=True).count(),
        n_uploads=Upload.objects.filter(owner=user).count(),
        n_links=ReplayLink.objects.open().filter(Q(maker=user)).count(),
        n_saved=user.saved_views.count(),
        n_tokens=user.api_tokens.open().count(),
    )


def remove_account(*, user: User, sessions_to: str, heir: User | None = None) -> None:
    """Remove an account for good: its links and tokens end, its saved views go.

    ``sessions_to``: its sessions become the team's (``TEAM``; private ones too) or are deleted (``DELETE``), if no
    ``heir`` gets them.  Raises NotPossibleError for the last admin and for an unknown choice.
    """
    if heir is None and sessions_to not in (TEAM, DELETE):
        raise NotPossibleError("Say what becomes of the sessions: the team's, another account's, or deleted.")
    if heir is not None and heir.pk == user.pk:
        raise NotPossibleError("The sessions cannot pass to the account that goes.")
    with transaction.atomic():
        _keep_an_admin(user)
        # Whoever signs in or uploads from here on finds the account closed.
        User.objects.filter(pk=user.pk).update(is_active=False)
        end_access(user=user)
        ReplayLink.objects.open().filter(maker=user).update(revoked_at=timezone.now())
    if sessions_to == DELETE and heir is None:
        deleting.delete(uploads=list(Upload.objects.filter(owner=user).values_list("pk", flat=True)))
    else:
        deleting.delete(uploads=_duplicate_uploads(user, heir))
    with transaction.atomic():
        uploads = Upload.objects.filter(owner=user)
        if heir is None:
            Session.objects.filter(upload__in=uploads).update(private=False)
            uploads.update(owner=None, private=False)
        else:
            uploads.update(owner=heir)
        User.objects.filter(pk=user.pk).delete()


def _duplicate_uploads(user: User, heir: User | None) -> list[uuid.UUID]:
    """Uploads whose bytes the heir (None: the team, without an owner) holds as well: bytes are kept once each."""
    theirs = Upload.objects.filter(owner=heir, followed=False)
    duplicates = Upload.objects.filter(owner=user, followed=False, sha256__in=theirs.values("sha256"))
    return list(duplicates.values_list("pk", flat=True))


def family(session: Session) -> list[str]:
    """The ids of a session, of those that started it, of its subagents, and of the branches of all: of one owner."""
    owner_id, top = session.upload.owner_id, session.branch_of or session
    for _ in range(deleting.MAX_FAMILY_DEPTH):
        above = Session.objects.select_related("upload").filter(pk=top.parent_id).first()
        if above is None or above.upload.owner_id != owner_id:
            break
        top = above
    ids, level = {top.pk}, {top.pk}
    for _ in range(deleting.MAX_FAMILY_DEPTH):
        below = Session.objects.filter(Q(parent__in=level) | Q(branch_of__in=level), upload__owner=owner_id)
        level = set(below.values_list("pk", flat=True)) - ids
        if not level:
            break
        ids |= level
    return sorted(ids)


def set_private(*, session: Session, private: bool) -> int:
    """Keep a session and its family to its owner, or share them; how many.  NotPossibleError where nobody owns it."""
    if private and session.upload.owner_id is None:
        raise NotPossibleError("This session belongs to no account, so it is the team's.")
    with transaction.atomic():
        keys = family(session)
        upload_ids = {upload.pk for upload in Upload.objects.select_for_update().filter(sessions__in=keys)}
        Session.objects.filter(pk__in=keys).update(private=private)
        for pk in upload_ids:
            has_private = Session.objects.filter(upload=pk, private=True).exists()
            Upload.objects.filter(pk=pk).update(private=has_private)
    return Session.objects.latest_branches().filter(pk__in=keys).count()
