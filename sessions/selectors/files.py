"""Files with many conversations: one row for each in a list of sessions, with the sums of those that match."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Count, Max, Min, Q, Sum

from sessions.models import Session, SessionQuerySet
from sessions.models.listed import key_of

GROUPED_FROM = 5
"""Sessions of one file, from which on they are one row."""
STEP, FASTER = 200, 4
"""Sessions beyond a page of rows that are looked at first, at least; then four times as many each time."""
MOST_PASSED = 200
"""Files that are passed over at once."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The sessions of one file: sums, the worst over-count, the weakest label; ``model`` "" where they have several."""

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
class Totals:
    """Of all sessions that match: how many, and how many of each file that is one row."""

    n_sessions: int
    by_file: Mapping[str, int]

    @property
    def n_rows(self) -> int:
        return self.n_sessions - sum(self.by_file.values()) + len(self.by_file)


def key(upload_id: uuid.UUID, member: str) -> str:
    """How an address names a file: the upload, and the file in it where it is an archive."""
    return f"{upload_id}/{member}" if member else str(upload_id)


def only(found: SessionQuerySet, file: str) -> SessionQuerySet:
    """Those of the file that ``file`` names, all where it is ""; none of a file that it cannot name."""
    if not file:
        return found
    upload, _, member = file.partition("/")
    try:
        return found.filter(file_key=key_of(uuid.UUID(upload), member))
    except ValueError:
        return found.none()


def ids(found: SessionQuerySet, sort: str, start: int, limit: int) -> list[str]:
    """The ids of some sessions in their order: one query."""
    return list(found.sorted_by(sort).values_list("pk", flat=True)[start : start + limit])


def rows(found: SessionQuerySet, sort: str, start: int, limit: int) -> tuple[list[str], Totals]:
    """Ids of a page of rows, the first of a large file for all, and totals: two queries, up to four when crowded."""
    totals = _totals(found)
    page: list[str] = []
    if start < totals.n_rows:
        walk = _walk(found, sort, totals.by_file, start + limit)
        page = [pk for _, pk in zip(range(start + limit), walk, strict=False)][start:]
    return page, totals


def _totals(found: SessionQuerySet) -> Totals:
    try:
        by_file, given = found.order_by().values("file_key").annotate(n=Count("*")).query.sql_with_params()
    except EmptyResultSet:  # no row can be seen
        return Totals(0, {})
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH files (file_key, n) AS ({by_file}) SELECT '', SUM(n) FROM files"  # noqa: S608 - Django's words
            " UNION ALL SELECT file_key, n FROM files WHERE n >= %s",
            [*given, GROUPED_FROM],
        )
        (_, n_sessions), *large = cursor.fetchall()
    return Totals(int(n_sessions or 0), {file: int(n) for file, n in large})


def _walk(found: SessionQuerySet, sort: str, by_file: Mapping[str, int], n_wanted: int) -> Iterator[str]:
    """Sessions in order, of these files the first alone; those met leave the next query, the largest first."""
    met: set[str] = set()
    passed: set[str] = set()
    looked_at: list[str] = []
    n = n_wanted + max(STEP, n_wanted // 2) if by_file else n_wanted
    while True:
        start = sum(file not in passed for file in looked_at)
        ordered = found.exclude(file_key__in=passed) if passed else found
        batch = list(ordered.sorted_by(sort).values_list("pk", "file_key")[start : start + n])
        for pk, file in batch:
            if file not in met:
                yield pk
            if file in by_file:
                met.add(file)
        if len(batch) < n:
            return
        looked_at += [file for _, file in batch]
        passed = set(sorted(met, key=lambda file: (-by_file[file], file))[:MOST_PASSED])
        n *= FASTER


def groups(found: SessionQuerySet, heads: Sequence[Session]) -> dict[str, FileGroup]:
    """What each row stands for, by the id of the session in whose place it is: one query, none without ``heads``."""
    if not heads:
        return {}
    by_file = {one.file_key: one for one in heads}
    sums = found.filter(file_key__in=list(by_file)).order_by("file_key").values("file_key")
    sums = sums.annotate(
        n_sessions=Count("*"),
        messages=Sum("n_messages"),
        all_tokens=Sum("tokens"),
        n_estimated=Count("tokens_label", filter=Q(tokens_label="estimated")),
        n_calibrated=Count("tokens_label", filter=Q(tokens_label="calibrated")),
        all_bytes=Sum("wire_bytes"),
        images=Sum("n_images"),
        compactions=Sum("n_compactions"),
        n_wrong=Count("wrong_cause", filter=~Q(wrong_cause="")),
        worst=Max("worst_overcount"),
        first_model=Min("model"),
        last_model=Max("model"),
    )
    made = {}
    for row in sums:
        head = by_file[row["file_key"]]
        label = "estimated" if row["n_estimated"] else "calibrated" if row["n_calibrated"] else "measured"
        same = row["first_model"] if row["first_model"] == row["last_model"] else ""
        made[head.pk] = FileGroup(
            key(head.upload_id, head.member), row["n_sessions"], row["messages"], row["all_tokens"], label,
            row["all_bytes"], row["images"], row["compactions"], row["n_wrong"], row["worst"], same,
        )  # fmt: skip
    return made
