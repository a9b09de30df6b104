"""Full-text search: ``python -m tests.bench search FOLDER [--times N]``.

Reads every transcript of FOLDER (files may be .gz) into a data folder of its own, indexes it, then stores all of it N
times more under other names, terms and all, and asks questions of the whole.  SQLite, or with DATABASE_URL PostgreSQL.
Prints a table for docs/benchmarks/search.md.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

QUESTIONS = (
    "error", "the", "Bash", "pytest", "package.json", "src/index.ts", "useEffect", "permission denied",
    '"permission denied"', "git commit error", "zzqqxxnobody", "config*",
)  # fmt: skip
RUNS = 9


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, default=1)
    given = parser.parse_args(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="ctxweb-bench-") as folder:
        os.environ |= {"CTXWEB_DATA": folder, "DJANGO_SETTINGS_MODULE": "ctxweb.settings"}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        _measure(given.folder, given.times)


def _measure(folder: Path, times: int) -> None:
    from sessions.services import search

    n_bytes, read_seconds = _timed(lambda: _store(folder))
    before = _database_bytes()
    _, index_seconds = _timed(lambda: search.catch_up(lambda _done, _all: None))
    index_bytes = _database_bytes() - before
    print(f"{n_bytes / 1e6:,.0f} MB read in {read_seconds:.1f} s of processor time, ", end="")
    print(f"indexed in {index_seconds:.1f} s; index {index_bytes / 1e6:,.1f} MB, {index_bytes / n_bytes:.1%}")
    for n in range(1, times):
        _again(n)
    from django.db.models import Count, Sum

    from sessions.models import Session

    n_sessions, n_messages = Session.objects.aggregate(n=Count("pk"), m=Sum("n_messages")).values()
    print(f"{times * n_bytes / 1e6:,.0f} MB, {n_sessions:,} sessions, {n_messages:,} messages")
    print("| question | sessions | messages | find | with the first 50 hits |\n|---|---:|---:|---:|---:|")
    for words in QUESTIONS:
        print(_row(words))


def _store(folder: Path) -> int:
    from sessions.services.ingest import ingest
    from sessions.services.uploads import receive

    n_bytes = 0
    for path in sorted(folder.iterdir()):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        n_bytes += len(data)
        got = receive(file=io.BytesIO(data), filename=path.name.removesuffix(".gz"))
        ingest(upload_id=got.upload.pk)
    return n_bytes


def _again(number: int) -> None:
    """Everything that is searched once more, under other ids."""
    from django.db import transaction

    from sessions.adapters import fulltext
    from sessions.models import SearchedSession, SearchPart, Session

    first = 1_000_000 * number
    for session in list(Session.objects.filter(position__lt=1_000_000, branch_of=None)):
        old, session.pk = session.pk, f"s_{number:03d}{session.pk[5:]}"
        session.position += first
        parts = list(SearchPart.objects.filter(session_id=old, live=True))
        with transaction.atomic():
            session.parent_id = None
            session.save(force_insert=True)
            for part in parts:
                terms = _terms(part.pk)
                part.pk, part.session_id = None, session.pk
                part.save(force_insert=True)
                fulltext.add(part.pk, terms)
            SearchedSession.objects.create(session=session, rules=1, version=session.version)


_known: dict[int, list[tuple[int, list[str]]]] = {}


def _terms(part: int) -> list[tuple[int, list[str]]]:
    from sessions.adapters import fulltext

    if not _known and fulltext.is_sqlite():
        from sessions.models import SearchPart

        for row, terms in fulltext.documents(list(SearchPart.objects.values_list("pk", flat=True))):
            _known.setdefault(row >> fulltext.SHIFT, []).append((row & (fulltext.MOST_MESSAGES - 1), terms.split()))
    if part not in _known:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute(f"SELECT message, tsvector_to_array(terms) FROM {fulltext.TABLE} WHERE part_id = %s", [part])
            _known[part] = cursor.fetchall()
    return _known[part]


def _row(words: str) -> str:
    from sessions import selectors
    from sessions.models import Session
    from sessions.selectors import search

    times: list[tuple[float, float]] = []
    for _ in range(RUNS):
        began = time.process_time()
        found = search.find(Session.objects.latest_branches(), words, "", selectors.open_text)
        middle = time.process_time()
        page = selectors.session_list(search=words, limit=50)
        times.append((middle - began, time.process_time() - middle))
    find, whole = (1000 * statistics.median(each) for each in zip(*times, strict=True))
    assert page.found is not None
    return f"| `{words}` | {len(found.counts):,} | {found.n_messages:,} | {find:.0f} ms | {whole:.0f} ms |"


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return work(), time.process_time() - began


def _database_bytes() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        else:
            cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])
