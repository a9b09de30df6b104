"""Tries the upgrade from an earlier version: its database and files, restored by this one, give the same figures.

``python scripts/upgrade.py`` restores every backup of tests/fixtures/upgrade with this checkout, compares all figures
with those that the earlier code had stored, looks for damage, and opens the pages.  ``python scripts/upgrade.py make
COMMIT`` writes such a backup with the code of a commit: three small sessions of ours.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests/fixtures/upgrade"
STORED = ("claude_code/rewind.jsonl", "codex/rollout.jsonl", "pi/version_3_tree.jsonl")
FIGURES = {
    "agent_sessions_session": (
        "title, format, model, n_messages, n_requests, n_images, n_tool_calls, wire_bytes, pressure_bytes, tokens, "
        "tokens_label, usage_input, usage_cache_read, usage_cache_write, usage_output, worst_overcount, n_compactions, "
        "peak_context, peak_label, window"
    ),
}
"""Columns whose values an upgrade keeps, by table; an estimate may change only where a session is read again."""
MESSAGES = """
import json, sys
from ctxweb.startup import load_django
load_django()
from sessions import selectors
from sessions.engine.base.registry import get
from sessions.engine.reports.report import kinds
from sessions.engine.weigh.sizes import message_sizes
from sessions.models import Session
rows = []
for key in Session.objects.values_list("pk", flat=True):
    weighed = selectors.load_weighed(key)
    wire, pressure = (message_sizes(weighed, get("estimators", name)) for name in ("wire_bytes", "pressure_bytes"))
    sent = {r.message: r.index for r in weighed.transcript.requests if r.message is not None}
    for m in weighed.transcript.messages:
        tokens = weighed.tokens[m.index] if weighed.labels[m.index] == "measured" else None
        rows.append([key, m.index, m.role, ",".join(kinds(m)), wire[m.index], pressure[m.index], tokens,
                     sent.get(m.index)])
print("MESSAGES", json.dumps(rows), file=sys.stderr)
"""
"""What lists show of every message, by session and index; estimates are those of the code that shows them."""
PAGES = """
from ctxweb.startup import collect_static, load_django
load_django()
collect_static()
from django.test import Client
from sessions.models import Session
client = Client(headers={"host": "localhost"})
for path in ["/", "/fleet/", *(f"/s/{s.pk}/{part}" for s in Session.objects.all() for part in ("", "replay/", "why/"))]:
    assert client.get(path).status_code == 200, path
"""


def figures(code: Path, data: Path) -> dict[str, list[list[Any]]]:
    """What a data folder holds, in a fixed order, read with the code of a checkout."""
    with closing(sqlite3.connect(data / "ctxweb.sqlite3")) as database:
        found = {
            table: [list(row) for row in database.execute(f"SELECT {columns} FROM {table}")]
            for table, columns in FIGURES.items()
        }
    said = ran(code, data, "-c", MESSAGES)
    found["messages"] = json.loads(said[said.rindex("MESSAGES ") + len("MESSAGES ") :])
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


def ran(code: Path, data: Path, *arguments: str) -> str:
    """Standard error of a Python process over ``data`` with the code of a checkout."""
    own = {**os.environ, "PYTHONPATH": str(code), "CTXWEB_DATA": str(data), "DATABASE_URL": ""}
    done = subprocess.run(
        [sys.executable, *arguments], env=own, cwd=data.parent, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(
            f"{' '.join(arguments)[:200]} ended with status {done.returncode}:\n{done.stderr[-3000:]}{done.stdout}"
        )
    return done.stderr


def make(commit: str) -> None:
    """Write the backup and the figures of a commit."""
    FOLDER.mkdir(exist_ok=True)
    commit = subprocess.check_output(["git", "-C", str(ROOT), "rev-parse", commit], text=True).strip()
    with tempfile.TemporaryDirectory() as name:
        old, data = Path(name) / "code", Path(name) / "data"
        subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "--detach", str(old), commit], check=True)
        try:
            files = [str(ROOT / "tests/fixtures/transcripts" / file) for file in STORED]
            ran(old, data, "-m", "ctxweb", "ingest", *files)
            ran(old, data, "-m", "ctxweb", "backup", str(Path(name) / "backup.tar"))
            whole = FOLDER / f"{commit[:7]}.tar.gz"
            with (Path(name) / "backup.tar").open("rb") as source, gzip.GzipFile(whole, "wb", mtime=0) as target:
                shutil.copyfileobj(source, target)
            text = json.dumps(figures(old, data), indent=None, separators=(",", ":"))
            (FOLDER / f"{commit[:7]}.json").write_text(text + "\n", encoding="utf-8")
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(old)], check=True)


def check(packed: Path) -> None:
    """Restore one backup and compare."""
    wanted = json.loads(packed.with_name(packed.name.replace(".tar.gz", ".json")).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        backup, data = Path(name) / "backup.tar", Path(name) / "data"
        with gzip.open(packed, "rb") as source, backup.open("wb") as target:
            shutil.copyfileobj(source, target)
        ran(ROOT, data, "-m", "ctxweb", "restore", str(backup), "--into", str(data))
        found = json.loads(json.dumps(figures(ROOT, data)))
        if found != wanted:
            raise SystemExit(f"{packed.name}: figures differ.\nBefore: {wanted}\nAfter: {found}")
        ran(ROOT, data, "-m", "ctxweb", "doctor", "--deep")
        ran(ROOT, data, "-c", PAGES)
        rows = sum(len(table) for table in found.values())
        print(f"upgrade from {packed.name.partition('.')[0]}: {rows} rows of figures are the same, all pages open")


def main() -> None:
    """Make a backup, or check all that there are."""
    if sys.argv[1:2] == ["make"]:
        make(sys.argv[2])
        return
    for packed in sorted(FOLDER.glob("*.tar.gz")):
        check(packed)


if __name__ == "__main__":
    main()
