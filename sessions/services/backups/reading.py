"""Looks at a backup before anything of it is believed: names, kinds and hashes of its members.  Needs no Django."""

from __future__ import annotations

import hashlib
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sessions.engine.base.errors import EngineError
from sessions.engine.reading import jsonio
from sessions.services.backups import BLOBS, KEY, MANIFEST, POSTGRES, SCHEMA, SQLITE

BLOB = re.compile(BLOBS + r"([0-9a-f]{64})")
NAMES = {MANIFEST, SQLITE, POSTGRES, KEY}
CHUNK_BYTES = 1 << 20
MOST_MANIFEST_BYTES = 50_000_000


class BadBackup(EngineError):
    """The archive is no backup, or not as it was written."""


@dataclass(frozen=True, slots=True)
class Backup:
    """An open archive whose members were looked at: all of them are plain files of known names."""

    archive: tarfile.TarFile
    members: dict[str, tarfile.TarInfo]
    manifest: dict[str, Any]

    @property
    def database(self) -> str:
        """The member that holds the database."""
        return str(self.manifest["database"])

    @property
    def blobs(self) -> list[str]:
        """The hashes of its blobs."""
        return [name.removeprefix(BLOBS) for name in self.members if name.startswith(BLOBS)]

    def open(self, name: str) -> IO[bytes]:
        """The bytes of a member."""
        file = self.archive.extractfile(self.members[name])
        if file is None:
            raise BadBackup(f"{name} in the backup is not a file: make the backup again")
        return file

    def write(self, name: str, target: IO[bytes], sha256: str) -> None:
        """Copy a member and compare its hash; raises BadBackup."""
        digest = hashlib.sha256()
        with self.open(name) as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
                target.write(chunk)
        if digest.hexdigest() != sha256:
            raise BadBackup(f"{name} in the backup is damaged (its hash differs): use another backup")


@contextmanager
def opened(path: Path) -> Iterator[Backup]:
    """The backup at ``path``; raises BadBackup where it is none, is cut off, or has members of other names or kinds."""
    try:
        with tarfile.open(path, "r:") as archive:
            members = _members(archive)
            yield Backup(archive, members, _manifest(archive, members))
    except (tarfile.TarError, EOFError) as error:
        raise BadBackup(f"{path} is not a backup of ctxweb, or was cut off ({error}): use another backup") from None


def _members(archive: tarfile.TarFile) -> dict[str, tarfile.TarInfo]:
    members: dict[str, tarfile.TarInfo] = {}
    for info in archive:
        if info.name not in NAMES and not BLOB.fullmatch(info.name):
            raise BadBackup(f"the archive has a member {info.name!r}, which no backup has: nothing was restored")
        if info.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or info.name in members:
            raise BadBackup(f"{info.name} is not a plain file, or is there twice: nothing was restored")
        members[info.name] = info
    return members


def _manifest(archive: tarfile.TarFile, members: dict[str, tarfile.TarInfo]) -> dict[str, Any]:
    found = members.get(MANIFEST)
    file = archive.extractfile(found) if found and found.size <= MOST_MANIFEST_BYTES else None
    if file is None:
        raise BadBackup("the archive has no manifest, so it is no backup or was cut off: use another backup")
    try:
        read: Any = jsonio.loads(file.read())
    except jsonio.JsonProblem as error:
        raise BadBackup(f"the manifest cannot be read ({error}): use another backup") from None
    manifest: dict[str, Any] = read if isinstance(read, dict) else {}
    if (
        manifest.get("schema") != SCHEMA
        or manifest.get("database") not in {SQLITE, POSTGRES}
        or manifest["database"] not in members
    ):
        raise BadBackup("the manifest is not one that this ctxweb knows: restore with the version that wrote it")
    if manifest.get("n_blobs") != sum(name.startswith(BLOBS) for name in members):
        raise BadBackup("the archive has not all the files that its manifest counts: use another backup")
    return manifest
