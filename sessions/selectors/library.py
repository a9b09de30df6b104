"""What the library's filters count and its fields offer: added up by the database, from an index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from sessions.engine.sweeps.fleet.values import OVERCOUNTED
from sessions.models import Session, viewer

ONCE = Q(branch_of__isnull=True)
ROOT = ONCE & Q(parent__isnull=True)
FILTERS = {
    "wrong": ~Q(wrong_cause=""),
    "overcount": Q(worst_overcount__gte=OVERCOUNTED),
    "compacted": Q(n_compactions__gt=0),
    "images": Q(n_images__gt=0),
}
"""Filters of the library by name."""
CHOICES = {"all": ROOT, **{name: ROOT & FILTERS[name] for name in ("wrong", "overcount", "compacted")}}


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """``n_sessions`` counts subagents, too; ``choices`` how many root sessions each filter leaves, "all" for none."""

    n_sessions: int
    formats: tuple[str, ...]
    models: tuple[str, ...]
    choices: Mapping[str, int]


def library_facts() -> LibraryFacts:
    """One query, which fetches one row for each model and format."""
    counts = {f"choice_{name}": Count("pk", filter=one) for name, one in CHOICES.items()}
    rows: list[Any] = list(
        Session.objects.seen_by(viewer())
        .order_by("format", "model")
        .values("format", "model")
        .annotate(n_once=Count("pk", filter=ONCE), **counts)
    )
    return LibraryFacts(
        n_sessions=sum(row["n_once"] for row in rows),
        formats=tuple(sorted({row["format"] for row in rows})),
        models=tuple(sorted({row["model"] for row in rows if row["model"]})),
        choices={name: sum(row[f"choice_{name}"] for row in rows) for name in CHOICES},
    )
