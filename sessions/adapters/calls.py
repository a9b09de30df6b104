"""What calls of other servers share: how they fail, how many may begin, waiting that can be cancelled, redirects."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from sessions.engine.base.errors import EngineError

_PLAIN = re.compile(r"[\w.~:/%-]+", re.ASCII)
"""A host and a path that can be shown as they are."""


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
    if cancel():
        raise CallFailed("cancelled", "Cancelled.")


def pointed_to(asked: str, location: str) -> str:
    """The address that a redirect of ``asked`` leads to, without credentials and query; "" where it is none.

    Whoever sends a credential follows no redirect: the next server has not been given it.  They name this instead.
    """
    try:
        found = urlsplit(urljoin(asked, location))
        host, port = found.hostname or "", found.port
    except ValueError:
        return ""
    known = found.scheme in {"http", "https"} and location and _PLAIN.fullmatch(host + found.path)
    shown = f"[{host}]" if ":" in host else host
    return f"{found.scheme}://{shown}{f':{port}' if port else ''}{found.path or '/'}" if known else ""


class Bucket(Protocol):
    """Who may call now; kept here (``TokenBucket``) or by the server for all its processes (``memory``)."""

    def wait(self) -> float:
        """Take a token; how long its holder has to wait before it may call, in seconds."""

    def hand_back(self) -> None:
        """Return a token that was not used."""

    def pause(self, seconds: float) -> None:
        """Nobody calls for ``seconds`` from now, and no token is saved up meanwhile."""

    def take(self, cancel: Callable[[], bool] = never, patience: float = math.inf) -> None:
        """Wait for a token; raises CallFailed: cancelled, or rate_limited where that takes longer than ``patience``."""
        seconds = self.wait()
        if seconds > patience:
            self.hand_back()
            later = f"The API asked for fewer requests. Try again in {math.ceil(seconds):,} s."
            raise CallFailed("rate_limited", later, seconds)
        if seconds > 0:
            pause(seconds, cancel)


class TokenBucket(Bucket):
    """``per_minute`` calls a minute, ``burst`` of them at once; ``pause`` holds all back as a server asked."""

    def __init__(self, per_minute: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        if per_minute <= 0 or burst < 1:
            raise ValueError("a bucket lets at least one call through")
        self.rate, self.burst, self.clock = per_minute / 60, burst, clock
        self.tokens, self.filled_at = float(burst), clock()
        self.lock = threading.Lock()

    def wait(self) -> float:
        with self.lock:
            now = self.clock()
            if now > self.filled_at:
                self.tokens = min(float(self.burst), self.tokens + (now - self.filled_at) * self.rate)
                self.filled_at = now
            held_back = self.filled_at - now
            self.tokens -= 1
            return held_back + max(0.0, -self.tokens / self.rate)

    def hand_back(self) -> None:
        with self.lock:
            self.tokens += 1

    def pause(self, seconds: float) -> None:
        with self.lock:
            self.filled_at = max(self.filled_at, self.clock() + seconds)
            self.tokens = min(self.tokens, 1.0)
