"""Write ctxweb/schema.sql, which makes the database of a new data folder: after every new migration.

    python scripts/schema.py

The migrations run in a temporary folder; what they leave behind is written down.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def migrated() -> str:
    """The script of a database that all migrations made, one after the other."""
    with tempfile.TemporaryDirectory(prefix="ctxweb-schema-") as data:
        os.environ.update(CTXWEB_DATA=data, DATABASE_URL="", DJANGO_SETTINGS_MODULE="ctxweb.settings")
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        from ctxweb.schema import dump

        call_command("migrate", interactive=False, verbosity=0)
        script = dump(connection.connection)
        connection.close()
        return script


if __name__ == "__main__":
    (ROOT / "ctxweb" / "schema.sql").write_text(migrated(), encoding="utf-8")
