"""Watched files: which path an upload follows, and how much of it was read."""

from __future__ import annotations

from django.db import models

from sessions.models.upload import Upload


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

    def __str__(self) -> str:
        return self.path
