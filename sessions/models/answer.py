"""Answers of a model's API, kept so that nothing is asked, sent or paid for twice."""

from __future__ import annotations

from django.db import models


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

    def __str__(self) -> str:
        return f"{self.kind} by {self.model}"
