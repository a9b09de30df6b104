"""Prices that this installation gives in place of list prices."""

from __future__ import annotations

from django.db import models


class ModelPrice(models.Model):
    """US dollars per million tokens of one model, by its bare name; null where the list price holds."""

    model = models.CharField(max_length=100, primary_key=True)
    input = models.FloatField(null=True)
    output = models.FloatField(null=True)
    cache_read = models.FloatField(null=True)
    cache_write = models.FloatField(null=True)
    cache_write_1h = models.FloatField(null=True)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"prices of {self.model}"
