"""A file that the worker touches: how the server knows that somebody is there to read uploads.

Only meaningful where worker and server share the data directory, as they do without a shared broker.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

INTERVAL_SECONDS = 2.0
STALE_SECONDS = 15.0


def beat(path: Path) -> None:
    """Touch ``path`` every two seconds from a thread, for as long as this process lives."""
    threading.Thread(target=_beat, args=(path,), name="heartbeat", daemon=True).start()


def is_beating(path: Path) -> bool:
    """True if ``path`` was touched in the last 15 seconds (or, where the clock was set back, in the next)."""
    try:
        return abs(time.time() - path.stat().st_mtime) < STALE_SECONDS
    except OSError:
        return False


def _beat(path: Path) -> None:
    while True:
        path.touch()
        time.sleep(INTERVAL_SECONDS)
