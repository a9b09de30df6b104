"""Puts a backup into a data folder that Django was started on and that nobody uses yet."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from django.core.management import call_command
from django.db import connection, connections

from sessions.adapters import frames, storage
from sessions.services import blobs, doctor
from sessions.services.backups import BLOBS, POSTGRES, SQLITE
from sessions.services.backups.copies import CopyFailed, restore_postgres
from sessions.services.backups.reading import Backup, BadBackup


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back; ``n_lost`` blobs were missing when the backup was made."""

    n_blobs: int
    n_bytes: int
    n_lost: int


def check_target(backup: Backup) -> None:
    """Refuse a database that is not of the kind that the backup holds."""
    wanted = SQLITE if connection.vendor == "sqlite" else POSTGRES
    if backup.database != wanted:
        here, there = ("SQLite", "PostgreSQL") if wanted == SQLITE else ("PostgreSQL", "SQLite")
        hint = "set DATABASE_URL to an empty database" if wanted == SQLITE else "unset DATABASE_URL"
        raise CopyFailed(f"the backup is of a {there} database, and this installation uses {here}: {hint}")
    place = Path(str(connection.settings_dict["NAME"]))
    if wanted == SQLITE and place.exists():
        raise CopyFailed(f"{place} is there already: move it away, or unset DATABASE_URL")


def restore(backup: Backup) -> Restored:
    """Rows first, migrated to this version, then the blobs that they name, every hash compared.

    Raises BadBackup, CopyFailed, OSError; whoever calls throws the folder away then.
    """
    check_target(backup)
    _put_database(backup)
    schema = [one for one in doctor.schema() if one.kind == "newer_database"]
    if schema:
        raise CopyFailed(f"{schema[0].text} {schema[0].action}")
    call_command("migrate", interactive=False, verbosity=0)
    doctor.release_all()
    named = blobs.named()
    wanted = [sha256 for sha256 in backup.blobs if sha256 in named]
    n_bytes = sum(_put_blob(backup, sha256) for sha256 in wanted)
    connections.close_all()
    return Restored(len(wanted), n_bytes, len(named - set(wanted)))


def _put_database(backup: Backup) -> None:
    digest = str(backup.manifest.get("database_sha256"))
    if connection.vendor != "sqlite":
        with tempfile.NamedTemporaryFile(suffix=".pgdump") as file:
            backup.write(backup.database, cast("IO[bytes]", file), digest)
            file.flush()
            restore_postgres(Path(file.name))
        return
    connection.close()
    place = Path(str(connection.settings_dict["NAME"]))
    place.touch(mode=0o600)
    with place.open("wb") as file:
        backup.write(backup.database, file, digest)
        os.fsync(file.fileno())


def _put_blob(backup: Backup, sha256: str) -> int:
    """Store one blob, which is named by what it holds: a damaged one would get another name."""
    try:
        with frames.original(cast("BinaryIO", backup.open(BLOBS + sha256))) as file:
            stored = storage.put(file)
    except frames.Damaged as error:
        raise BadBackup(f"{BLOBS}{sha256} in the backup is damaged ({error}): use another backup") from error
    if stored.sha256 != sha256:
        storage.remove(stored.sha256)
        raise BadBackup(f"{BLOBS}{sha256} in the backup is damaged (its hash differs): use another backup")
    return stored.n_bytes
