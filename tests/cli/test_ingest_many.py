"""Many files read by several processes come out as if one had read them in turn."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sessions.engine.reading.jsonio import loads
from tests.cli.processes import ROOT, environment, set_up
from tests.services.claude_lines import session
from tests.services.packs import zipped
from tests.services.test_shared_history import data, resumed, talk

INGEST = """
import os, sys
from ctxweb.commands import ingest
ingest.ALONE_BYTES, ingest.START, n = 0, sys.argv[1], int(sys.argv[2])
ingest.cores = lambda: n
main, here = os.getpid(), ingest._read

def read(pk, advance, **told):
    from sessions.models import Job, State
    if Job.objects.filter(upload_id=pk).exclude(state__in=(State.DONE, State.FAILED)).exists():
        print("here", file=sys.stderr)
    return here(pk, advance, **told)

ingest._read = read
{more}
sys.argv[1:] = ["ingest", *sys.argv[3:], "--json"]
from ctxweb.entry import main as command
command()
"""
DYING = """
from ctxweb.startup import load_django
load_django()
import sessions.services.ingest as service
plain = service.ingest

def dying(*, upload_id, **rest):
    from sessions.models import Upload
    if os.getpid() != main and "b-resumed" in Upload.objects.get(pk=upload_id).filename:
        jobs = __import__("sessions.services.jobs", fromlist=["claim"])
        jobs.claim(upload_id=upload_id)
        os._exit(9)
    return plain(upload_id=upload_id, **rest)

service.ingest = dying
"""
PASSING = {
    "created_at",
    "heartbeat_at",
    "worker",
    "beats",
    "job_id",
    "claims",
    "attempts",
    "losses",
    "applied",
    "file_key",
}
"""Columns that differ between any two runs."""
NAMED = {"agent_sessions_upload", "agent_sessions_session"}


def stored(folder: Path) -> dict[str, list[str]]:
    """Every table's rows without what differs between any two runs; uploads and sessions by their places."""
    with closing(sqlite3.connect(folder / "ctxweb.sqlite3")) as database:
        uploads = "select id from agent_sessions_upload order by created_at"
        sessions = (
            "select s.id from agent_sessions_session s join agent_sessions_upload u on u.id = s.upload_id "
            "order by u.created_at, s.position"
        )
        names = {
            key: f"{kind} {n}"
            for kind, query in (("upload", uploads), ("session", sessions))
            for n, (key,) in enumerate(database.execute(query))
        }
        found = {}
        tables = database.execute("select name from sqlite_master where name like 'agent_sessions_%'").fetchall()
        for (table,) in tables:
            columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
            kept = [c for c in columns if c not in PASSING and (c != "id" or table in NAMED)]
            if not kept or "search" in table:
                continue
            quoted = ", ".join(f'"{column}"' for column in kept)
            rows = database.execute(f"select {quoted} from {table}")
            found[table] = sorted(repr([names.get(v, v) if isinstance(v, str) else v for v in row]) for row in rows)
        return found


def files(folder: Path) -> Path:
    """Sessions, one resumed in the next file and again in the one behind it, one that grows, and what is no session."""
    folder.mkdir()
    old = talk(12, "old")
    newer = resumed(old, "newer")
    given = {
        "a-old.jsonl": data(old),
        "b-resumed.jsonl": data(newer),
        "c-resumed-again.jsonl": data(resumed(newer, "newest")),
        "d-copy.jsonl": data(old),
        "e-diary.txt": b"Dear diary",
        "f-cut.jsonl": session(4)[:-20],
        "g-empty.jsonl": b"",
        "h-packed.zip": zipped({"one.jsonl": session(3), "two.jsonl": data(resumed(old, "packed"))}),
        "i-longer.jsonl": session(40),
        "j-forked.jsonl": data(resumed(talk(40, "x")[:30] + old, "forked")),
        "k-beginning.jsonl": session(20),
        "l-longest.jsonl": session(60),
    }
    for name, content in given.items():
        (folder / name).write_bytes(content)
    return folder


def read(folder: Path, given: Path, start: str, n: int, more: str = "") -> tuple[dict[str, Any], str]:
    """What the command says, and what it wrote to standard error."""
    command = [sys.executable, "-c", INGEST.replace("{more}", more), start, str(n), str(given)]
    done = subprocess.run(
        command, env=environment(set_up(folder)), cwd=ROOT, check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1, done.stderr
    return loads(done.stdout.encode()), done.stderr


def told(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(u["file"], u["sha256"], u["status"], len(u["sessions"]), u["skipped"]) for u in document["uploads"]]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[Any, ...]], dict[str, list[str]]]:
    """The files, and what one process makes of them."""
    folder = tmp_path_factory.mktemp("alone")
    given = files(folder / "in")
    document, errors = read(folder / "data", given, "fork", 1)
    assert errors.count("here") == 11
    return given, told(document), stored(folder / "data")


def test_they_share_history(alone: Any) -> None:
    """What the others are held against says something: three files have what earlier ones have."""
    _, entries, tables = alone
    assert [status for _, _, status, _, _ in entries] == [
        "new", "new", "new", "duplicate", "failed", "new", "failed", "new", "continued", "new", "duplicate",
        "continued",
    ]  # fmt: skip
    assert sum("'session 0'" in row for row in tables["agent_sessions_session"]) >= 4


@pytest.mark.parametrize(("start", "n"), [
    ("fork", 2), pytest.param("fork", 4, marks=pytest.mark.exhaustive),
    pytest.param("spawn", 2, marks=pytest.mark.exhaustive),
])  # fmt: skip
def test_several_processes_store_what_one_does(alone: Any, tmp_path: Path, start: str, n: int) -> None:
    given, entries, tables = alone
    document, errors = read(tmp_path, given, start, n)
    assert told(document) == entries
    assert stored(tmp_path) == tables
    assert "here" not in errors


@pytest.mark.exhaustive
def test_without_the_fast_core_they_count_alike(alone: Any, tmp_path: Path) -> None:
    given, entries, tables = alone
    document, _ = read(tmp_path, given, "fork", 2, "sys.modules['toktok'] = None")
    assert told(document) == entries
    assert stored(tmp_path) == tables


def test_what_a_reader_leaves_that_dies_is_read_by_the_command(alone: Any, tmp_path: Path) -> None:
    given, entries, tables = alone
    document, errors = read(tmp_path, given, "fork", 2, DYING)
    assert told(document) == entries
    assert stored(tmp_path) == tables
    assert "here" in errors


def test_one_file_alone_needs_no_other_process(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"Dear diary")
    document, errors = read(tmp_path / "data", file, "fork", 2)
    assert [entry[2] for entry in told(document)] == ["failed"]
    assert errors.count("here") == 1
