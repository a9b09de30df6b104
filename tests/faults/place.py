"""One installation of ctxweb: its data folder, its real processes, and its database as an outsider sees it."""

from __future__ import annotations

import atexit
import http.client
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.faults.grounds import EMBEDDED, Ground, free_port, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = ("CTXWEB_", "DATABASE_", "DJANGO_", "ANTHROPIC_")
PATIENCE = 300.0
"""Seconds after which something that has to happen counts as not happening."""

TOP, ANSWERER, READER, COUNTER, SUPERVISOR, OTHER = "server", "answerer", "reader", "counter", "supervisor", "other"
"""``ctxweb serve``, its process for requests, a worker process, its token counter, ``ctxweb worker``."""


class Place:
    """A data folder with its database, and everything that is started in it."""

    def __init__(self, folder: Path, ground: Ground, given: dict[str, str]) -> None:
        self.ground, self.data, self.log = ground, folder / "data", folder / "log.txt"
        self.env = _environment(self.data, given)
        self.port = 0
        self.tops: list[subprocess.Popen[bytes]] = []
        shutil.copytree(_fresh(), self.data)
        self.log.touch()

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """A ``ctxweb`` command in the background; its output goes to the log."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "ctxweb", *command],
                env=self.env, cwd=self.data, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.tops.append(process)
        return process

    def serve(self, *, answering: bool = True) -> subprocess.Popen[bytes]:
        """``ctxweb serve`` on a new port; returns once it answers, unless told not to wait."""
        self.port = free_port()
        process = self.start("serve", "--port", str(self.port))
        if answering:
            self.until(lambda: process.poll() is not None or self.answers(), "the server answers")
            assert process.poll() is None, self.output()[-3000:]
        return process

    def python(self, code: str, *arguments: str) -> subprocess.Popen[bytes]:
        """A fresh interpreter with this installation's environment."""
        with self.log.open("ab") as log:
            return subprocess.Popen([sys.executable, "-c", code, *arguments], env=self.env, stdout=log, stderr=log)

    def migrate(self) -> None:
        """Create the database's tables, which otherwise the first start does."""
        if self.ground.database == "SQLite":
            return  # the folder came with them
        code = "from ctxweb.startup import load_django, migrate; load_django(); migrate()"
        assert self.python(code).wait() == 0, self.output()[-3000:]

    def answers(self) -> bool:
        """Whether the server answers on its port."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def output(self) -> str:
        """Everything that was printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def processes(self) -> list[tuple[int, str]]:
        """Id and kind of every living process of this installation, whoever its parent is by now."""
        ours = f"CTXWEB_DATA={self.data}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if ours not in (folder / "environ").read_bytes().split(b"\0"):
                    continue
                state = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
                words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            except OSError:
                continue
            if state != "Z":
                found.append((int(folder.name), _kind(words)))
        return found

    def of(self, *kinds: str) -> list[int]:
        """Ids of the living processes of these kinds."""
        return [pid for pid, kind in self.processes() if kind in kinds]

    def end(self) -> None:
        """End whatever is left of this installation."""
        while left := self.processes():
            for pid, _ in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in self.tops:
                process.poll()
            time.sleep(0.05)
        for process in self.tops:
            process.wait()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a connection of its own sees in the database."""
        if self.ground.database == "PostgreSQL":
            import psycopg

            with psycopg.connect(self.env["DATABASE_URL"], autocommit=True) as connection:
                cursor = connection.execute(query.encode())
                return cursor.fetchall() if cursor.description else []
        with closing(sqlite3.connect(self.data / "ctxweb.sqlite3", timeout=60)) as database:
            return database.execute(query).fetchall()

    def n_jobs(self, *states: str) -> int:
        """How many readings of uploads are in one of ``states``."""
        named = ", ".join(f"'{state}'" for state in states)
        n: int = self.rows(f"select count(*) from agent_sessions_job where state in ({named})")[0][0]
        return n

    def n_unsettled(self) -> int:
        """How many uploads wait or are being read."""
        return self.n_jobs("queued", "reading")

    def until(self, condition: Callable[[], bool], described: str, patience: float = PATIENCE) -> float:
        """Wait until ``condition`` holds; the seconds it took.  Fails after ``patience`` seconds."""
        begun = time.monotonic()
        while not condition():
            assert time.monotonic() - begun < patience, f"waited in vain: {described}\n{self.output()[-3000:]}"
            time.sleep(0.05)
        return time.monotonic() - begun


_making = threading.Lock()


@cache
def _made() -> Path:
    """A data folder as the first start makes it, with an empty SQLite database: made once for all scenarios."""
    folder = Path(tempfile.mkdtemp(prefix="ctxweb-faults-fresh-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    env = _environment(folder, {"DATABASE_URL": ""})
    code = "from ctxweb import startup; startup.load_django(); startup.migrate(); startup.collect_static()"
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    return folder


def _fresh() -> Path:
    with _making:
        return _made()


def _environment(data: Path, given: dict[str, str]) -> dict[str, str]:
    """Nothing of the caller's own settings is left in it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    own = {"CTXWEB_DATA": str(data), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore"}
    return {**kept, **own, **given}


@contextmanager
def place(ground: Ground = EMBEDDED, **further: str) -> Iterator[Place]:
    """An installation on ``ground`` with ``further`` environment variables, gone afterwards with all it started."""
    folder = Path(tempfile.mkdtemp(prefix="ctxweb-faults-"))
    try:
        with variables(ground) as given:
            here = Place(folder, ground, given | further)
            try:
                yield here
            finally:
                here.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _kind(words: list[str]) -> str:
    if "serve" in words:
        return TOP
    if "worker" in words:
        return READER if "--parent" in words else SUPERVISOR
    code = " ".join(words)
    if "spawn_main" in code:
        return ANSWERER
    return COUNTER if "tokenizer_process" in code else OTHER
