"""A line on standard error for what takes longer than a second: what is done, how far it is, since when."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sessions.engine.redact.escaping import printable

FIRST_SECONDS, EACH_SECONDS = 1.0, 0.5
CLEARED = "\r\x1b[K"
MOST_CHARS = 70


@contextmanager
def patience(words: str, share: Callable[[], float] | None = None) -> Iterator[None]:
    """Say ``words`` after a second, and every half second how long it takes; the line goes at the end.

    ``share`` gives the part that is done, 0 to 1; it may fail when there is nothing to tell any more.  Nothing is
    written where standard error is no terminal.  One line at a time: inside another, nothing is added.
    """
    if not sys.stderr.isatty() or not _turn.acquire(blocking=False):
        yield
        return
    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(printable(words)[:MOST_CHARS], share, ended), daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        _turn.release()


_turn = threading.Lock()


def _tell(words: str, share: Callable[[], float] | None, ended: threading.Event) -> None:
    started = time.monotonic()
    if ended.wait(FIRST_SECONDS):
        return
    while True:
        part = ""
        if share is not None:
            try:
                part = f" {min(1.0, share()):.0%}"
            except (OSError, ValueError, ZeroDivisionError):
                part = ""
        sys.stderr.write(f"{CLEARED}{words}{part}, {time.monotonic() - started:.0f} s")
        sys.stderr.flush()
        if ended.wait(EACH_SECONDS):
            break
    sys.stderr.write(CLEARED)
    sys.stderr.flush()
