"""The library's head line, its filters' counts and what its fields offer: added up by the database, from an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Q, Sum

from sessions.models import OVERCOUNTED, Session, State, TokenLabel, Upload, viewer
from sessions.selectors.media import seen_media

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ONCE = Q(branch_of__isnull=True)
ROOT = ONCE & Q(parent__isnull=True)
AGAIN = ONCE & Q(shares_with__isnull=False)
SUMS = {
    "n_sessions": Count("private", filter=ONCE),
    "n_messages": Sum("n_messages", filter=ONCE, default=0),
    "tokens": Sum("tokens", filter=ONCE, default=0),
    "wire_bytes": Sum("wire_bytes", filter=ONCE, default=0),
    "n_images": Sum("n_images", filter=ONCE, default=0),
    "n_overcounted": Count("private", filter=ONCE & Q(worst_overcount__gte=OVERCOUNTED)),
}
SHARED = {
    "n_messages": Sum("n_shared_messages", filter=AGAIN, default=0),
    "tokens": Sum("shared_tokens", filter=AGAIN, default=0),
    "wire_bytes": Sum("shared_wire_bytes", filter=AGAIN, default=0),
    "n_images": Sum("n_shared_images", filter=AGAIN, default=0),
}
"""What a resumed or forked session has from an earlier one."""
CHOICES = {
    "all": Count("private", filter=ROOT),
    "overcount": Count("private", filter=ROOT & Q(worst_overcount__gte=OVERCOUNTED)),
    "compacted": Count("private", filter=ROOT & Q(n_compactions__gt=0)),
    "images": Count("private", filter=ROOT & Q(n_images__gt=0)),
}


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """Sums over all sessions, sub-agents included, copied messages once.

    ``n_<label>`` counts sessions whose tokens carry that label, ``n_uploads`` all uploads but failures that were
    dismissed, ``n_uploads_read`` those that sessions could be read from.  ``choices`` says how many root sessions each
    filter leaves, "all" for none.
    """

    n_sessions: int
    n_uploads: int
    n_uploads_read: int
    n_messages: int
    tokens: int
    n_measured: int
    n_calibrated: int
    n_estimated: int
    wire_bytes: int
    n_images: int
    n_media: int
    worst: Session | None
    n_overcounted: int
    formats: tuple[str, ...]
    models: tuple[str, ...]
    choices: Mapping[str, int]


def library_facts() -> LibraryFacts:
    """The library's head line: four queries, which fetch one row for each model, format and label.

    Messages that a resumed or forked session has from an earlier one are counted once; so are those of branches.
    """
    again = {f"again_{name}": one for name, one in SHARED.items()}
    choices = {f"choice_{name}": one for name, one in CHOICES.items()}
    sums = {f"sum_{name}": one for name, one in SUMS.items()}
    mine = Session.objects.seen_by(viewer())
    rows = list(
        mine.order_by("tokens_label", "format", "model")
        .values("tokens_label", "format", "model")
        .annotate(worst=Max("worst_overcount", filter=ONCE), **sums, **again, **choices)
    )
    added = {name: _total(rows, f"sum_{name}") for name in SUMS}
    for label in TokenLabel.values:
        added[f"n_{label}"] = _total([row for row in rows if row["tokens_label"] == label], "sum_n_sessions")
    added |= {name: max(0, added[name] - _total(rows, f"again_{name}")) for name in SHARED}
    most = max((row["worst"] for row in rows if row["worst"] is not None), default=None)
    worst = None if most is None else mine.once().filter(worst_overcount=most).order_by("pk").first()
    return LibraryFacts(
        **added,
        **Upload.objects.seen_by(viewer())
        .exclude(status=State.FAILED, dismissed=True)
        .aggregate(n_uploads=Count("*"), n_uploads_read=Count("status", filter=Q(status=State.DONE))),
        n_media=seen_media().filter(media_type__startswith="image/").count(),
        worst=worst,
        formats=tuple(sorted({row["format"] for row in rows})),
        models=tuple(sorted({row["model"] for row in rows if row["model"]})),
        choices={name: _total(rows, f"choice_{name}") for name in CHOICES},
    )


def _total(rows: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(row[name] for row in rows)
