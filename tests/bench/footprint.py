"""What stored sessions cost: ``python -m tests.bench footprint FOLDER``.

Reads every transcript of FOLDER (files may be .gz) into a data folder of its own, indexes and asks for each page once,
and says where the bytes lie and what the processor did.  SQLite, or with DATABASE_URL an empty PostgreSQL database.
Prints the table for docs/scale-out.md.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import sys
import tempfile
import time
from pathlib import Path

PAGES = ("", "why/", "replay/?policy=claude_code")
GROUPS = {
    "facts and columns": ("sessionfacts", "sessioncolumns"),
    "search index": ("searchpart", "searchedsession", "searchword", "searchterm", "search_"),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="ctxweb-bench-") as folder:
        os.environ |= {"CTXWEB_DATA": folder, "DJANGO_SETTINGS_MODULE": "ctxweb.settings"}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        _measure(given.folder, Path(folder))


def _measure(folder: Path, data: Path) -> None:
    from django.db.models import Count, Sum
    from django.test import Client

    from sessions.models import Media, Session
    from sessions.services import search
    from sessions.services.ingest import ingest
    from sessions.services.uploads import receive

    n_bytes, begun = 0, time.process_time()
    for path in sorted(folder.iterdir()):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        n_bytes += len(content)
        ingest(upload_id=receive(file=io.BytesIO(content), filename=path.name.removesuffix(".gz")).upload.pk)
    read = time.process_time() - begun
    begun = time.process_time()
    search.catch_up(lambda _done, _all: None)
    indexed = time.process_time() - begun
    ids, begun = list(Session.objects.roots().values_list("pk", flat=True)), time.process_time()
    client = Client(HTTP_HOST="localhost")
    n_failed = sum(client.get(f"/s/{pk}/{page}").status_code != 200 for pk in ids for page in PAGES)
    first = time.process_time() - begun
    n_sessions, n_messages = Session.objects.aggregate(n=Count("pk"), m=Sum("n_messages")).values()
    print(f"{n_bytes / 1e6:,.0f} MB, {n_sessions:,} sessions, {n_messages:,} messages, {Media.objects.count():,} media")
    print(
        f"processor seconds: {read:.1f} to read, {indexed:.1f} to index, {first:.1f} for {len(PAGES)} first pages each"
    )
    print(f"pages that failed: {n_failed}")
    print("| what | MB | of the transcripts | bytes a session |\n|---|---:|---:|---:|")
    sizes = _sizes()
    blobs = sum(path.stat().st_size for path in (data / "blobs").rglob("*") if path.is_file())
    for name, size in {"blobs": blobs, **sizes}.items():
        print(f"| {name} | {size / 1e6:,.1f} | {size / n_bytes:.1%} | {size / n_sessions:,.0f} |")


def _sizes() -> dict[str, int]:
    """Bytes of the database by kind of table, with their indexes."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("select relname, pg_total_relation_size(oid) from pg_class where relkind = 'r'"
                           " and relnamespace = 'public'::regnamespace")  # fmt: skip
        else:
            cursor.execute(
                "select m.tbl_name, sum(s.pgsize) from dbstat s join sqlite_master m on m.name = s.name group by 1"
            )
        tables = dict(cursor.fetchall())
    found = dict.fromkeys([*GROUPS, "everything else"], 0)
    for table, size in tables.items():
        group = next(
            (name for name, parts in GROUPS.items() if any(part in table for part in parts)), "everything else"
        )
        found[group] += int(size)
    return found
