"""Writes a backup while the server goes on working."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.utils import timezone

from sessions.adapters import storage
from sessions.engine.reading import jsonio
from sessions.services import blobs
from sessions.services.backups import BLOBS, KEY, MANIFEST, SCHEMA
from sessions.services.backups.copies import copy_database, database_name

MOST_COPIES = 5
"""Blobs deleted between the copy of the rows and that of the bytes make the rows be copied again, so often at most."""


@dataclass(frozen=True, slots=True)
class Written:
    """A finished backup: ``missing`` are blobs that were named but lost before it began."""

    n_blobs: int
    n_bytes: int
    missing: tuple[str, ...]
    has_key: bool


def write_backup(target: Path, version: str) -> Written:
    """Write all that is stored, rows before blobs, whole and for its owner alone (0600); raises CopyFailed, OSError."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as folder:
        draft = Path(folder, "draft.tar")
        with tarfile.open(draft, "w", format=tarfile.PAX_FORMAT) as archive:
            written = _fill(archive, Path(folder, database_name()), version)
        draft.chmod(0o600)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)
    return written


def _fill(archive: tarfile.TarFile, copy: Path, version: str) -> Written:
    done: dict[str, int] = {}
    gone: list[str] = []
    for _ in range(MOST_COPIES):
        copy.unlink(missing_ok=True)
        named = copy_database(copy)
        gone = _add_blobs(archive, sorted(named - done.keys()), done)
        # What was deleted since the copy is still in its rows: copy them again.  What rows name for good is lost.
        if not gone or blobs.named(gone) == set(gone):
            break
    with copy.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        _add(archive, copy.name, file, copy.stat().st_size)
    key = Path(settings.DATA, KEY)
    has_key = key.is_file()
    if has_key:
        data = key.read_bytes()
        _add(archive, KEY, io.BytesIO(data), len(data))
    manifest: dict[str, Any] = {
        "schema": SCHEMA, "ctxweb": version, "made_at": timezone.now().isoformat(),
        "database": copy.name, "database_sha256": digest, "n_blobs": len(done), "missing": gone, "secret_key": has_key,
    }  # fmt: skip
    text = jsonio.dumps(manifest).encode()
    _add(archive, MANIFEST, io.BytesIO(text), len(text))
    return Written(len(done), sum(done.values()), tuple(gone), has_key)


def _add_blobs(archive: tarfile.TarFile, hashes: Iterable[str], done: dict[str, int]) -> list[str]:
    """Add what is there, note its bytes in ``done``; returns what is not."""
    gone = []
    for sha256 in hashes:
        try:
            with storage.open_at_rest(sha256) as file:
                n_bytes = file.seek(0, os.SEEK_END)
                file.seek(0)
                _add(archive, BLOBS + sha256, file, n_bytes)
                done[sha256] = n_bytes
        except FileNotFoundError:
            gone.append(sha256)
    return gone


def _add(archive: tarfile.TarFile, name: str, file: IO[bytes], n_bytes: int) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = n_bytes, 0o600
    archive.addfile(info, file)
