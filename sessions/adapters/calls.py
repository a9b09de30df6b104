"""What every call of a model shares: how it fails, and waiting that can be cancelled."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sessions.engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable


class CallFailed(EngineError):
    """A call that brought nothing usable; ``str(error)`` is fit to show and never holds the key.

    ``kind``: key_refused, billing, bad_request, rate_limited, overloaded, server, timeout, unreachable, dropped,
    malformed, refused (by the model), empty, cut (at max_tokens) or cancelled.  ``retry_after`` is in seconds.
    """

    def __init__(self, kind: str, reason: str, retry_after: float | None = None) -> None:
        self.kind, self.retry_after = kind, retry_after
        super().__init__(reason)


def never() -> bool:
    """A ``cancel`` that is never asked for."""
    return False


def pause(seconds: float, cancel: Callable[[], bool] = never) -> None:
    """Sleep, listening to ``cancel`` ten times a second; raises CallFailed when it is asked for."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        check(cancel)
        time.sleep(min(0.1, left))


def check(cancel: Callable[[], bool]) -> None:
    """Raise CallFailed when ``cancel`` is asked for."""
    if cancel():
        raise CallFailed("cancelled", "Cancelled.")
