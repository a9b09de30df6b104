"""What a backup holds agrees with itself, whatever is deleted while it is written."""

from __future__ import annotations

import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest
from django.db import connection, transaction

from sessions.adapters import storage
from sessions.engine.reading.jsonio import loads
from sessions.models import Session, Upload
from sessions.services.backups import BLOBS, copies, writing
from sessions.services.backups.copies import named_in
from sessions.services.backups.writing import write_backup
from sessions.services.deleting import delete
from tests.services.conftest import Ingest
from tests.services.test_deleting import SHOT, the, with_shots

pytestmark = [
    pytest.mark.django_db(transaction=True),  # SQLite copies what is committed
    pytest.mark.skipif(connection.vendor != "sqlite", reason="pg_dump is another process: tests/servers/test_keep.py"),
]


def looked_at(archive: Path, folder: Path) -> tuple[set[str], set[str], int]:
    """The blobs in the archive, those that its database names, and its sessions."""
    with tarfile.open(archive) as found:
        members = {info.name for info in found}
        found.extract("database.sqlite3", folder, filter="data")
    with closing(sqlite3.connect(folder / "database.sqlite3")) as copy:
        named = named_in(copy)
        ((n_sessions,),) = copy.execute("select count(*) from agent_sessions_session").fetchall()
    return {name.removeprefix("blobs/") for name in members if name.startswith("blobs/")}, named, n_sessions


def after_each(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen behind every file that goes into the archive while blobs are added."""
    add = writing._add

    def added(archive: tarfile.TarFile, name: str, file: IO[bytes], n_bytes: int) -> None:
        add(archive, name, file, n_bytes)
        if name.startswith(BLOBS):
            happens()

    monkeypatch.setattr(writing, "_add", added)


def test_what_is_deleted_meanwhile_is_in_neither(
    ingested: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [the(ingested(with_shots(name, SHOT))).pk for name in "abcd"]

    after_each(monkeypatch, lambda: delete(sessions=[keys.pop()]) if len(keys) > 1 else None)
    written = write_backup(tmp_path / "b.tar", "1")
    held, named, n_sessions = looked_at(tmp_path / "b.tar", tmp_path)
    assert n_sessions == 1
    assert named <= held
    assert written.missing == ()


def test_what_comes_meanwhile_is_whole_or_not_there(
    ingested: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingested(with_shots("a", SHOT))
    after_each(monkeypatch, lambda: ingested(with_shots("b")))
    write_backup(tmp_path / "b.tar", "1")
    held, named, n_sessions = looked_at(tmp_path / "b.tar", tmp_path)
    assert (named, n_sessions) == (held, 1)
    assert Session.objects.count() == 2


def test_lost_bytes_are_named_in_the_manifest(ingested: Ingest, tmp_path: Path) -> None:
    ingested(with_shots("a", SHOT))
    upload = Upload.objects.get()
    storage.remove(upload.sha256)
    assert write_backup(tmp_path / "b.tar", "1").missing == (upload.sha256,)
    with tarfile.open(tmp_path / "b.tar") as archive:
        file = archive.extractfile("manifest.json")
        assert file is not None
        assert loads(file.read())["missing"] == [upload.sha256]
        assert archive.getnames()[-1] == "manifest.json", "it seals the archive"


def test_a_locked_database_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "MOST_TRIES", 1)
    with transaction.atomic(), pytest.raises(copies.CopyFailed, match="stays locked"):
        write_backup(tmp_path / "b.tar", "1")


def test_a_backup_that_breaks_off_leaves_nothing(
    ingested: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingested(with_shots("a"))
    folder = tmp_path / "there"
    folder.mkdir()

    def full(_sha256: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage, "open_at_rest", full)
    with pytest.raises(OSError, match="No space left"):
        write_backup(folder / "b.tar", "1")
    assert list(folder.iterdir()) == []
