"""What has to be true before the first page: Django loaded, the database migrated, static files collected.

A new database is made from the models at once (0.05 s; all migrations 0.5 s); a test holds one against the other.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.faults import FaultError

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Model

MIGRATING = 0x6D696772
"""The advisory lock of PostgreSQL ("migr") that the process holds which migrates."""


def load_django() -> None:
    """Load the settings and the apps; commands that need the database call this first."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")
    import django

    django.setup()
    from django.db import connections

    atexit.register(connections.close_all)  # SQLite puts its log into the database


def start_django() -> None:
    """Load Django and bring the database to the current schema, making it if it is not there."""
    load_django()
    migrate()


def migrate() -> int:
    """Apply pending migrations; returns how many.  Raises FaultError where a newer ctxweb made the database."""
    from django.core.management import call_command
    from django.db import connection

    from sessions.adapters import fulltext

    n_new = 0
    if not is_current(connection):
        with _alone():
            n_new = begin(connection)
            if not n_new and (n_new := _pending()):
                call_command("migrate", interactive=False, verbosity=0)
    if fulltext.create():  # the SQLite that migrated could not make the table of the search, and this one can
        from sessions.services import search

        search.ask()
    return n_new


def _pending() -> int:
    from sessions.services import doctor

    unknown, n_pending = doctor.migrations()
    if unknown:
        what = f"A newer ctxweb made this database: it has {len(unknown)} unknown migrations, the last {unknown[-1]}."
        raise FaultError(what, "Update ctxweb, or choose another data folder with CTXWEB_DATA.")
    return n_pending


@contextmanager
def _alone() -> Iterator[None]:
    """One process migrates at a time: by a lock of PostgreSQL's, else by a file beside the database."""
    from django.conf import settings
    from django.db import connection

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_lock(%s)", [MIGRATING])
            try:
                yield
            finally:
                cursor.execute("select pg_advisory_unlock(%s)", [MIGRATING])
        return
    with (settings.DATA / "migrate.lock").open("w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def collect_static() -> bool:
    """Collect the static files, compressed and named by content, if they changed since last time; True if they had."""
    from django.conf import settings
    from django.core.management import call_command

    if settings.DEBUG:
        return False
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    wanted = _fingerprint()
    if stamp.exists() and stamp.read_text(encoding="ascii") == wanted:
        return False
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(wanted, encoding="ascii")
    return True


def _fingerprint() -> str:
    """A digest of names, sizes and modification times of all static files, wherever an app keeps them."""
    from django.contrib.staticfiles.finders import get_finders

    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = os.stat(storage.path(name))
            digest.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


APPLIED = "django_migrations"
Names = set[tuple[str, str]]
"""App and name of migrations."""


def is_current(connection: BaseDatabaseWrapper) -> bool:
    """Whether exactly this machine's migrations are applied; False says nothing: ask Django, which takes longer."""
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
