"""Faults of the surroundings on the command line: a sentence with what, where and what next; status 1."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, OperationalError, ProgrammingError
from kombu.exceptions import OperationalError as BrokerUnreachable

from sessions.engine.base.errors import UnreadableInput
from sessions.faults import GONE, NO_ROOM, UNAVAILABLE, FaultError, fault_of
from tests.cli.processes import ROOT, environment, run

FILE = str(ROOT / "tests/fixtures/transcripts/claude_code/rewind.jsonl")


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "words", "status"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space is left", NO_ROOM),
        (OSError(errno.EDQUOT, "Quota", "/d/blob"), "No space is left for /d/blob", NO_ROOM),
        (OperationalError("database or disk is full"), "no space left", NO_ROOM),
        (MemoryError(), "not enough memory", NO_ROOM),
        (PermissionError(errno.EACCES, "Permission denied", "/d"), "/d may not be read or written", UNAVAILABLE),
        (FileExistsError(errno.EEXIST, "File exists", "/d"), "/d is a file where a folder is needed", UNAVAILABLE),
        (OSError(errno.EROFS, "Read-only", "/d"), "cannot be written", UNAVAILABLE),
        (OperationalError("database is locked"), "another process writes", UNAVAILABLE),
        (DatabaseError("database disk image is malformed"), "is damaged", UNAVAILABLE),
        (DatabaseError("file is not a database"), "is not a database", UNAVAILABLE),
        (OperationalError("no such table: x"), "not set up yet", UNAVAILABLE),
        (ProgrammingError('relation "x" does not exist'), "not set up yet", UNAVAILABLE),
        (OperationalError("connection failed: refused"), "does not answer: connection failed: refused", UNAVAILABLE),
        (BrokerUnreachable("[Errno 111] Connection refused"), "The broker does not answer", UNAVAILABLE),
        (ImproperlyConfigured("Error loading psycopg module"), "pip install 'ctxweb[postgres]'", UNAVAILABLE),
        (ModuleNotFoundError("No module named 'redis'", name="redis"), "pip install 'ctxweb[redis]'", UNAVAILABLE),
        (ImportError("Missing redis library (pip install redis)"), "pip install 'ctxweb[redis]'", UNAVAILABLE),
        (ModuleNotFoundError("No module named 'storages'", name="storages.backends"), "ctxweb[s3]", UNAVAILABLE),
        (UnreadableInput("no JSON", line=3, offset=9), "line 3, byte 9: no JSON", GONE),
        (FaultError("A is B.", "Do C."), "A is B. Do C.", UNAVAILABLE),
        (caused(RuntimeError("later"), OperationalError("database is locked")), "another process writes", UNAVAILABLE),
    ],
)  # fmt: skip
def test_a_fault_is_told_in_words(error: Exception, words: str, status: int) -> None:
    fault = fault_of(error)
    assert fault
    assert words in fault.words
    assert fault.status == status


@pytest.mark.parametrize(
    "error",
    [
        ZeroDivisionError(),
        KeyError("x"),
        ValueError("y"),
        ModuleNotFoundError("z", name="z"),
        ProgrammingError("syntax"),
    ],
)
def test_a_mistake_of_ours_is_none(error: Exception) -> None:
    assert fault_of(error) is None


def failing(*arguments: str, data: Path, words: str, **variables: str) -> None:
    done = run(data, *arguments, **variables)
    assert done.returncode == 1, done
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("Error: ")
    assert words in line
    assert not done.stdout


def test_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    failing("ingest", FILE, data=file, words=f"{file} is a file where a folder is needed")


def test_a_database_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "ctxweb.sqlite3").write_bytes(b"no database at all" * 500)
    failing("ingest", FILE, "--json", data=tmp_path, words="is not a database")


def test_a_database_of_a_newer_version(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ctxweb.sqlite3")) as made, made:
        made.execute("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app TEXT, name TEXT, applied TEXT)")
        made.execute("INSERT INTO django_migrations VALUES (1, 'agent_sessions', '9999_later', '2030-01-01 00:00:00')")
    failing("ingest", FILE, data=tmp_path, words="the last agent_sessions.9999_later")


def test_an_extra_that_is_missing_and_a_setting_that_is_none(tmp_path: Path) -> None:
    wrong = run(tmp_path, "ingest", FILE, CTXWEB_MAX_UPLOAD_MB="x")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "Error: CTXWEB_MAX_UPLOAD_MB is 'x'. Use a whole number of at least 1.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments", [["inspect", FILE], ["inspect", FILE, "--json"], ["export", FILE, "--to", "jsonl"]]
)
def test_an_output_that_is_full(arguments: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "ctxweb", *arguments]
        done = subprocess.run(
            command, env=environment(tmp_path), stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120
        )
    assert done.returncode == 1
    assert "No space is left" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_reader_that_has_gone(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "ctxweb", "policies", "--json"]
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(
            command, env=environment(tmp_path), stdout=pipe, stderr=subprocess.PIPE, text=True, check=False, timeout=120
        )
    assert (done.returncode, done.stderr) == (1, "")
