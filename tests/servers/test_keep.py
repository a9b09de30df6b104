"""PostgreSQL: deleting beside others, backing up with pg_dump, restoring into another database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_backup import DOCUMENTS
from tests.every import EVERY
from tests.servers.servers import ROOT, database, environment
from tests.services.claude_lines import Lines, png

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.exhaustive, pytest.mark.services]


def ctxweb(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ctxweb", *arguments]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def documents(env: dict[str, str]) -> dict[str, str]:
    env = env | {"DJANGO_SETTINGS_MODULE": "ctxweb.settings"}
    command = [sys.executable, "-c", DOCUMENTS]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def second_url() -> Iterator[str]:
    """Another fresh, empty database."""
    with database("second") as url:
        yield url


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of an installation with a session and its picture, in which no test changes anything."""
    folder = tmp_path_factory.mktemp("library")
    with database("library") as url:
        env = environment(folder / "data", DATABASE_URL=url)
        (folder / "a.jsonl").write_bytes(Lines().prompt("Look").turn(png(640, 480)).bytes())
        done = ctxweb(env, "ingest", str(folder / "a.jsonl"))
        assert done.returncode == 0, done.stderr
        (folder / "data").chmod(0o700)
        yield env


def test_a_backup_is_restored_into_another_database(tmp_path: Path, library: dict[str, str], second_url: str) -> None:
    archive = tmp_path / "b.tar"
    done = ctxweb(library, "backup", str(archive))
    assert done.returncode == 0, done.stderr
    refused = ctxweb(library, "restore", str(archive), "--into", str(tmp_path / "new"))
    assert refused.returncode == 1
    assert "set DATABASE_URL to an empty database" in refused.stderr
    wrong = ctxweb(library | {"DATABASE_URL": ""}, "restore", str(archive), "--into", str(tmp_path / "new"))
    assert wrong.returncode == 1
    assert "the backup is of a PostgreSQL database" in wrong.stderr
    assert not (tmp_path / "new").exists()
    there = library | {"DATABASE_URL": second_url}
    done = ctxweb(there, "restore", str(archive), "--into", str(tmp_path / "new"))
    assert done.returncode == 0, done.stderr
    there["CTXWEB_DATA"] = str(tmp_path / "new")
    looked = ctxweb(there, "doctor", "--deep")
    assert (looked.returncode, looked.stderr) == (0, "Nothing is wrong.\n")
    assert documents(there) == documents(library)


def test_without_pg_dump_it_says_what_to_install(tmp_path: Path, library: dict[str, str]) -> None:
    done = ctxweb(library | {"PATH": str(tmp_path)}, "backup", str(tmp_path / "b.tar"))
    assert done.returncode == 1
    assert "pg_dump is not installed here" in done.stderr


def test_a_pg_dump_of_another_version_is_told_in_words(tmp_path: Path, library: dict[str, str]) -> None:
    fake = tmp_path / "bin" / "pg_dump"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'pg_dump: error: aborting because of server version mismatch' >&2\nexit 1\n")
    fake.chmod(0o755)
    done = ctxweb(library | {"PATH": f"{fake.parent}:{os.environ['PATH']}"}, "backup", str(tmp_path / "b.tar"))
    assert done.returncode == 1
    assert "install a pg_dump that is at least as new as the server" in done.stderr
    assert not (tmp_path / "b.tar").exists()


RACE = """
import io, sys, threading
import django
django.setup()
from django.db import OperationalError, connection
from sessions.adapters import storage
from sessions.models import Session, Upload
from sessions.services.deleting import delete
from sessions.services.ingest import UploadDeleted, ingest
from sessions.services.uploads import receive
from tests.services.claude_lines import session

DATA, ROUNDS, wrong = session(2), int(sys.argv[1]), []

def storing():
    for _ in range(ROUNDS):
        try:
            upload, _ = receive(file=io.BytesIO(DATA), filename="a.jsonl")
            ingest(upload_id=upload.pk)
        except (UploadDeleted, OperationalError):  # a busy machine: SQLite was locked for too long
            continue
    connection.close()

def deleting(stop):
    while not stop.is_set():
        try:
            delete(uploads=list(Upload.objects.values_list("pk", flat=True)))
        except OperationalError:
            continue
        for upload in Upload.objects.all():
            if not storage.exists(upload.sha256) and Upload.objects.filter(pk=upload.pk).exists():
                wrong.append(upload.pk)
    connection.close()

def run(work, *arguments):
    try:
        work(*arguments)
    except Exception as error:
        wrong.append(repr(error))

stop = threading.Event()
stores = [threading.Thread(target=run, args=(storing,)) for _ in range(3)]
deleter = threading.Thread(target=run, args=(deleting, stop))
for thread in (*stores, deleter):
    thread.start()
for thread in stores:
    thread.join()
stop.set()
deleter.join()
for upload in Upload.objects.all():
    assert storage.exists(upload.sha256)
delete(uploads=list(Upload.objects.values_list("pk", flat=True)))
print(wrong, [blob.sha256 for blob in storage.stored()], Session.objects.count())
"""


ROUNDS = 15 if EVERY else 5


@pytest.mark.parametrize("database", ["PostgreSQL", "SQLite"])
def test_equal_bytes_stored_and_deleted_at_the_same_time(tmp_path: Path, database: str, postgres_url: str) -> None:
    """Whoever comes first, a row never names bytes that are gone, and nothing is left in the end."""
    url = postgres_url if database == "PostgreSQL" else ""
    (tmp_path / "race").mkdir()
    env = environment(tmp_path / "race", DATABASE_URL=url, DJANGO_SETTINGS_MODULE="ctxweb.settings")
    assert ctxweb(env, "doctor", "--mend").returncode == 0
    done = subprocess.run(
        [sys.executable, "-c", RACE, str(ROUNDS)],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[] [] 0\n", done.stderr[-2000:]
