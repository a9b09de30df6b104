"""Sweeps that run in the background."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from sessions.models.work import Work


class Sweeping(models.TextChoices):
    """Where a sweep stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class SweepRun(Work):
    """One sweep over one or several sessions: what it replays, how far it is, its rows as they come.

    ``key`` names what is computed (the options and each session's version), so that the same sweep is found again;
    ``options`` are the sweep's as ``services.sweeping`` takes them, ``query`` its page's address.  ``rows`` holds, by
    session id, what each setting came to, in the order of the grid; a run taken up again goes on behind them.
    """

    active = Sweeping.RUNNING

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.CharField(max_length=64, unique=True)
    query = models.TextField(blank=True)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=9, choices=Sweeping.choices, default=Sweeping.QUEUED)
    rows = models.JSONField(default=dict)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField()
    cancel_asked = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = (models.CheckConstraint(condition=Q(state__in=Sweeping.values), name="sweeping_state_known"),)

    def __str__(self) -> str:
        return f"{self.n_done} of {self.n_total} settings: {self.state}"
