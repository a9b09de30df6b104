"""Processor time of a long session's pages: the first visit ever, the first of another process, the next one.

``python -m tests.bench first FILE [CHECKOUT]`` stores FILE in a new data folder, with the code of CHECKOUT where one is
given, and visits each page by itself: first where no worker was there, then behind a worker.  Every process has shown a
short session before, so that no import is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.engine.claude_lines import claude_session

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "Overview": "",
    "Why": "why/",
    "Replay": "replay/",
    "a slider's move": "replay/?was=claude_code&p.pct_override=60",
}
STORE = "import sys; from ctxweb.cli import main; sys.argv[0] = 'ctxweb'; main()"
WORK = """
import time
import django
django.setup()
from sessions.models import Session, SessionColumns
from sessions.services.work import work_one
SessionColumns.objects.all().delete()
started = time.process_time()
while work_one():
    pass
print(time.process_time() - started)
"""
VISIT = """
import json, logging, sys, time
import django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS.append("testserver")
settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
logging.disable(logging.CRITICAL)
from django.test import Client
from sessions.models import Session
short, long = Session.objects.order_by("n_messages").values_list("pk", flat=True)[:2]
client, taken = Client(headers={"HX-Request": "true"} if "was=" in sys.argv[1] else {}), []
client.get(f"/s/{short}/{sys.argv[1]}")
for _ in range(2):
    started = time.process_time()
    answer = client.get(f"/s/{long}/{sys.argv[1]}")
    taken.append(time.process_time() - started)
    assert answer.status_code == 200, answer.status_code
print(json.dumps(taken))
"""


def main() -> None:
    """Print a table in milliseconds."""
    file, place = Path(sys.argv[1]).resolve(), Path(sys.argv[2] if sys.argv[2:] else ROOT).resolve()
    with tempfile.TemporaryDirectory() as data:
        short = Path(data, "short.jsonl")
        short.write_text(claude_session(30, compact_after=20), encoding="utf-8")
        run_in(place, data, STORE, "ingest", str(short), str(file))
        print("Without a worker:")
        _visited(place, data)
        taken = float(run_in(place, data, WORK)) * 1000
        print(f"A worker takes {taken:,.0f} ms, the search index included. Behind it:")
        _visited(place, data)


def _visited(place: Path, data: str) -> None:
    print("| page | first visit ever | first in another process | the next |\n|---|---|---|---|")
    for name, path in PAGES.items():
        ever, _ = json.loads(run_in(place, data, VISIT, path))
        other, again = json.loads(run_in(place, data, VISIT, path))
        print(f"| {name} | {ever * 1000:,.0f} | {other * 1000:,.0f} | {again * 1000:,.0f} |", flush=True)


def run_in(place: Path, data: str, code: str, *arguments: str) -> str:
    """What the code prints, run in a checkout on a data folder."""
    env = {**os.environ, "CTXWEB_DATA": str(Path(data, "data")), "DJANGO_SETTINGS_MODULE": "ctxweb.settings"}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=place, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout
