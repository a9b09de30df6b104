"""The data folder: who may read it, and what broken-off work left in it."""

from __future__ import annotations

import datetime as dt
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from sessions.adapters import storage
from sessions.services.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

LEFT_AFTER = dt.timedelta(hours=1)
"""A temporary file that nobody wrote to for this long has no writer any more."""


def permissions() -> Iterator[Finding]:
    """The folder is for its owner alone (0700), and so are database and key (0600)."""
    data = Path(settings.DATA)
    yield from _open_to_others(data, 0o700, "folder")
    database = Path(str(settings.DATABASES["default"]["NAME"]))
    for path in (*(database.with_name(database.name + end) for end in ("", "-wal", "-shm")), data / "secret_key"):
        if path.is_absolute() and path.is_file():
            yield from _open_to_others(path, 0o600, "file")


def _open_to_others(path: Path, wanted: int, what: str) -> Iterator[Finding]:
    mode = path.stat().st_mode & 0o777
    if mode & ~wanted:
        text = f"Others on this machine can open the {what} {path} ({mode:04o})."
        yield Finding("permissions", text, f"sets {wanted:04o}", partial(path.chmod, wanted))


def leftovers() -> Iterator[Finding]:
    """Files that an upload, a backup or a start wrote half and left."""
    data, before = Path(settings.DATA), timezone.now() - LEFT_AFTER
    for path in (
        *storage.parts(),
        *sorted(Path(settings.FILE_UPLOAD_TEMP_DIR).glob("*")),
        *sorted(data.glob("secret_key.*")),
    ):
        try:
            stat = path.lstat()
        except FileNotFoundError:
            continue
        if path.is_file() and dt.datetime.fromtimestamp(stat.st_mtime, dt.UTC) < before:
            text = f"A temporary file was left: {path} ({stat.st_size:,} bytes)."
            yield Finding("leftover", text, "deletes it", partial(path.unlink, missing_ok=True))
