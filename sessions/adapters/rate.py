"""A token bucket: how many calls may begin, for all threads of this process."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Protocol

from sessions.adapters.calls import CallFailed, never, pause

if TYPE_CHECKING:
    from collections.abc import Callable


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
        """Take a token; how long its holder has to wait before it may call, in seconds."""
        with self.lock:
            now = self.clock()
            if now > self.filled_at:
                self.tokens = min(float(self.burst), self.tokens + (now - self.filled_at) * self.rate)
                self.filled_at = now
            held_back = self.filled_at - now
            self.tokens -= 1
            return held_back + max(0.0, -self.tokens / self.rate)

    def hand_back(self) -> None:
        """Return a token that was not used."""
        with self.lock:
            self.tokens += 1

    def pause(self, seconds: float) -> None:
        """Nobody calls for ``seconds`` from now, and no token is saved up meanwhile."""
        with self.lock:
            self.filled_at = max(self.filled_at, self.clock() + seconds)
            self.tokens = min(self.tokens, 1.0)
