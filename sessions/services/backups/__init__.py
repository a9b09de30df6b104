"""A backup is one tar archive: the blobs, then the rows that name them, then a manifest that seals it.

``blobs/<sha256>`` as it is at rest, ``database.sqlite3`` or ``database.pgdump``, ``secret_key`` (where the data folder
has one), and last ``manifest.json``: an archive without it was cut off.
"""

from __future__ import annotations

SCHEMA = "ctxweb.backup/2"
MANIFEST = "manifest.json"
SQLITE, POSTGRES = "database.sqlite3", "database.pgdump"
KEY = "secret_key"
BLOBS = "blobs/"
