"""What the library and the lists beside it cost at 1,000, 10,000 and 100,000 sessions.

``python -m tests.bench library FOLDER`` reads twenty transcripts of FOLDER (files may be .gz), copies their rows in the
database and asks for each page twice, in a process that has shown another page before; the first answer counts.  It
writes docs/benchmarks/library.md.  SQLite, and with DATABASE_URL an empty PostgreSQL database on this machine, whose
own processor time is counted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "library.md"
SIZES = (1_000, 10_000, 100_000)
N_READ = 20
PAGES = {
    "library": "/",
    "the next 100 rows": "/?start=50",
    "100 rows from row 50,000": "/?start=50000",
    "by title": "/?sort=title",
    "by tokens": "/?sort=tokens",
    "one format": "/?format=claude_code",
    "compacted": "/?only=compacted",
    "thrashing": "/?only=thrashing",
    "one agent, which is all": "/?agent=Claude+Code",
    "search: a word in no title": "/?q=zzzz",
    "uploads": "/uploads/",
    "API: 100 sessions": "/api/sessions",
    "sessions.json: 10,000 rows at most": "/sessions.json",
    "many sessions (fleet)": "/fleet/",
}
ONE_PROCESS = "-c max_parallel_workers_per_gather=0"
"""All of PostgreSQL's work is done by the process whose time is read."""
STORE = """
import sys
from pathlib import Path
import django
django.setup()
from django.core.management import call_command
from sessions.models import Session
from tests.bench import copies
call_command("migrate", verbosity=0)
if not Session.objects.exists():
    copies.read([Path(name) for name in sys.argv[2:]])
originals = Session.objects.order_by("created_at", "pk").values_list("pk", flat=True)
copies.fill(list(originals[:len(sys.argv) - 2]), int(sys.argv[1]))
"""
VISIT = """
import json, logging, os, sys, time
import django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS.append("testserver")
settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
logging.disable(logging.CRITICAL)
from django.db import connection
from django.test import Client
from sessions.engine.base import registry
from tests.bench.timing import cpu_of
[registry.plugins(kind) for kind in ("formats", "policies", "estimators")]
client = Client()
client.get("/manual/")
client.get("/?file=none")  # the templates of a row are read
with connection.cursor() as cursor:
    pid = 0
    if connection.vendor == "postgresql":
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
taken = []
for _ in range(2):
    started = time.process_time() + cpu_of(pid)
    answer = client.get(sys.argv[1])
    taken.append(time.process_time() + cpu_of(pid) - started)
    assert answer.status_code == 200, answer.status_code
print(json.dumps([taken[0], len(answer.content)]))
"""


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    files = [path for path in parser.parse_args().folder.iterdir() if path.is_file()]
    files = sorted(files, key=lambda path: (path.stat().st_size, path.name))[: 3 * N_READ : 3]
    lines = _report_head(len(files))
    for name, url in (("SQLite", ""), ("PostgreSQL", os.environ.get("DATABASE_URL", ""))):
        if name == "SQLite" or url:
            with tempfile.TemporaryDirectory(prefix="ctxweb-bench-") as data:
                lines += ["", f"## {name}", "", *_table(_measured(data, url, files))]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _measured(data: str, url: str, files: list[Path]) -> list[list[tuple[float, int]]]:
    """Seconds and bytes of each page at each size."""
    found = []
    for size in SIZES:
        _run(data, url, STORE, str(size), *map(str, files))
        found.append([_visited(data, url, path) for path in PAGES.values()])
    return found


def _visited(data: str, url: str, path: str) -> tuple[float, int]:
    seconds, n_bytes = json.loads(_run(data, url, VISIT, path))
    print(f"{path} {seconds * 1000:,.0f} ms, {n_bytes:,} bytes", file=sys.stderr, flush=True)
    return seconds, n_bytes


def _run(data: str, url: str, code: str, *arguments: str) -> str:
    env = {
        **os.environ, "CTXWEB_DATA": data, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "ctxweb.settings",
        "PGOPTIONS": ONE_PROCESS,
    }  # fmt: skip
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


def _table(found: list[list[tuple[float, int]]]) -> list[str]:
    heads = " | ".join(f"{size:,}" for size in SIZES)
    lines = [f"| page | {heads} | bytes of the answer at {SIZES[-1]:,} |", f"|---|{'---:|' * (len(SIZES) + 1)}"]
    for n, name in enumerate(PAGES):
        taken = " | ".join(f"{1000 * row[n][0]:,.0f}" for row in found)
        lines.append(f"| {name} | {taken} | {found[-1][n][1]:,} |")
    return lines


def _report_head(n_files: int) -> list[str]:
    return [
        "# Lists of many sessions",
        "",
        f"Made by `python -m tests.bench library FOLDER`: the rows of {n_files} sessions that were read, copied in the "
        "database.",
        "Of a hundred copies 70 have a file of their own, 20 share one with nine others, and ten are in one file with "
        "those of every other hundred.",
        "Milliseconds of processor time of a page's first answer, in a process that has shown another page before; "
        "PostgreSQL's own are counted,",
        f"to 10 ms. Uncompressed bytes. Python {platform.python_version()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f} when it began.",
        "",
        "Queries and rows fetched are the same for 50 sessions as for 500, and for 150 as for 1,500 with each filter: "
        "`tests/web/test_library_scale.py`.",
    ]
