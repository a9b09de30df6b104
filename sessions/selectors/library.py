"""What the library's filters count and its fields offer; its projects, with their sums and newest sessions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, F, Max, Q, Sum, Value, When, Window
from django.db.models.functions import Coalesce, RowNumber

from sessions.engine.sweeps.fleet.values import OVERCOUNTED
from sessions.models import Session, viewer
from sessions.models.session import SessionQuerySet, ordering

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
    named = Session.objects.seen_by(viewer()).order_by("format", "model").values("format", "model")
    rows: list[Any] = list(named.annotate(n_once=Count("pk", filter=ONCE), **counts))
    return LibraryFacts(
        n_sessions=sum(row["n_once"] for row in rows),
        formats=tuple(sorted({row["format"] for row in rows})),
        models=tuple(sorted({row["model"] for row in rows if row["model"]})),
        choices={name: sum(row[f"choice_{name}"] for row in rows) for name in CHOICES},
    )


PROJECTS = 12
"""Projects of a page."""
SHOWN = 6
"""Sessions of a project that are shown, at most; the others are behind its name."""
NAMELESS = Q(figures__isnull=True) | Q(figures__project="")


@dataclass(frozen=True, slots=True)
class Project:
    """``name`` is the folder that the sessions ran in, "" where none is recorded; ``n_priced`` cost ``dollars``."""

    name: str
    n_sessions: int
    dollars: float | None
    n_priced: int
    last: dt.datetime | None
    ids: tuple[str, ...] = ()


def projects(found: SessionQuerySet, start: int) -> list[Project]:
    """The projects from ``start`` on, one more than a page has where there are more, the one without a name last."""
    named = found.order_by().annotate(project=Coalesce("figures__project", Value(""))).values("project")
    dollars = {"dollars": Sum("figures__dollars"), "n_priced": Count("figures__dollars")}
    sums = named.annotate(n=Count("*"), **dollars, last=Max("ended_at"))
    nameless_last = Case(When(project="", then=1), default=0)
    ordered = sums.order_by(nameless_last, F("last").desc(nulls_last=True), "project")
    page = ordered.values_list("project", "n", "dollars", "n_priced", "last")[start : start + PROJECTS + 1]
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


def neighbours(session: Session) -> tuple[Session | None, Session | None] | None:
    """The root sessions above and below one in its project's list, or among those without one, by time.

    None at either end; no pair for subagents and branches that were left.  Two queries, each of one row.
    """
    if session.parent_id or session.branch_of_id:
        return None
    project, ended = getattr(session, "project", None), session.ended_at
    seen = Session.objects.seen_by(viewer()).roots().order_by()
    found = seen.filter(figures__project=project) if project else seen.filter(NAMELESS)
    # The bound by time alone can be looked up in an index; which of one time comes first cannot.
    within = Q() if ended is None else Q(ended_at__gte=ended)
    beyond = Q(ended_at__isnull=True) if ended is None else Q(ended_at__lte=ended) | Q(ended_at__isnull=True)
    newer = found.filter(within, _beside(session, above=True)).sorted_by("-last").first()
    older = found.filter(beyond, _beside(session, above=False)).sorted_by("last").first()
    return newer, older


def _beside(session: Session, *, above: bool) -> Q:
    """What stands above a session in the order "last", or below it."""
    beside, alike = Q(pk__in=()), Q()
    for column in ordering("last"):
        name = column.expression.name  # type: ignore[union-attr]  # each is a field
        value = getattr(session, name)
        if value is None:  # behind all that have one
            further = Q(**{f"{name}__isnull": False}) if above else Q(pk__in=())
        else:
            further = Q(**{f"{name}__{'gt' if column.descending == above else 'lt'}": value})
            further |= Q(**{f"{name}__isnull": True}) if column.nulls_last and not above else Q()
        beside |= alike & further
        alike &= Q(**{name: value})
    return beside
