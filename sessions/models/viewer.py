"""Who is looking: what they see and may change follows from it, wherever a request leads.

The middleware names the viewer of a request where accounts are required.  The console, workers and a server without
accounts see everything, as their owner does.  Of invitations and tokens only hashes are stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import Q
from django.utils import timezone


@dataclass(frozen=True, slots=True)
class Viewer:
    """An account by its id; None: nobody signed in.  ``is_admin`` sees and may change everything."""

    user_id: int | None = None
    is_admin: bool = False

    def owns(self, owner_id: int | None) -> bool:
        """Whether what this account owns is the viewer's to delete, revoke and share; admins' is all."""
        return self.is_admin or (self.user_id is not None and owner_id == self.user_id)


EVERYTHING = Viewer(is_admin=True)
"""No account is asked for: the console, a worker, a server for one person."""

_viewer: ContextVar[Viewer] = ContextVar("ctxweb_viewer", default=EVERYTHING)


def viewer() -> Viewer:
    return _viewer.get()


@contextmanager
def seen_as(who: Viewer) -> Iterator[None]:
    token = _viewer.set(who)
    try:
        yield
    finally:
        _viewer.reset(token)


def as_now(who: Viewer) -> Viewer:
    """``who`` with the rights that the account has by now: another role, or none where it is closed or gone."""
    if who.user_id is None:
        return who
    user = get_user_model().objects.filter(pk=who.user_id, is_active=True).first()
    return Viewer() if user is None else Viewer(user.pk, is_admin=user.is_superuser)


def visible(who: Viewer, *, private: str, owner: str) -> Q:
    """What ``who`` sees of rows that are somebody's alone or the team's, by the names of the two fields."""
    if who.is_admin:
        return Q()
    if who.user_id is None:
        return Q(pk__in=())
    return Q(**{private: False}) | Q(**{owner: who.user_id})


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Named questions about invitations."""

    def open(self) -> InvitationQuerySet:
        return self.filter(used_at=None, expires_at__gt=timezone.now())


class Invitation(models.Model):
    """An address that makes one account, once; ``hint`` says for whom it was meant."""

    token_hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=150, blank=True)
    is_admin = models.BooleanField(default=False)
    maker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="invitations", null=True, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return self.hint or f"invitation {self.pk}"


class Scope(models.TextChoices):
    """What a token may be used for."""

    READ = "read", "List and read sessions"
    UPLOAD = "upload", "Upload files"
    SHARE = "share", "Make and revoke replay links"


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    """Named questions about tokens."""

    def open(self) -> ApiTokenQuerySet:
        in_time = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(in_time, Q(owner=None) | Q(owner__is_active=True), revoked_at=None)


class ApiToken(models.Model):
    """A personal token: whoever shows it acts for ``owner`` within ``scopes``; ``ending`` tells tokens apart.

    ``owner`` is None where it was made without an account; with accounts required such a token opens nothing.
    """

    token_hash = models.CharField(max_length=64, unique=True)
    ending = models.CharField(max_length=4)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens", null=True, blank=True
    )
    name = models.CharField(max_length=80)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return self.name
