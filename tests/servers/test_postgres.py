"""PostgreSQL: every migration applies, nothing is left to migrate, and an upload is stored and read."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.servers.servers import ROOT, environment, run_python

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.exhaustive, pytest.mark.services]

MIGRATE = """
import django
django.setup()
from django.db import connection
from ctxweb.startup import migrate
assert connection.vendor == "postgresql"
print(migrate(), migrate())
"""


def ctxweb(env: dict[str, str], *arguments: str) -> str:
    """Standard output of a ``ctxweb`` command that succeeds."""
    command = [sys.executable, "-m", "ctxweb", *arguments]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_migrations_apply_once(tmp_path: Path, postgres_url: str) -> None:
    env = environment(tmp_path, DATABASE_URL=postgres_url, DJANGO_SETTINGS_MODULE="ctxweb.settings")
    first, second = map(int, run_python(MIGRATE, env).split())
    assert first > 10
    assert second == 0


@pytest.mark.parametrize("database", ["PostgreSQL", "SQLite"])
def test_processes_that_start_together_migrate_once(tmp_path: Path, postgres_url: str, database: str) -> None:
    url = postgres_url if database == "PostgreSQL" else ""
    env = environment(tmp_path, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="ctxweb.settings", CTXWEB_SECRET_KEY="s")
    command = [sys.executable, "-c", MIGRATE.replace('assert connection.vendor == "postgresql"', "")]
    started = [subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    told = [process.communicate(timeout=300)[0].split() for process in started]
    assert [process.returncode for process in started] == [0] * 4
    migrated = sorted(int(first) for first, _ in told)
    assert migrated[:3] == [0, 0, 0]
    assert migrated[3] > 10


def test_ingest_is_idempotent(tmp_path: Path, postgres_url: str) -> None:
    env = environment(tmp_path, DATABASE_URL=postgres_url)
    lines = [{"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": "4"}]
    file = tmp_path / "session.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (first,) = json.loads(ctxweb(env, "ingest", str(file), "--json"))["uploads"]
    (second,) = json.loads(ctxweb(env, "ingest", str(file), "--json"))["uploads"]
    assert (first["status"], second["status"]) == ("new", "duplicate")
    assert len(first["sessions"]) == 1
    assert first["sessions"] == second["sessions"]
