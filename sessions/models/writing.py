"""Jobs that have a model write the summaries of a replay."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from sessions.models.session import Session
from sessions.models.work import Work


class Writing(models.TextChoices):
    """Where a summary job stands."""

    QUEUED = "queued"
    WRITING = "writing"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Purpose(models.TextChoices):
    """What a model is asked for."""

    SUMMARIES = "summaries"
    JUDGEMENT = "judgement"


class SummaryJob(Work):
    """One replay whose summaries are being written, or one event that is judged: what its page polls and cancels.

    ``options`` are the replay's, as the engine takes them, or the event's; ``query`` is its page's address.
    ``n_total`` is how much was wanted when it began: each summary written may change what follows.  ``n_chars`` is of
    the one under way.  The key is not here: whoever runs the job brings it.
    """

    active = Writing.WRITING

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="summary_jobs")
    purpose = models.CharField(max_length=9, choices=Purpose.choices, default=Purpose.SUMMARIES)
    options = models.JSONField(default=dict)
    query = models.TextField(blank=True)
    model = models.CharField(max_length=100)
    state = models.CharField(max_length=9, choices=Writing.choices, default=Writing.QUEUED)
    n_written = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField()
    n_chars = models.PositiveIntegerField(default=0)
    cancel_asked = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = (models.CheckConstraint(condition=Q(state__in=Writing.values), name="writing_state_known"),)

    def __str__(self) -> str:
        return f"{self.n_written} of {self.n_total} summaries of {self.session_id}: {self.state}"
