"""``ctxweb doctor`` on real data folders: damaged databases, old and newer ones."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sessions.engine.reading.jsonio import loads
from tests.cli import processes
from tests.cli.processes import ROOT, environment, run

pytestmark = pytest.mark.exhaustive

DATABASE = "ctxweb.sqlite3"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A data folder with one session, as private as the doctor wants it."""
    data = processes.library(tmp_path / "data")
    data.chmod(0o700)
    (data / DATABASE).chmod(0o600)
    return data


def execute(data: Path, *statements: str) -> None:
    with closing(sqlite3.connect(data / DATABASE)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_nothing_is_wrong(library: Path) -> None:
    done = run(library, "doctor", "--deep")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "Nothing is wrong.\n")


def test_found_then_mended_then_gone(library: Path) -> None:
    execute(library, "delete from agent_sessions_sessionfacts")
    first = run(library, "doctor")
    assert first.returncode == 1
    assert "--mend reads a.jsonl again." in first.stderr
    assert "1 finding. `ctxweb doctor --mend` mends 1 of them." in first.stderr
    second = run(library, "doctor", "--mend", "--json")
    document = loads(second.stdout.encode())
    assert (second.returncode, document["schema"], document["left"]) == (0, "ctxweb.doctor/1", 0)
    assert [(f["kind"], f["mended"]) for f in document["findings"]] == [("incomplete", True)]


def test_a_row_that_leads_nowhere_is_said(library: Path) -> None:
    execute(library, "pragma foreign_keys=off", "delete from agent_sessions_upload")
    done = run(library, "doctor", "--json")
    found = [f for f in loads(done.stdout.encode())["findings"] if f["kind"] == "foreign_key"]
    assert done.returncode == 1
    assert all("ctxweb restore" in f["action"] for f in found)
    assert found


def test_a_damaged_page_is_said(library: Path) -> None:
    """An index that lacks an entry of its table."""
    execute(
        library,
        "pragma writable_schema=on",
        "delete from sqlite_master where type='index' and name='job_state'",
        "pragma writable_schema=off",
    )
    done = run(library, "doctor", "--json")
    assert done.returncode == 1
    assert "integrity" in [f["kind"] for f in loads(done.stdout.encode())["findings"]]


def test_an_older_database_is_migrated_and_then_looked_at(library: Path) -> None:
    """One without any table has all migrations before it."""
    back = [sys.executable, "manage.py", "migrate", "agent_sessions", "zero"]
    subprocess.run(back, env=environment(library), cwd=ROOT, capture_output=True, check=True, timeout=120)
    first = run(library, "doctor")
    assert first.returncode == 1
    assert f"migrations to apply: {len(list((ROOT / 'sessions/migrations').glob('0*.py')))}." in first.stderr
    mended = run(library, "doctor", "--mend", "--deep")
    assert mended.returncode == 0, mended.stderr
    assert run(library, "doctor", "--deep").stderr == "Nothing is wrong.\n"


def test_a_newer_database_is_left_alone(library: Path) -> None:
    execute(
        library, "insert into django_migrations (app, name, applied) values ('agent_sessions', '9999_x', '2030-01-01')"
    )
    done = run(library, "doctor", "--mend")
    assert done.returncode == 1
    assert "written by a newer ctxweb" in done.stderr
    assert run(library, "backup", str(library.parent / "b.tar")).returncode == 1


@pytest.mark.parametrize(
    "command", [["doctor"], ["doctor", "--mend"], ["backup", "b.tar"], ["search", "x"], ["delete", "x"], ["fleet"]]
)
def test_a_folder_that_is_not_there_is_said_and_not_made(tmp_path: Path, command: list[str]) -> None:
    data = tmp_path / "mistyped"
    done = run(data, *[str(tmp_path / one) if one.endswith(".tar") else one for one in command])
    assert done.returncode == 2
    assert f"CTXWEB_DATA names {data}, which is not there." in done.stderr
    assert list(tmp_path.iterdir()) == []
