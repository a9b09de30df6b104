"""Replay links: unguessable, revocable URLs to one view with its state frozen."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions.engine.redact import BY_KEY, Choice
from sessions.models.session import Session


class LinkedView(models.TextChoices):
    """The page a link shows."""

    SESSION = "session"
    REPLAY = "replay"
    DIFF = "diff"


class LinkQuerySet(models.QuerySet["ReplayLink"]):
    """Named questions about links."""

    def open(self) -> LinkQuerySet:
        """Links that lead somewhere: neither revoked nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at__isnull=True)


class ReplayLink(models.Model):
    """One link: only a hash of its token is stored, so the database cannot give it away.

    ``state`` is the query string of the view at the moment of sharing.  ``left_in`` are the kinds of secrets that the
    sender lets through, by key; ``words`` what else to take out; ``password`` a hash, empty where none is asked for.
    """

    token_hash = models.CharField(max_length=64, unique=True)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="links")
    view = models.CharField(max_length=8, choices=LinkedView.choices)
    state = models.TextField(blank=True)
    title = models.CharField(max_length=255, blank=True)
    note = models.TextField(blank=True)
    maker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, related_name="links", null=True, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    password = models.CharField(max_length=128, blank=True)
    left_in = models.JSONField(default=list, blank=True)
    words = models.JSONField(default=list, blank=True)
    n_views = models.PositiveIntegerField(default=0)
    viewed_at = models.DateTimeField(null=True, blank=True)

    objects = LinkQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (models.CheckConstraint(condition=Q(view__in=LinkedView.values), name="link_view_known"),)

    def __str__(self) -> str:
        return self.title or f"{self.view} of {self.session_id}"

    @property
    def revoked(self) -> bool:
        """Whether the link no longer opens."""
        return self.revoked_at is not None

    @property
    def expired(self) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def choice(self) -> Choice:
        """What is taken out before anyone sees it."""
        return Choice(frozenset(BY_KEY.keys() - set(self.left_in)), tuple(self.words))
