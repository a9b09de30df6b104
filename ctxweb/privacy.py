"""Who may read the data folder: its owner alone.  Transcripts hold whatever an agent saw."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FOLDERS = ("blobs", "tmp", "queue", "static")
FILES = ("ctxweb.sqlite3", "secret_key")
BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_private(data: Path, database: str = "") -> None:
    """From now on this process makes files 0600 and folders 0700; what an older version left wider is narrowed.

    ``database`` is an SQLite file.  What is somebody else's, or sticky as /tmp, is left: ``too_wide`` names it.
    """
    os.umask(OTHERS)
    for path, facts in _wide(data, database):
        if facts.st_uid == os.geteuid() and not facts.st_mode & stat.S_ISVTX:
            with suppress(OSError):
                path.chmod(stat.S_IMODE(facts.st_mode) & ~OTHERS)


def too_wide(data: Path, database: str = "") -> list[Path]:
    """The data folder, and what in it holds transcripts or secrets, where others than the owner have access."""
    return [path for path, _ in _wide(data, database)]


def _wide(data: Path, database: str) -> Iterator[tuple[Path, os.stat_result]]:
    files = [data / name for name in FILES] + ([Path(database)] if database else [])
    beside = [file.with_name(file.name + end) for file in files for end in BESIDE_A_DATABASE]
    for path in dict.fromkeys((data, *(data / name for name in FOLDERS), *files, *beside)):
        try:
            facts = path.stat()
        except (OSError, ValueError):
            continue
        if facts.st_mode & OTHERS:
            yield path, facts
