"""Starts this program anew, as a process beside this one, and again when that ends; ends one whose parent has gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NoReturn

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
STEADY_SECONDS = 60.0
"""A process that lived longer than this did not fail at its start."""


@dataclass(slots=True)
class BackOff:
    """A pause in seconds that doubles from 1 to 30 while processes end early."""

    pause: float = FIRST_PAUSE

    def after(self, lived: float) -> float:
        """The pause behind a process that ``lived`` so many seconds."""
        self.pause = FIRST_PAUSE if lived > STEADY_SECONDS else min(self.pause * 2, LONGEST_PAUSE)
        return self.pause


@dataclass(slots=True)
class Place:
    """A place for one process, which may start at ``next_start`` where there is none."""

    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    back_off: BackOff = field(default_factory=BackOff)
    next_start: float = 0.0

    @property
    def is_due(self) -> bool:
        return self.process is None and time.monotonic() >= self.next_start

    def start(self, *words: str, **more: Any) -> subprocess.Popen[bytes]:
        """Start ``ctxweb`` with these words here, told by ``--parent`` when to end; ``more`` as for ``start``."""
        command, *options = words
        self.process = start(command, "--parent", str(os.getpid()), *options, **more)
        self.started = time.monotonic()
        return self.process

    def ended(self) -> int | None:
        """The status of a process that has ended since the last look; the next one waits for a pause."""
        status = self.process.poll() if self.process else None
        if status is not None:
            self.process = None
            self.next_start = time.monotonic() + self.back_off.after(time.monotonic() - self.started)
        return status


def start(*words: str, env: dict[str, str] | None = None, **streams: Any) -> subprocess.Popen[bytes]:
    """``ctxweb`` with these words and this import path, in its own session, without input; ``env`` on top of ours."""
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ctxweb", *words], env={**os.environ, "PYTHONPATH": path, **(env or {})},
        stdin=subprocess.DEVNULL, start_new_session=True, **streams,
    )  # fmt: skip


LOOK_SECONDS, PATIENCE_SECONDS = 0.5, 10.0


def end_with_parent(parent_pid: int) -> None:
    """End this process once ``parent_pid`` is no longer its parent: TERM, after 10 s QUIT, after 10 s more for good.

    Polled from a thread, which works on every POSIX system, as Linux's death signal does not.
    """
    threading.Thread(target=_watch, args=(parent_pid,), name="end-with-parent", daemon=True).start()


def _watch(parent_pid: int) -> None:
    while os.getppid() == parent_pid:
        time.sleep(LOOK_SECONDS)
    for signum in (signal.SIGTERM, signal.SIGQUIT):
        os.kill(os.getpid(), signum)
        time.sleep(PATIENCE_SECONDS)
    os._exit(1)


def interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    """A signal handler: ends what runs as Ctrl-C does."""
    raise KeyboardInterrupt
