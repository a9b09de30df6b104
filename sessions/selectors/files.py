"""Files with many conversations: one row for each in a list of sessions, with the sums of those that match."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Min, Q, Sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.db.models import QuerySet

    from sessions.models.session import SessionQuerySet

GROUPED_FROM = 5
"""Sessions of one file, from which on they are one row."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The sessions of one file that match: sums, and the largest of what cannot be summed.

    ``label`` is the weakest of their token labels; ``model`` is "" where they have several.
    """

    key: str
    n_sessions: int
    n_messages: int
    tokens: int
    label: str
    wire_bytes: int
    n_images: int
    n_compactions: int
    n_wrong: int
    worst_overcount: float | None
    model: str


@dataclass(frozen=True, slots=True)
class GroupedPage:
    """The ids of one page of rows in order, and the group that each stands for, where it does."""

    ids: tuple[str, ...]
    total: int
    n_sessions: int
    groups: Mapping[str, FileGroup]


def key(upload_id: uuid.UUID, member: str) -> str:
    """How an address names a file: the upload, and the file in it where it is an archive."""
    return f"{upload_id}/{member}" if member else str(upload_id)


def only(found: SessionQuerySet, file: str) -> SessionQuerySet:
    """Those of the file that ``file`` names, all where it is ""; none of a file that it cannot name."""
    if not file:
        return found
    upload, _, member = file.partition("/")
    try:
        return found.of_file(uuid.UUID(upload), member)
    except ValueError:
        return found.none()


def any_grouped(found: SessionQuerySet) -> bool:
    """Whether any file has so many sessions that they are one row."""
    return bool(_files(found).annotate(n=Count("pk")).filter(n__gte=GROUPED_FROM).exists())


def grouped(found: SessionQuerySet, sort: str, start: int, limit: int) -> GroupedPage:
    """One page of rows: sessions, and the first of each group where it would stand.  Four queries."""
    rows: QuerySet[Any, Any] = found.one_a_file(sort, GROUPED_FROM)
    page = list(rows.values_list("pk", "n_alike", "upload_id", "member")[start : start + limit])
    heads = {(upload, member): pk for pk, n, upload, member in page if n >= GROUPED_FROM}
    return GroupedPage(tuple(row[0] for row in page), rows.count(), found.count(), _sums(found, heads))


def _files(found: SessionQuerySet) -> QuerySet[Any, Any]:
    return found.order_by().values("upload_id", "member")


def _sums(found: SessionQuerySet, heads: Mapping[tuple[uuid.UUID, str], str]) -> dict[str, FileGroup]:
    if not heads:
        return {}
    sums = _files(_of_any(found, heads)).annotate(
        n_sessions=Count("pk"),
        messages=Sum("n_messages"),
        all_tokens=Sum("tokens"),
        n_estimated=Count("pk", filter=Q(tokens_label="estimated")),
        n_calibrated=Count("pk", filter=Q(tokens_label="calibrated")),
        all_bytes=Sum("wire_bytes"),
        images=Sum("n_images"),
        compactions=Sum("n_compactions"),
        n_wrong=Count("pk", filter=~Q(wrong_cause="")),
        worst=Max("worst_overcount"),
        first_model=Min("model"),
        last_model=Max("model"),
    )
    made = {}
    for row in sums:
        file = (row["upload_id"], row["member"])
        label = "estimated" if row["n_estimated"] else "calibrated" if row["n_calibrated"] else "measured"
        same = row["first_model"] if row["first_model"] == row["last_model"] else ""
        made[heads[file]] = FileGroup(
            key(*file), row["n_sessions"], row["messages"], row["all_tokens"], label, row["all_bytes"], row["images"],
            row["compactions"], row["n_wrong"], row["worst"], same,
        )  # fmt: skip
    return made


def _of_any(found: SessionQuerySet, files: Iterable[tuple[uuid.UUID, str]]) -> SessionQuerySet:
    these = Q(pk__in=())
    for upload_id, member in files:
        these |= Q(upload_id=upload_id, member=member)
    return found.filter(these)
