"""What outlives a session's own rows: images, what models answered, files that are followed; prices of models."""

from __future__ import annotations

from django.db import models

from sessions.models.session import Session
from sessions.models.upload import Upload


class Media(models.Model):
    """One image or document, by the hash of its decoded bytes.

    They are read from the transcripts that show it (``MediaUse``).  ``apart``: they are the blob ``sha256`` as well,
    because a session has them nowhere as plain base64.

    ``width`` and ``height`` are pixels as the header tells them, 0 where it could not be read.  ``thumbnail`` is WebP
    of at most 10 KB, None until it is made, empty where it cannot be (``services.thumbnails``).
    """

    sha256 = models.CharField(primary_key=True, max_length=64)
    media_type = models.CharField(max_length=100)
    n_bytes = models.PositiveBigIntegerField()
    apart = models.BooleanField(default=False)
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    thumbnail = models.BinaryField(null=True, editable=False)

    class Meta:
        indexes = (models.Index(fields=("media_type",), name="media_type"),)
        verbose_name_plural = "media"


class ModelAnswer(models.Model):
    """What the API answered to the request whose hash is ``key`` (model, prompt and content are all in it).

    A count has its tokens in ``input_tokens`` and no text.  A text is the blob ``text_sha256``: the database holds
    none.
    """

    key = models.CharField(max_length=64, primary_key=True)
    kind = models.CharField(
        max_length=10, choices=[("count", "count"), ("summary", "summary"), ("judgement", "judgement")]
    )
    model = models.CharField(max_length=100)
    input_tokens = models.PositiveBigIntegerField()
    output_tokens = models.PositiveBigIntegerField(default=0)
    text_sha256 = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)


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


class AnswerUse(models.Model):
    """A summary or judgement that a model wrote for a session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="answer_uses", db_index=False)
    answer = models.ForeignKey(ModelAnswer, on_delete=models.CASCADE, related_name="uses")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("session", "answer"), name="answer_use_once"),)


class StoppedSource(models.Model):
    """A file whose sessions were deleted while it was followed: left alone.  ``key`` is the one of ``LiveSource``."""

    key = models.CharField(max_length=64, unique=True)
    path = models.TextField()
    stopped_at = models.DateTimeField(auto_now_add=True)


class LiveSource(models.Model):
    """A file that ``ctxweb watch`` follows, and the upload that holds what it held when it was last read.

    ``key`` is the sha256 of ``host:path``, because a path may be longer than an index allows.  ``n_bytes`` and
    ``mtime_ns`` are the file's when it was last read, so that a restart reads only what changed; ``changed_at`` is when
    its sessions last changed, ``n_versions`` how often.  ``previous_sha256`` is the blob of the version before: a
    reader that is just opening it still finds it.
    """

    key = models.CharField(max_length=64, unique=True)
    path = models.TextField()
    upload = models.OneToOneField(Upload, on_delete=models.CASCADE, related_name="live")
    n_bytes = models.PositiveBigIntegerField()
    mtime_ns = models.BigIntegerField()
    changed_at = models.DateTimeField()
    n_versions = models.PositiveIntegerField(default=1)
    previous_sha256 = models.CharField(max_length=64, blank=True)


class ModelPrice(models.Model):
    """US dollars per million tokens of one model, by its bare name; null where the list price holds."""

    model = models.CharField(max_length=100, primary_key=True)
    input = models.FloatField(null=True)
    output = models.FloatField(null=True)
    cache_read = models.FloatField(null=True)
    cache_write = models.FloatField(null=True)
    cache_write_1h = models.FloatField(null=True)
    updated_at = models.DateTimeField(auto_now=True)
