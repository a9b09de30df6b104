"""A copy of the whole database as it is at one moment, and of the blobs that it names at that moment.

SQLite copies itself with its backup interface: writers go on.  PostgreSQL is dumped by pg_dump under a snapshot that
this process exports, so that dump and names agree.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from sessions.engine.base.errors import EngineError
from sessions.services import blobs
from sessions.services.backups import POSTGRES, SQLITE

MOST_TRIES = 80
"""Looks at a locked database, a quarter of a second apart: as long as any other command waits."""


class CopyFailed(EngineError):
    """The database could not be copied or put back; the message says why and what to do."""


def database_name() -> str:
    """What the copy is called in the archive."""
    return SQLITE if connection.vendor == "sqlite" else POSTGRES


def copy_database(target: Path) -> set[str]:
    """Write the database to the file ``target``; returns the hashes of the blobs that the copy names."""
    return _copy_sqlite(target) if connection.vendor == "sqlite" else _dump_postgres(target)


def _copy_sqlite(target: Path) -> set[str]:
    connection.ensure_connection()
    with closing(sqlite3.connect(target)) as copy:
        source: sqlite3.Connection = connection.connection
        source.backup(copy, progress=_patience())
        copy.execute("PRAGMA journal_mode=DELETE")
        return named_in(copy)


def named_in(copy: sqlite3.Connection) -> set[str]:
    """The hashes of the blobs that a copied database names."""
    asked = (rows.order_by().values_list(field).distinct().query for rows, field in blobs.holders())
    queries = (query.sql_with_params() for query in asked)
    return {sha256 for sql, values in queries for (sha256,) in copy.execute(sql.replace("%s", "?"), values)}


def _patience() -> Callable[[int, int, int], None]:
    """Ends a copy that waits for a lock: sqlite3 itself would try for ever, four times a second."""
    tries = 0

    def progress(status: int, _left: int, _all: int) -> None:
        nonlocal tries
        tries += status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
        if tries > MOST_TRIES:
            raise CopyFailed("the database stays locked: end what holds it, then make the backup again")

    return progress


def _dump_postgres(target: Path) -> set[str]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
        named = blobs.named()
        run("pg_dump", "--format=custom", f"--snapshot={snapshot}", "--no-owner", f"--file={target}")
    return named


def restore_postgres(source: Path) -> None:
    """Put a dump into the empty database of ``DATABASE_URL``, whole or not at all; raises CopyFailed."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
    if tables:
        name = connection.settings_dict["NAME"]
        raise CopyFailed(f"the database {name} has {len(tables)} tables: set DATABASE_URL to an empty database")
    connection.close()
    run("pg_restore", "--single-transaction", "--exit-on-error", "--no-owner", str(source), into=True)


def run(program: str, *arguments: str, into: bool = False) -> None:
    """Run one of PostgreSQL's own programs on the database of the settings; raises CopyFailed."""
    if shutil.which(program) is None:
        raise CopyFailed(f"{program} is not installed here: install PostgreSQL's client programs (postgresql-client)")
    settings: dict[str, Any] = connection.settings_dict
    named = {"host": settings["HOST"], "port": settings["PORT"], "username": settings["USER"]}
    options = [f"--{name}={value}" for name, value in named.items() if value]
    database = [f"--dbname={settings['NAME']}"]
    done = subprocess.run(
        [program, "--no-password", *options, *database, *arguments],
        env=_environment(settings), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        hint = "check that the server answers and that the disk has room"
        if "version mismatch" in done.stderr:
            hint = f"install a {program} that is at least as new as the server"
        elif into:
            hint = "nothing was changed; install a pg_restore as new as the pg_dump that wrote the backup"
        raise CopyFailed(f"{program} failed: {said[0]}: {hint}")


def _environment(settings: dict[str, Any]) -> dict[str, str]:
    """The environment with the password, which a command line would show to every user of the machine."""
    import os

    return {**os.environ, **({"PGPASSWORD": str(settings["PASSWORD"])} if settings["PASSWORD"] else {})}
