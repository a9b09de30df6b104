"""What each session adds to the figures over many, and the work of catching up on it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from sessions.models.session import Session
from sessions.models.work import Work


class SessionFigures(models.Model):
    """``engine.fleet.part.Part`` of one session, as worked out by version ``rules`` (0: to be worked out again).

    ``tried`` are [threshold, compactions, dollars low, dollars high, fits] each.
    """

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="figures")
    rules = models.PositiveSmallIntegerField(db_index=True)
    agent = models.CharField(max_length=60, blank=True, db_index=True)
    client = models.CharField(max_length=160, blank=True, db_index=True)
    project = models.CharField(max_length=255, blank=True, db_index=True)
    week = models.CharField(max_length=8, blank=True, db_index=True)
    n_requests = models.PositiveIntegerField(default=0)
    n_compactions = models.PositiveIntegerField(default=0)
    n_false = models.PositiveIntegerField(default=0)
    n_refused = models.PositiveIntegerField(default=0)
    n_missed = models.PositiveIntegerField(default=0)
    n_thrash = models.PositiveIntegerField(default=0)
    n_overcounted = models.PositiveIntegerField(default=0)
    tokens_again = models.PositiveBigIntegerField(default=0)
    dollars = models.FloatField(null=True, blank=True)
    dollars_above = models.FloatField(null=True, blank=True)
    tried = models.JSONField(default=list, blank=True)

    class Meta:
        verbose_name_plural = "session figures"

    def __str__(self) -> str:
        return f"figures of {self.session_id}"


class CatchingUp(models.TextChoices):
    """Where the catching up stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class FiguresRun(Work):
    """Working out the figures of sessions that were stored before version ``rules`` of them."""

    active = CatchingUp.RUNNING

    rules = models.PositiveSmallIntegerField(unique=True)
    state = models.CharField(max_length=9, choices=CatchingUp.choices, default=CatchingUp.QUEUED)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(state__in=CatchingUp.values), name="catching_up_state_known"),
        )

    def __str__(self) -> str:
        return f"figures {self.n_done} of {self.n_total}: {self.state}"
