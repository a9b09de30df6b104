"""A new data folder starts from the models: what they make is what the migrations make."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.processes import ROOT, environment

MADE = """
from ctxweb import startup
startup.load_django()
n_applied = startup.migrate()
from django.db import connection
print(n_applied, len(startup.names()), startup._pending(), startup.is_current(connection))
"""
NONE_RUNS = "from django.core.management.commands import migrate; migrate.Command.handle = None\n"
WITHOUT = "from ctxweb import startup; startup.begin = lambda connection: 0\n"
ONE_LESS = """
from django.db import connection
connection.cursor().execute("DELETE FROM django_migrations WHERE app = 'auth' AND name LIKE '0012%'")
print(startup.is_current(connection), startup._pending())
"""
ONE_MORE = """
from django.db import connection
connection.cursor().execute("INSERT INTO django_migrations VALUES (900, 'agent_sessions', '9999_later', '2030-01-01')")
print(startup.is_current(connection))
startup.migrate()
"""


def run(code: str, data: Path) -> subprocess.CompletedProcess[str]:
    """Python code in a process of its own that keeps everything in ``data``."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment(data), cwd=ROOT, check=False, capture_output=True, text=True)


def schema_of(data: Path) -> dict[str, list[str]]:
    """Statements and applied migrations of a database by name, the columns of a table in any order."""
    with closing(sqlite3.connect(data / "ctxweb.sqlite3")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        applied = database.execute("SELECT app, name FROM django_migrations ORDER BY app, name").fetchall()
    found = {name: sorted(re.split(r",(?= )", sql[sql.index("(") + 1 : -1])) for name, sql in rows if "(" in sql}
    return {name: sorted(part.strip() for part in parts) for name, parts in found.items()} | {
        "applied": [".".join(one) for one in applied]
    }


def test_a_new_folder_has_every_migration_without_running_one(tmp_path: Path) -> None:
    direct, migrated = tmp_path / "direct", tmp_path / "migrated"
    direct.mkdir()
    migrated.mkdir()
    told = run(NONE_RUNS + MADE, direct)
    n_applied, n_named, n_pending, current = told.stdout.split()
    assert (n_applied, n_pending, current) == (n_named, "0", "True"), told.stderr
    assert run(WITHOUT + MADE, migrated).stdout.endswith(" 0 True\n")
    found, wanted = schema_of(direct), schema_of(migrated)
    assert found == wanted
    assert len(found) > 50
    with closing(sqlite3.connect(direct / "ctxweb.sqlite3")) as made:
        made.execute("INSERT INTO agent_sessions_searchterms (rowid, terms) VALUES (1, 'word')")


@pytest.mark.exhaustive
def test_an_older_and_a_newer_database_are_told_by_django(tmp_path: Path) -> None:
    (tmp_path / "newer").mkdir()
    assert run(MADE + ONE_LESS, tmp_path).stdout.splitlines()[-1] == "False 1"
    newer = run(MADE + ONE_MORE, tmp_path / "newer")
    assert newer.stdout.splitlines()[-1] == "False"
    assert "A newer ctxweb made this database" in newer.stderr
