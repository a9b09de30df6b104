"""Views that somebody keeps: a name, a note and the address of a replay, of two, or of a sweep."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from sessions.models.session import Session


class SavedKind(models.TextChoices):
    """What a saved view shows."""

    REPLAY = "replay", "Replay"
    AB = "ab", "A/B"
    SWEEP = "sweep", "Sweep"


class SavedQuerySet(models.QuerySet["SavedView"]):
    """Saved views by who may see them."""

    def seen_by(self, owner_id: int | None) -> SavedQuerySet:
        """Those of one account; all of them where there are no accounts (None)."""
        return self if owner_id is None else self.filter(owner_id=owner_id)


class SavedView(models.Model):
    """A view kept under a name; ``state`` is its query string, ``owner`` None where it was saved without an account."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="saved_views")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views", null=True, blank=True
    )
    kind = models.CharField(max_length=8, choices=SavedKind.choices)
    state = models.TextField(blank=True)
    name = models.CharField(max_length=120)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SavedQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (models.CheckConstraint(condition=Q(kind__in=SavedKind.values), name="saved_kind_known"),)

    def __str__(self) -> str:
        return self.name
