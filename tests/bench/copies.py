"""A large library for benchmarks: rows of a few sessions that were read, copied in the database.

Of each hundred copies seventy are alone in their file, twenty are in files of ten, and ten are in one file with those
of every other hundred.  Copies have the figures of what they are made of, and count as searchable; facts, texts and
terms they have not.
"""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import io
import uuid
from copy import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sessions.models import Session, Upload

AT_ONCE = 500
ALONE, IN_TENS = 70, 90
"""Of a hundred: up to which each has a file of its own, and up to which ten share one."""


def read(files: Sequence[Path]) -> None:
    """Store transcripts (files may be .gz) with their figures."""
    from sessions.services import figures
    from sessions.services.ingest import ingest
    from sessions.services.uploads import receive

    for path in files:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        ingest(upload_id=receive(file=io.BytesIO(content), filename=path.name.removesuffix(".gz")).upload.pk)
    figures.catch_up(lambda _done, _all: None)


def fill(originals: Sequence[str], up_to: int) -> None:
    """Copy the sessions of these ids in turn until ``up_to`` are stored; the same copies for the same numbers."""
    from django.db import connection

    from sessions.models import Session, SessionFigures

    stored = Session.objects.count()
    models = list(Session.objects.filter(pk__in=originals).select_related("upload").order_by("pk"))
    figures = SessionFigures.objects.in_bulk(originals)
    for start in range(stored, up_to, AT_ONCE):
        _write([_copied(models[n % len(models)], n) for n in range(start, min(up_to, start + AT_ONCE))], figures)
    if connection.vendor == "postgresql":  # as it does by itself after a while; nobody counts SQLite's values
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def _copied(session: Session, n: int) -> tuple[str, Session]:
    """The id of what it is made of, and copy ``n`` with its upload."""
    one = copy(session)
    one.pk = hashlib.sha256(f"{session.pk} {n}".encode()).hexdigest()[:16]
    one.upload, one.position = _file(session.upload, n)
    one.title = f"{session.title} {n}"[:255]
    one.ended_at = session.ended_at and session.ended_at + dt.timedelta(minutes=n * 7919 % 100_000)
    one.tokens, one.wire_bytes = session.tokens + n * 31 % 1_000, session.wire_bytes + n * 37 % 100_000
    return session.pk, one


def _file(upload: Upload, n: int) -> tuple[Upload, int]:
    hundred, place = divmod(n, 100)
    if place < ALONE:
        name, position = str(n), 0
    elif place < IN_TENS:
        name, position = f"{hundred}, {(place - ALONE) // 10}", place % 10
    else:
        name, position = "of all", hundred * 10 + place - IN_TENS
    one = copy(upload)
    one.pk = uuid.UUID(hashlib.sha256(name.encode()).hexdigest()[:32])
    one.sha256, one.head = hashlib.sha256(name.encode()).hexdigest(), ""
    one.filename = f"{name}.jsonl"
    return one, position


def _write(made: Sequence[tuple[str, Session]], figures: dict[str, object]) -> None:
    from django.db import transaction

    from sessions.models import SearchedSession, Session, SessionFigures, Upload

    with transaction.atomic():
        uploads = {one.upload.pk: one.upload for _, one in made}
        Upload.objects.bulk_create(uploads.values(), ignore_conflicts=True)
        Session.objects.bulk_create([one for _, one in made])
        SessionFigures.objects.bulk_create(list(_figures(made, figures)))
        SearchedSession.objects.bulk_create(
            [SearchedSession(session_id=one.pk, rules=1, version=one.version) for _, one in made]
        )


def _figures(made: Sequence[tuple[str, Session]], figures: dict[str, object]) -> Iterator[object]:
    for original, one in made:
        row = copy(figures[original])
        row.session_id = one.pk  # type: ignore[attr-defined]
        yield row
