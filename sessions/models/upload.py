"""Uploads, the jobs that read them, and what every row of background work has."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from sessions.models.viewer import Viewer, visible

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


class State(models.TextChoices):
    """Where an upload and its job stand."""

    QUEUED = "queued"
    READING = "reading"
    DONE = "done"
    FAILED = "failed"


UNFINISHED = (State.QUEUED, State.READING)
MIXED = "mixed"
"""The format of an archive whose files have several."""


class UploadQuerySet(models.QuerySet["Upload"]):
    """Named questions about uploads."""

    def seen_by(self, who: Viewer) -> UploadQuerySet:
        """Uploads that ``who`` sees: their own, and those that hold nothing but the team's."""
        return self.filter(visible(who, private="private", owner="owner"))

    def sent_by(self, who: Viewer) -> UploadQuerySet:
        """Files that ``who`` uploaded; without accounts all, and those from before there were accounts are admins'."""
        found = self.filter(followed=False)
        if who.user_id is None:
            return found if who.is_admin else found.none()
        return found.filter(Q(owner=who.user_id) | (Q(owner=None) if who.is_admin else Q(pk__in=())))

    def unfinished(self) -> UploadQuerySet:
        return self.filter(status__in=UNFINISHED)

    def called(self, upload_id: uuid.UUID) -> Upload:
        """The upload of that id, or the one that a file of that id continued; raises Upload.DoesNotExist."""
        came_as = Continuation.objects.filter(pk=upload_id).first()
        found = self.get(pk=came_as.upload_id if came_as else upload_id)
        found.came_as = came_as
        return found


class Upload(models.Model):
    """One file as it arrived: its bytes are the blob ``sha256``, kept unchanged.

    ``reason`` says by what the format was recognised, ``error`` why nothing could be read.  ``skipped`` holds the
    first 200 of ``n_skipped`` unreadable parts as [line, offset, reason]; ``fates`` what became of the bytes, one
    [name, lines, bytes, is_context, is_part, is_opaque] each (the engine's Fate).  An archive has ``members``.
    ``followed`` uploads hold what a watched file held when it was last read (``LiveSource``): two such may be equal, so
    only the others are one per sha256 and owner.  ``n_deleted`` counts the sessions that were deleted while the upload
    stayed.  ``owner`` is who sent it, None where no account was asked for; ``private``: a session in it is the owner's
    alone, and sessions yet to be read will be.  ``dismissed``: its row has left the list of uploads.  ``head`` is the
    sha256 of its first bytes, by which longer and shorter versions of it are found; "" where it has too few, or is no
    single file.  ``came_as``, where it was found by the id of a longer or shorter file, is that file.
    """

    came_as: Continuation | None = None

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    sha256 = models.CharField(max_length=64, db_index=True)
    followed = models.BooleanField(default=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, related_name="uploads", null=True, blank=True
    )
    private = models.BooleanField(default=False)
    filename = models.CharField(max_length=255)
    n_bytes = models.PositiveBigIntegerField()
    status = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    format = models.CharField(max_length=40, blank=True)
    reason = models.TextField(blank=True)
    error = models.TextField(blank=True)
    warnings = models.JSONField(default=list, blank=True)
    skipped = models.JSONField(default=list, blank=True)
    n_skipped = models.PositiveIntegerField(default=0)
    fates = models.JSONField(default=list, blank=True)
    n_deleted = models.PositiveIntegerField(default=0)
    dismissed = models.BooleanField(default=False)
    head = models.CharField(max_length=64, blank=True, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    objects = UploadQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "id")
        indexes = (models.Index(fields=("status", "dismissed", "private", "owner"), name="upload_status"),)
        constraints = (
            models.CheckConstraint(condition=Q(status__in=State.values), name="upload_status_known"),
            models.UniqueConstraint(
                fields=("sha256",), condition=Q(followed=False, owner__isnull=True), name="upload_bytes_once"
            ),
            models.UniqueConstraint(
                fields=("sha256", "owner"), condition=Q(followed=False), name="upload_bytes_once_each"
            ),
            models.CheckConstraint(condition=~Q(status="failed") | ~Q(error=""), name="upload_failed_says_why"),
        )

    def __str__(self) -> str:
        return self.filename

    def get_absolute_url(self) -> str:
        return reverse("sessions:upload_download", args=[self.pk])

    @property
    def asked_as(self) -> uuid.UUID:
        """The id by which it was found."""
        return self.came_as.pk if self.came_as else self.pk

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen to it by itself."""
        return self.status not in UNFINISHED


class Continuation(models.Model):
    """A file that turned out to be an upload's with more behind it, or the beginning of it (``is_beginning``).

    The upload holds the longer of the two and goes on under its own id; ``id`` is what the file's own upload had, so
    that whoever asks for that finds this one.  ``n_new`` is how many messages it brought.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="continuations")
    is_beginning = models.BooleanField(default=False)
    n_new = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)


class MemberStatus(models.TextChoices):
    """What a file of an archive turned out to be; ``waits`` while it is yet to be read."""

    WAITS = "waits"
    READ = "read"
    OTHER = "other"
    FAILED = "failed"


class Member(models.Model):
    """One file of an uploaded archive: ``name`` is its path there, never a path on our disk.

    ``error`` says why it is no transcript or could not be read, and of a ``read`` one why it ends early.  ``sha256`` is
    the blob of its bytes while it waits; afterwards its sessions name that.
    """

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="members")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=1100, blank=True)
    n_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64, blank=True)
    status = models.CharField(max_length=6, choices=MemberStatus.choices)
    format = models.CharField(max_length=40, blank=True)
    n_sessions = models.PositiveIntegerField(default=0)
    n_skipped = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ("upload", "position")
        constraints = (
            models.UniqueConstraint(fields=("upload", "position"), name="member_position_once"),
            models.CheckConstraint(condition=Q(status__in=MemberStatus.values), name="member_status_known"),
            models.CheckConstraint(
                condition=Q(status__in=("read", "waits")) | ~Q(error=""), name="member_unread_says_why"
            ),
        )


class Job(Work):
    """The truth about one upload's reading: what workers take it from and what the page polls."""

    active = State.READING

    upload = models.OneToOneField(Upload, on_delete=models.CASCADE, related_name="job")
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    done_bytes = models.PositiveBigIntegerField(default=0)
    total_bytes = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(state__in=State.values), name="job_state_known"),
            models.CheckConstraint(condition=Q(done_bytes__lte=F("total_bytes")), name="job_done_within_total"),
        )
        indexes = (models.Index(fields=("state",), name="job_state"),)


class Part(Work):
    """Some files of an archive, read as one piece of work: the members at positions ``start`` to ``stop``.

    ``found`` is what the import's report takes from them: the ids of their ``sessions``, ``skipped``, ``warnings``,
    ``fates``.  The archive's own job makes the parts, reads those that nobody else takes, and ends when all are done.
    """

    active = State.READING

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="parts")
    start = models.PositiveIntegerField()
    stop = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    done_bytes = models.PositiveBigIntegerField(default=0)
    total_bytes = models.PositiveBigIntegerField(default=0)
    found = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("upload", "start"), name="part_once"),
            models.CheckConstraint(condition=Q(state__in=State.values), name="part_state_known"),
            models.CheckConstraint(condition=Q(start__lt=F("stop")), name="part_of_something"),
        )
        indexes = (models.Index(fields=("state",), name="part_state"),)
