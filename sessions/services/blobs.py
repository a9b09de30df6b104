"""Which stored bytes are still named, and how those that nobody names any more are removed, safe against newcomers.

A row that names a blob is written in one transaction with a look whether the blob is there (``naming``, ``missing``);
a blob is removed in one transaction with a look whether a row names it.  SQLite runs one write transaction at a time
(IMMEDIATE); PostgreSQL is made to by an advisory lock, shared among those who name.  So whichever comes first, the
other sees it: the remover finds the row, or the newcomer finds the blob gone and stores it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from django.db import connection, transaction
from django.db.models import QuerySet

from sessions.adapters import storage
from sessions.models import LiveSource, Media, Member, ModelAnswer, Session, Upload

T = TypeVar("T")
LOCK = 0x63747877
"""The advisory lock of PostgreSQL ("ctxw"): shared by who names blobs, exclusive for who removes them."""

BATCH = 400


def naming() -> None:
    """Keep blobs from being removed until this transaction ends; call it before the look and the row."""
    _lock("pg_advisory_xact_lock_shared")


def missing(hashes: Iterable[str]) -> list[str]:
    return [sha256 for sha256 in hashes if not storage.exists(sha256)]


def holders() -> tuple[tuple[QuerySet[Upload | LiveSource | Media | Member | Session | ModelAnswer], str], ...]:
    """Every place that names a blob: rows and the field."""
    return (
        (Upload.objects.all(), "sha256"),
        (LiveSource.objects.exclude(previous_sha256=""), "previous_sha256"),
        (Media.objects.filter(apart=True), "sha256"),
        (Member.objects.exclude(sha256=""), "sha256"),
        (Session.objects.exclude(text_sha256=""), "text_sha256"),
        (ModelAnswer.objects.exclude(text_sha256=""), "text_sha256"),
    )


def named(hashes: Iterable[str] | None = None) -> set[str]:
    """The blobs that any row names; only among ``hashes`` where they are given."""
    found: set[str] = set()
    for some in [None] if hashes is None else batches(sorted(set(hashes))):
        for rows, field in holders():
            chosen = rows if some is None else rows.filter(**{f"{field}__in": some})
            found.update(chosen.order_by().values_list(field, flat=True).iterator())
    return found


def remove_unnamed(hashes: Iterable[str]) -> None:
    """Delete those of the blobs that nothing names any more; each batch is one write transaction."""
    for some in batches(sorted(set(hashes) - {""})):
        with transaction.atomic():
            _lock("pg_advisory_xact_lock")
            for sha256 in set(some) - named(some):
                storage.remove(sha256)


def _lock(function: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s)", [LOCK])


def batches(names: Sequence[T]) -> Iterator[Sequence[T]]:
    """Names in lots: databases bound how many a statement has."""
    return (names[start : start + BATCH] for start in range(0, len(names), BATCH))
