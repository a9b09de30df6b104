"""The library by project: each with its sums and its newest sessions, the project of the newest one first."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db.models import Case, Count, F, Max, Q, Sum, Value, When, Window
from django.db.models.functions import Coalesce, RowNumber

from sessions.models.session import SessionQuerySet, ordering

PROJECTS = 12
"""Projects of a page."""
SHOWN = 6
"""Sessions of a project that are shown, at most; the others are behind its name."""
NAMELESS = Q(figures__isnull=True) | Q(figures__project="")


@dataclass(frozen=True, slots=True)
class Project:
    """``name`` is the folder that the sessions ran in, "" where none is recorded; ``dollars`` at list prices."""

    name: str
    n_sessions: int
    dollars: float | None
    last: dt.datetime | None
    ids: tuple[str, ...] = ()


def projects(found: SessionQuerySet, start: int) -> list[Project]:
    """The projects from ``start`` on, one more than a page has where there are more, the one without a name last."""
    named = found.order_by().annotate(project=Coalesce("figures__project", Value(""))).values("project")
    sums = named.annotate(n=Count("*"), dollars=Sum("figures__dollars"), last=Max("ended_at"))
    nameless_last = Case(When(project="", then=1), default=0)
    ordered = sums.order_by(nameless_last, F("last").desc(nulls_last=True), "project")
    page = ordered.values_list("project", "n", "dollars", "last")[start : start + PROJECTS + 1]
    return [Project(*row) for row in page]


def newest(found: SessionQuerySet, names: list[str]) -> dict[str, tuple[str, ...]]:
    """The ids of the newest sessions of each of these projects: one query, none without ``names``."""
    if not names:
        return {}
    place = Window(RowNumber(), partition_by=[F("figures__project")], order_by=ordering("last"))
    ranked = found.filter(figures__project__in=names).annotate(place=place).filter(place__lte=SHOWN)
    made: dict[str, tuple[str, ...]] = {}
    for name, pk in ranked.order_by("place").values_list("figures__project", "pk"):
        made[name] = (*made.get(name, ()), pk)
    return made
