"""Temporary files that a killed process left in the data folder.

While a file is written its process holds a lock on it, which the system releases however the process ends.  A process
id in the name would not do: ids are used again, and containers that share a folder do not see each other's.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage

PART_PREFIX = ".part-"
OLD_SECONDS = 10.0
"""A younger file may belong to a process that has opened it and not yet locked it."""


def hold(file: IO[bytes]) -> None:
    """Mark an open file as being written, until it is closed; where locks do not work, its age has to do."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return


def sweep_leftovers() -> int:
    """Remove what nobody writes any more: ``tmp/*``, blobs without their name, drafts of the key.  Returns how many."""
    return sum(_removed(path) for path in leftovers())


def leftovers() -> list[Path]:
    """Temporary files that have not been written for ten seconds and that no process holds."""
    return [path for path in _temporary() if _is_left(path)]


def _temporary() -> Iterator[Path]:
    yield from Path(settings.FILE_UPLOAD_TEMP_DIR).glob("*")
    yield from Path(settings.DATA).glob("secret_key.*")
    if isinstance(default_storage, FileSystemStorage):
        yield from Path(default_storage.path("")).glob(f"{PART_PREFIX}*")


def _is_left(path: Path) -> bool:
    try:
        if not path.is_file() or path.is_symlink() or time.time() - path.stat().st_mtime < OLD_SECONDS:
            return False
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _removed(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True
