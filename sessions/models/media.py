"""The media that messages show.

Messages themselves are not here: lists read them from the session's facts, their text from the upload.
"""

from __future__ import annotations

from django.db import models


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

    def __str__(self) -> str:
        return f"{self.media_type} {self.sha256[:12]}"
