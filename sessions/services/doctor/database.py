"""The database itself: its schema is this program's, its pages are whole, its rows lead somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from sessions.services.doctor.finding import Finding

MOST_PROBLEMS = 20
RESTORE = "restore a backup: ctxweb restore FILE.tar"


def schema() -> Iterator[Finding]:
    """Migrations that are not applied yet, and those of a newer program."""
    executor = MigrationExecutor(connection)
    known = {*executor.loader.disk_migrations, *executor.loader.replacements}
    ours = {app for app, _ in known}
    applied = MigrationRecorder(connection).applied_migrations()
    unknown = sorted(f"{app}.{name}" for app, name in applied if app in ours and (app, name) not in known)
    if unknown:
        text = f"The database was written by a newer ctxweb: {', '.join(unknown[:3])} is unknown here."
        yield Finding("newer_database", text, "install that version, or restore a backup of this one")
        return
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if pending:
        text = f"The database is of an older ctxweb: migrations to apply: {len(pending)}."
        apply = partial(call_command, "migrate", interactive=False, verbosity=0)
        yield Finding("migrations", text, "applies them, then looks at the data", apply)


def integrity() -> Iterator[Finding]:
    """SQLite's own checks; PostgreSQL checks its pages and keys by itself."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA integrity_check({MOST_PROBLEMS})")
        for (said,) in cursor.fetchall():
            if said != "ok":
                yield Finding("integrity", f"The database file is damaged: {said}.", RESTORE)
        cursor.execute("PRAGMA foreign_key_check")
        for table, row, parent, _ in cursor.fetchmany(MOST_PROBLEMS):
            yield Finding("foreign_key", f"Row {row} of {table} names a row of {parent} that is gone.", RESTORE)
