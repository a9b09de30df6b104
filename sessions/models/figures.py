"""What is worked out of sessions once they are stored, and the runs that do it; terms of the search lie apart."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from sessions.models.session import Session
from sessions.models.upload import Work


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


class SessionColumns(models.Model):
    """Values of one session, in sealed sections; worked out again where ``key``, what they rest on, is another."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="columns", db_index=False)
    name = models.CharField(max_length=20)
    key = models.CharField(max_length=64)
    data = models.BinaryField()

    class Meta:
        verbose_name_plural = "session columns"
        constraints = (models.UniqueConstraint(fields=("session", "name"), name="session_columns_once"),)


class ColumnsRun(Work):
    """The working out of what a long session's pages keep, queued when its facts are written; ``phase`` is a page."""

    active = CatchingUp.RUNNING

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="columns_run")
    state = models.CharField(max_length=9, choices=CatchingUp.choices, default=CatchingUp.QUEUED)

    class Meta:
        indexes = (models.Index(fields=("state",), name="columns_run_state"),)
        constraints = (models.CheckConstraint(condition=Q(state__in=CatchingUp.values), name="columns_state_known"),)


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


class SearchedSession(models.Model):
    """A session whose messages are indexed as they were at ``version``, by ``rules``; ``problem``: why they are not."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="searched")
    rules = models.PositiveSmallIntegerField()
    version = models.CharField(max_length=16, blank=True)
    problem = models.CharField(max_length=400, blank=True)


class SearchRun(Work):
    """The indexing of what is stored and not indexed yet: one row, queued again whenever there is more to do."""

    active = CatchingUp.RUNNING

    state = models.CharField(max_length=9, choices=CatchingUp.choices, default=CatchingUp.QUEUED)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(state__in=CatchingUp.values), name="search_state_known"),)


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
