"""Personal tokens: make one, recognise one, end one.  A token is shown once; the database knows only its hash."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
from collections.abc import Iterable
from typing import NamedTuple

from django.utils import timezone

from sessions.models import ApiToken, Scope

PREFIX = "ctxweb_"
"""In front of every token: scanners for secrets, and people, see what it is."""
TOKEN_BYTES = 32
NOTED_SECONDS = 60
"""The last use is noted at most this often."""


class NewToken(NamedTuple):
    """A token just made and its secret, which is not stored anywhere."""

    token: ApiToken
    secret: str


def make_token(
    *, name: str, scopes: Iterable[str] = (Scope.READ,), owner_id: int | None = None, days: int | None = None
) -> NewToken:
    """A token for ``owner_id``, ``scopes`` and ``days``, or until revoked; ValueError for no or unknown scopes."""
    kept = sorted({Scope(scope) for scope in scopes})
    if not kept:
        raise ValueError("a token needs a scope")
    secret = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
    token = ApiToken.objects.create(
        token_hash=digest(secret),
        ending=secret[-4:],
        owner_id=owner_id,
        name=name[:80],
        scopes=[str(scope) for scope in kept],
        expires_at=None if days is None else timezone.now() + dt.timedelta(days=days),
    )
    return NewToken(token, secret)


def find_token(secret: str) -> ApiToken | None:
    """The token behind a secret; None for one that is unknown, revoked, over, or of a closed account alike."""
    found = ApiToken.objects.open().select_related("owner").filter(token_hash=digest(secret)).first()
    if found is not None:
        now = timezone.now()
        if found.used_at is None or (now - found.used_at).total_seconds() > NOTED_SECONDS:
            ApiToken.objects.filter(pk=found.pk).update(used_at=now)
    return found


def revoke_token(*, token_id: int, owner_id: int | None) -> bool:
    """End a token of this account (None: one made without an account); False where there is none to end."""
    mine = ApiToken.objects.filter(pk=token_id, owner=owner_id, revoked_at=None)
    return bool(mine.update(revoked_at=timezone.now()))


def tokens_of(owner_id: int | None) -> tuple[ApiToken, ...]:
    """The tokens of an account that still work, newest first."""
    return tuple(ApiToken.objects.open().filter(owner=owner_id)[:100])


def digest(secret: str) -> str:
    """What is stored of a token, of an invitation or a link as well: enough to recognise it, not to use it."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
