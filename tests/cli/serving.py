"""A real ``ctxweb serve`` in a data directory of its own, and the processes that belong to it."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from ctxweb import address

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
FOREIGN = ("CTXWEB_", "DATABASE_", "DJANGO_")
"""Variables of the test run's own settings."""


class Served:
    """A running server: its address, everything it wrote, and its children."""

    def __init__(self, data: Path, *arguments: str, **variables: str) -> None:
        env = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        env |= {"CTXWEB_DATA": str(data), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        env |= variables
        self.data, self.env = data, env
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ctxweb", "serve", "--port", str(free_port()), *arguments],
            env=env,
            cwd=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        """What it wrote so far."""
        return "".join(self.lines)

    def port(self) -> int:
        """The port of the printed address, once it is printed."""
        until(lambda: "ctxweb is at" in self.output or self.process.poll() is not None)
        found = re.search(r"ctxweb is at http://127\.0\.0\.1:(\d+)/", self.output)
        assert found is not None, self.output
        return int(found[1])

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        """The response to a GET; its body has been read into ``.text``."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port(), timeout=PATIENCE)) as connection:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            response.text = response.read().decode("utf-8", "replace")  # type: ignore[attr-defined]
        return response

    def worker(self) -> int:
        """The process id of the worker, once it beats."""
        until(lambda: self.get("/readyz").status == 200 and self._workers() != [])
        (pid,) = self._workers()
        return pid

    def _workers(self) -> list[int]:
        return [pid for pid, command in children(self.process.pid) if "worker" in command.split()]

    def servers(self) -> list[int]:
        """Process ids of the processes that answer requests."""
        return [pid for pid, command in children(self.process.pid) if "spawn_main" in command]

    def family(self) -> list[int]:
        """Process ids of the server and of all its descendants."""
        found = [self.process.pid]
        for pid in found:
            found += [child for child, _ in children(pid)]
        return found

    def stop(self) -> None:
        """Make sure that nothing of it is left when a test fails half-way: only processes that it started."""
        for pid in self.family():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join(5)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)


def free_port() -> int:
    """A free port out of this process's own fifty, so that test runs side by side take none from each other.

    They lie below the ports that the system hands out itself.
    """
    return address.free_port("127.0.0.1", 12_000 + os.getpid() % 400 * address.PORTS_TRIED)


def until(condition: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait until ``condition`` holds; fail after ``patience`` seconds."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def children(pid: int) -> list[tuple[int, str]]:
    """Process id and command of each child of ``pid``."""
    return [(child, command) for child, parent, state, command in processes() if parent == pid and state != "Z"]


def is_running(pid: int) -> bool:
    """True while the process exists and is not merely waiting to be reaped."""
    return any(other == pid and state != "Z" for other, _, state, _ in processes())


def processes() -> list[tuple[int, int, str, str]]:
    """Id, parent's id, state and command of every process: from /proc where there is one, else from ps."""
    if not Path("/proc/self/stat").exists():
        command = ["ps", "-A", "-o", "pid=,ppid=,stat=,args="]
        rows = [line.split(None, 3) for line in subprocess.check_output(command, text=True).splitlines()]
        return [(int(row[0]), int(row[1]), row[2][0], row[3]) for row in rows if len(row) == 4]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:2]
            arguments = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        found.append((int(folder.name), int(parent), state, arguments))
    return found
