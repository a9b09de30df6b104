"""What was worked out of a session once, for every process to read."""

from __future__ import annotations

from django.db import models

from sessions.models.session import Session


class SessionColumns(models.Model):
    """Values of one session under ``name``, in sealed sections (``engine.sealed``).

    ``key`` names what they were worked out from and by: under another one they are worked out again.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="columns", db_index=False)
    name = models.CharField(max_length=20)
    key = models.CharField(max_length=64)
    data = models.BinaryField()

    class Meta:
        verbose_name_plural = "session columns"
        constraints = (models.UniqueConstraint(fields=("session", "name"), name="session_columns_once"),)

    def __str__(self) -> str:
        return f"{self.name} of {self.session_id}"
