"""What a session keeps alive besides its own rows, and the files that are no longer followed."""

from __future__ import annotations

from django.db import models

from sessions.models.answer import ModelAnswer
from sessions.models.session import Session


class MediaUse(models.Model):
    """An image or document (``Media``) that a session shows: the last session to go takes its bytes along.

    Its base64 stands at ``offset`` in the bytes of the session's texts, ``n_chars`` bytes long; 0 where none stands
    there that can be read in place: the image is a blob of its own then.

    ``sha256`` is no foreign key: a row of ``Media`` that is lost is mended by reading the upload again.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="media_uses", db_index=False)
    sha256 = models.CharField(max_length=64, db_index=True)
    offset = models.PositiveBigIntegerField()
    n_chars = models.PositiveBigIntegerField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("session", "sha256"), name="media_use_once"),)

    def __str__(self) -> str:
        return f"{self.sha256[:12]} in {self.session_id}"


class AnswerUse(models.Model):
    """A summary or judgement that a model wrote for a session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="answer_uses", db_index=False)
    answer = models.ForeignKey(ModelAnswer, on_delete=models.CASCADE, related_name="uses")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("session", "answer"), name="answer_use_once"),)

    def __str__(self) -> str:
        return f"{self.answer_id[:12]} for {self.session_id}"


class StoppedSource(models.Model):
    """A file whose sessions were deleted while it was followed: ``ctxweb watch`` leaves it alone from then on.

    ``key`` is the one of ``LiveSource``.
    """

    key = models.CharField(max_length=64, unique=True)
    path = models.TextField()
    stopped_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.path
