"""What full-text search knows of: which messages are indexed, in which state of their session.

The terms themselves are in a table of the database's own kind (``adapters.fulltext``); no text is kept.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from sessions.models.figures import CatchingUp
from sessions.models.session import Session
from sessions.models.work import Work


class SearchPart(models.Model):
    """Messages ``first`` to ``stop`` (excluded) of a session, indexed together.

    ``prints`` are four bytes a message, a checksum of its text; ``places`` where each stands in the upload
    (``engine.places``).  ``live``: its terms are the session's; else they wait to be removed.
    """

    id = models.BigAutoField(primary_key=True)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="search_parts")
    first = models.PositiveIntegerField()
    stop = models.PositiveIntegerField()
    live = models.BooleanField(default=True)
    prints = models.BinaryField()
    places = models.BinaryField()

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(first__lt=models.F("stop")), name="search_part_not_empty"),)

    def __str__(self) -> str:
        return f"messages {self.first} to {self.stop} of {self.session_id}"


class SearchedSession(models.Model):
    """A session whose messages are all indexed as they were at ``version``, by version ``rules`` of the terms.

    ``problem`` says why they could not be; then what is indexed of it stays as it was.
    """

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="searched")
    rules = models.PositiveSmallIntegerField()
    version = models.CharField(max_length=16, blank=True)
    problem = models.CharField(max_length=400, blank=True)

    def __str__(self) -> str:
        return f"index of {self.session_id}"


class SearchRun(Work):
    """The indexing of what is stored and not indexed yet: one row, queued again whenever there is more to do."""

    active = CatchingUp.RUNNING

    state = models.CharField(max_length=9, choices=CatchingUp.choices, default=CatchingUp.QUEUED)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(state__in=CatchingUp.values), name="search_state_known"),)

    def __str__(self) -> str:
        return f"index {self.n_done} of {self.n_total}: {self.state}"
