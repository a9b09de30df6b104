"""Ways in besides a password: invitations for people, tokens for programs.  Only hashes of both are stored."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Named questions about invitations."""

    def open(self) -> InvitationQuerySet:
        """Invitations that still let somebody in."""
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
        """Tokens that still work: not revoked, not expired, of an account that may sign in."""
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
