"""What every kind of background work shares: the row is the queue."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

QUEUED, FAILED = "queued", "failed"
"""States that every kind of work has; what it is called while it is done differs (``Work.active``)."""


class Work(models.Model):
    """One piece of work, who does it and how far it is; services.queue alone moves it from state to state.

    ``claims`` counts who ever took it and fences them: only the newest claim may write.  ``attempts`` counts the
    processes that this work ended, ``losses`` those that went away for another reason (a restart, a kill).  ``worker``
    names the process that has it, ``beats`` grows while that process lives, ``heartbeat_at`` is when it last did.
    ``phase`` is what it is at, ``ending`` how its last process ended.
    """

    active: ClassVar[str]
    """The value of ``state`` while somebody works on it."""

    state: str
    claims = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=300, blank=True)
    beats = models.PositiveIntegerField(default=0)
    heartbeat_at = models.DateTimeField()
    phase = models.CharField(max_length=20, blank=True)
    ending = models.TextField(blank=True)
    error = models.TextField(blank=True)

    class Meta:
        abstract = True
