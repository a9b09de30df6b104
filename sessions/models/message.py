"""Message rows for lists and filters, and the media that messages show.

A message's text is not here: it is read again from the upload (``selectors.message_contents``).
"""

from __future__ import annotations

from enum import IntFlag

from django.db import models
from django.db.models import Q

from sessions.models.session import Session, TokenLabel

ROLES = ("user", "assistant", "system")


class Flag(IntFlag):
    """What a list shows about a message besides its figures; stored as one integer."""

    TYPED = 1
    META = 2
    ATTACHMENT = 4
    SUMMARY = 8
    REINJECTED = 16
    ERROR = 32
    APPROXIMATE = 64


class MessageRow(models.Model):
    """One message of a session's selected branch, as a list row shows it.

    ``index`` is 0-based; ``kinds`` the distinct block kinds in order of appearance, comma-separated, parts of tool
    results included; ``overcount`` the largest wire bytes / tokens of its images (null without images); ``request``
    the index of the request it is the reply to and ``context_tokens`` that request's context (null elsewhere).
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="messages", db_index=False)
    index = models.PositiveIntegerField()
    role = models.CharField(max_length=10)
    kinds = models.CharField(max_length=80, blank=True)
    preview = models.CharField(max_length=255, blank=True)
    wire_bytes = models.PositiveBigIntegerField()
    pressure_bytes = models.PositiveBigIntegerField()
    tokens = models.PositiveBigIntegerField()
    label = models.CharField(max_length=10, choices=TokenLabel.choices)
    overcount = models.FloatField(null=True, blank=True)
    context_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    request = models.PositiveIntegerField(null=True, blank=True)
    flags = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ("session_id", "index")
        constraints = (
            models.UniqueConstraint(fields=("session", "index"), name="message_index_once"),
            models.CheckConstraint(condition=Q(role__in=ROLES), name="message_role_known"),
            models.CheckConstraint(condition=Q(label__in=TokenLabel.values), name="message_tokens_labelled"),
            models.CheckConstraint(
                condition=Q(context_tokens__isnull=True) | Q(request__isnull=False),
                name="message_context_has_request",
            ),
        )

    def __str__(self) -> str:
        return f"{self.session_id} message {self.index}"

    @property
    def kind_list(self) -> list[str]:
        """The block kinds as a list."""
        return self.kinds.split(",") if self.kinds else []

    @property
    def flag_set(self) -> Flag:
        """The flags, for membership tests: ``Flag.ERROR in row.flag_set``."""
        return Flag(self.flags)


class Media(models.Model):
    """One image or document, stored once: the blob ``sha256`` of its decoded bytes.

    ``width`` and ``height`` are pixels as the header tells them, 0 where it could not be read.  ``thumbnail`` is WebP
    of at most 10 KB, None until it is made, empty where it cannot be (``services.thumbnails``).
    """

    sha256 = models.CharField(primary_key=True, max_length=64)
    media_type = models.CharField(max_length=100)
    n_bytes = models.PositiveBigIntegerField()
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    thumbnail = models.BinaryField(null=True, editable=False)

    class Meta:
        verbose_name_plural = "media"

    def __str__(self) -> str:
        return f"{self.media_type} {self.sha256[:12]}"
