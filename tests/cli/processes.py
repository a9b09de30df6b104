"""Real ``ctxweb`` processes in a data directory of their own."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.services.claude_lines import Lines, png

SEND = """
import os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")
import django
django.setup()
from sessions import tasks
from sessions.services.uploads import receive
with open(sys.argv[1], "rb") as file:
    receive(file=file, filename=os.path.basename(sys.argv[1]))
    tasks.wake()
"""
SET_UP = """
from ctxweb.startup import collect_static, load_django, migrate
load_django()
migrate()
collect_static()
"""
ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60


def environment(data: Path) -> dict[str, str]:
    """The environment of a process that keeps everything in ``data``."""
    ours = ("CTXWEB_", "DJANGO_", "ANTHROPIC_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "CTXWEB_DATA": str(data), "DATABASE_URL": "", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}


@functools.cache
def _set_up() -> Path:
    """A data folder as the first start leaves it, made once in a run of tests: it takes seconds."""
    folder = Path(tempfile.mkdtemp(prefix="ctxweb-set-up-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = [sys.executable, "-c", SET_UP]
    subprocess.run(command, env=environment(folder), cwd=ROOT, check=True, timeout=300, capture_output=True)
    (folder / "secret_key").unlink(missing_ok=True)
    return folder


def set_up(data: Path) -> Path:
    """``data`` as a first start leaves it: an SQLite database with every migration, and the static files.

    For tests of what comes after that; a first start itself is tested in test_serve, test_ingest and test_environment.
    """
    shutil.copytree(_set_up(), data, dirs_exist_ok=True)
    return data


@functools.cache
def _library() -> Path:
    """``set_up`` with a session and its picture ingested, made once in a run of tests."""
    folder = Path(tempfile.mkdtemp(prefix="ctxweb-library-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "a.jsonl").write_bytes(Lines().prompt("Look").turn(png(640, 480)).bytes())
    done = run(set_up(folder / "data"), "ingest", str(folder / "a.jsonl"))
    assert done.returncode == 0, done.stderr
    return folder / "data"


def library(data: Path) -> Path:
    """``data`` with one session and its picture, of a file a.jsonl."""
    shutil.copytree(_library(), data)
    return data


def run(data: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """One ``ctxweb`` command to its end, with further environment ``variables``."""
    command = [sys.executable, "-m", "ctxweb", *arguments]
    given = environment(data) | variables
    return subprocess.run(command, env=given, capture_output=True, text=True, check=False, timeout=120)


def send(data: Path, file: Path) -> None:
    """Store ``file`` as an upload that waits for a worker; the database must be there."""
    subprocess.run([sys.executable, "-c", SEND, str(file)], env=environment(data), check=True, timeout=120)


@contextmanager
def worker(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker with a process group of its own, gone at the end."""
    command = [sys.executable, "-m", "ctxweb", "worker"]
    process = subprocess.Popen(command, env=environment(data), start_new_session=True)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to the process and its children, as a machine that runs out of memory would."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def rows(data: Path, query: str) -> list[tuple[Any, ...]]:
    """What another connection sees in the database."""
    with closing(sqlite3.connect(data / "ctxweb.sqlite3", timeout=20)) as connection:
        return connection.execute(query).fetchall()


def wait_for(what: Callable[[], bool], described: str) -> None:
    """Until ``what`` is true; fails after a minute."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if what():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {PATIENCE_SECONDS} s: {described}")
