"""What was worked out of a session once, for every process to read."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from sessions.models.figures import CatchingUp
from sessions.models.session import Session
from sessions.models.work import Work


class SessionColumns(models.Model):
    """Values of one session under ``name``, in sealed sections (``engine.sealed``).

    ``key`` names what they were worked out from and by: under another one they are worked out again.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="columns", db_index=False)
    name = models.CharField(max_length=20)
    key = models.CharField(max_length=64)
    data = models.BinaryField()

    class Meta:
        verbose_name_plural = "session columns"
        constraints = (models.UniqueConstraint(fields=("session", "name"), name="session_columns_once"),)

    def __str__(self) -> str:
        return f"{self.name} of {self.session_id}"


class ColumnsRun(Work):
    """The working out of what the pages of one long session keep; queued whenever its facts are written.

    ``phase`` names the page that it is at.
    """

    active = CatchingUp.RUNNING

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="columns_run")
    state = models.CharField(max_length=9, choices=CatchingUp.choices, default=CatchingUp.QUEUED)

    class Meta:
        indexes = (models.Index(fields=("state",), name="columns_run_state"),)
        constraints = (models.CheckConstraint(condition=Q(state__in=CatchingUp.values), name="columns_state_known"),)

    def __str__(self) -> str:
        return f"columns of {self.session_id}: {self.state}"
