"""Ends a process whose parent has gone, so that killing ``ctxweb serve`` leaves nothing behind."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType
from typing import NoReturn

PATIENCE_SECONDS = 10.0


def end_with_parent(parent_pid: int, *, interval: float = 0.5) -> None:
    """Watch ``parent_pid`` from a thread; once it is no longer this process's parent, end this process.

    TERM first (a Celery worker finishes or gives back its task), after 10 s QUIT, after 10 s more for good.  Polling
    the parent's id works on every POSIX system, where Linux's death signal does not.
    """
    threading.Thread(target=_watch, args=(parent_pid, interval), name="end-with-parent", daemon=True).start()


def _watch(parent_pid: int, interval: float) -> None:
    while os.getppid() == parent_pid:
        time.sleep(interval)
    for signum in (signal.SIGTERM, signal.SIGQUIT):
        os.kill(os.getpid(), signum)
        time.sleep(PATIENCE_SECONDS)
    os._exit(1)


def interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    """A signal handler: ends what runs as Ctrl-C does."""
    raise KeyboardInterrupt
