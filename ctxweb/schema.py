"""The database of a new data folder, made by one script instead of by every migration since the first.

``schema.sql`` is what the migrations make of an empty SQLite database: ``python scripts/schema.py`` writes it, a test
holds it against them.  It serves only where the migrations on this machine are those that it names.
"""

from __future__ import annotations

import pkgutil
import sqlite3
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.backends.base.base import BaseDatabaseWrapper

SCRIPT = Path(__file__).with_name("schema.sql")
APPLIED = "django_migrations"
Names = set[tuple[str, str]]
"""App and name of migrations."""


def is_current(connection: BaseDatabaseWrapper) -> bool:
    """Whether exactly the migrations on this machine are applied: then none is pending and none is unknown.

    False says nothing: ask Django, which builds the graph of all migrations for it, half a second of work.
    """
    if APPLIED not in connection.introspection.table_names():
        return False
    here = names()
    ours = {app for app, _ in here}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT app, name FROM {APPLIED}")  # noqa: S608  our name
        return {(app, name) for app, name in cursor.fetchall() if app in ours} == here


def begin(connection: BaseDatabaseWrapper) -> bool:
    """Make all tables of a new SQLite database; False, and nothing changed, where that is left to the migrations."""
    if connection.vendor != "sqlite" or not SCRIPT.exists() or connection.introspection.table_names():
        return False
    head, script = SCRIPT.read_text(encoding="utf-8").split("\n", 1)
    if head != _head(names()):
        return False
    connection.ensure_connection()
    try:
        connection.connection.executescript(f"BEGIN IMMEDIATE;\n{script}COMMIT;")
    except sqlite3.DatabaseError:  # an SQLite built without full-text search
        if connection.connection.in_transaction:
            connection.connection.rollback()
        return False
    return True


def names() -> Names:
    """The migrations on this machine, found by their files' names; none is imported."""
    from django.apps import apps
    from django.db.migrations.loader import MigrationLoader

    found: Names = set()
    for app in apps.get_app_configs():
        module, _ = MigrationLoader.migrations_module(app.label)
        try:
            places = import_module(module).__path__ if module else ()
        except ModuleNotFoundError:
            continue
        found |= {(app.label, one.name) for one in pkgutil.iter_modules(places) if one.name[0] not in "_~"}
    return found


def dump(connection: sqlite3.Connection) -> str:
    """The script that makes the tables, indexes and rows of a migrated database, and names its migrations."""
    applied: Names = set(connection.execute(f"SELECT app, name FROM {APPLIED}"))  # noqa: S608  our name
    return "\n".join((_head(applied), *_statements(connection), ""))


def _head(found: Names) -> str:
    return "-- " + " ".join(sorted(f"{app}.{name}" for app, name in found))


def _statements(connection: sqlite3.Connection) -> Iterator[str]:
    made = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' AND sql IS NOT NULL ORDER BY name"
    )
    found: list[tuple[str, str, str]] = list(made)
    virtual = tuple(f"{name}_" for _, name, sql in found if sql.startswith("CREATE VIRTUAL"))
    # A virtual table makes its own tables.
    kept = [(kind, name, sql) for kind, name, sql in found if not (virtual and name.startswith(virtual))]
    yield "PRAGMA defer_foreign_keys = ON;"
    yield from (f"{sql};" for kind, _, sql in kept if kind == "table")
    for kind, name, sql in kept:
        if kind == "table" and not sql.startswith("CREATE VIRTUAL"):
            yield from _rows(connection, name)
    yield from (f"{sql};" for kind, _, sql in kept if kind != "table")


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    values = ", ".join("'CURRENT_TIMESTAMP'" if name == "applied" else f'quote("{name}")' for name in columns)
    for row in connection.execute(f'SELECT {values} FROM "{table}" ORDER BY rowid'):  # noqa: S608  our own database
        yield f'INSERT INTO "{table}" VALUES ({", ".join(row)});'  # noqa: S608  as above
