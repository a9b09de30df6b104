"""A new data folder starts from a script: what it makes is what the migrations make."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ctxweb import schema
from tests.cli.processes import ROOT, environment

if TYPE_CHECKING:
    from pathlib import Path

MADE = """
from ctxweb import schema, startup
startup.load_django()
n_applied = startup.migrate()
from django.db import connection
print(n_applied, len(schema.names()), startup._pending(), schema.is_current(connection))
"""
NONE_RUNS = "from django.core.management.commands import migrate; migrate.Command.handle = None\n"
WITHOUT = "from ctxweb import schema; schema.begin = lambda connection: False\n"
ONE_LESS = """
from django.db import connection
connection.cursor().execute("DELETE FROM django_migrations WHERE app = 'auth' AND name LIKE '0012%'")
print(schema.is_current(connection), startup._pending())
"""
ONE_MORE = """
from django.db import connection
connection.cursor().execute("INSERT INTO django_migrations VALUES (900, 'agent_sessions', '9999_later', '2030-01-01')")
print(schema.is_current(connection))
startup.migrate()
"""


def run(code: str, data: Path) -> subprocess.CompletedProcess[str]:
    """Python code in a process of its own that keeps everything in ``data``."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment(data), cwd=ROOT, check=False, capture_output=True, text=True)


def plain(script: str) -> set[str]:
    """The statements without what versions of SQLite write in their own way."""
    return {re.sub(r'[\s"]', "", line) for line in script.split(";\n")}


def test_the_script_is_what_the_migrations_make(tmp_path: Path) -> None:
    """After a new migration: ``python scripts/schema.py``."""
    assert run(WITHOUT + MADE, tmp_path).stdout.endswith(" 0 True\n")
    with closing(sqlite3.connect(tmp_path / "ctxweb.sqlite3")) as migrated:
        wanted = schema.dump(migrated)
    head, _, rest = schema.SCRIPT.read_text(encoding="utf-8").partition("\n")
    wanted_head, _, wanted_rest = wanted.partition("\n")
    assert head == wanted_head, "write it anew: python scripts/schema.py"
    assert plain(rest) == plain(wanted_rest), "write it anew: python scripts/schema.py"


def test_a_new_folder_has_every_migration_without_running_one(tmp_path: Path) -> None:
    told = run(NONE_RUNS + MADE, tmp_path)
    n_applied, n_named, n_pending, current = told.stdout.split()
    assert (n_applied, n_pending, current) == (n_named, "0", "True"), told.stderr
    with closing(sqlite3.connect(tmp_path / "ctxweb.sqlite3")) as made:
        assert plain(schema.dump(made)) == plain(schema.SCRIPT.read_text(encoding="utf-8"))
        assert made.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert made.execute("SELECT count(*) FROM django_migrations WHERE applied LIKE '20__-%'").fetchone()[0] > 20
        made.execute("INSERT INTO agent_sessions_searchterms (rowid, terms) VALUES (1, 'word')")


@pytest.mark.exhaustive
def test_an_older_and_a_newer_database_are_told_by_django(tmp_path: Path) -> None:
    (tmp_path / "newer").mkdir()
    assert run(MADE + ONE_LESS, tmp_path).stdout.splitlines()[-1] == "False 1"
    newer = run(MADE + ONE_MORE, tmp_path / "newer")
    assert newer.stdout.splitlines()[-1] == "False"
    assert "A newer ctxweb made this database" in newer.stderr


@pytest.mark.exhaustive
def test_without_the_fitting_script_the_migrations_run(tmp_path: Path) -> None:
    """Another version of Django brings a migration that the script does not name."""
    other = tmp_path / "schema.sql"
    other.write_text("-- auth.0001_initial\nCREATE TABLE never (id integer);\n", encoding="utf-8")
    data = tmp_path / "data"
    data.mkdir()
    code = f"import pathlib; from ctxweb import schema; schema.SCRIPT = pathlib.Path({str(other)!r})\n{MADE}"
    assert run(code, data).stdout.endswith(" 0 True\n")
    with closing(sqlite3.connect(data / "ctxweb.sqlite3")) as made:
        assert not made.execute("SELECT 1 FROM sqlite_master WHERE name = 'never'").fetchall()
