"""The database of a new data folder, made from the models at once instead of by every migration since the first.

The migrations take half a second for it, this a twentieth of that; a test holds one against the other.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Model

APPLIED = "django_migrations"
Names = set[tuple[str, str]]
"""App and name of migrations."""


def is_current(connection: BaseDatabaseWrapper) -> bool:
    """Whether exactly the migrations on this machine are applied: then none is pending and none is unknown.

    False says nothing: ask Django, which imports all migrations for it and builds their graph.
    """
    if APPLIED not in connection.introspection.table_names():
        return False
    here = names()
    ours = {app for app, _ in here}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT app, name FROM {APPLIED}")  # noqa: S608  our name
        return {(app, name) for app, name in cursor.fetchall() if app in ours} == here


def begin(connection: BaseDatabaseWrapper) -> int:
    """Make all tables of a new database; how many migrations that stands for, 0 where it has tables."""
    from django.apps import apps
    from django.db.migrations.recorder import MigrationRecorder

    from sessions.adapters import fulltext

    if connection.introspection.table_names():
        return 0
    applied = MigrationRecorder(connection).Migration
    here = names()
    with connection.schema_editor() as editor:  # one transaction
        models: list[type[Model]] = [applied, *apps.get_models()]
        for model in models:
            editor.create_model(model)
        fulltext.create()
        applied.objects.using(connection.alias).bulk_create(applied(app=app, name=name) for app, name in sorted(here))
    return len(here)


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
