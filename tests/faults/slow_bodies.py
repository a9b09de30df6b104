"""Request bodies that trickle in, while others want an answer."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.faults.clients import HEADERS, MULTIPART, request
from tests.faults.figures import Figure, none, seconds
from tests.faults.place import place

if TYPE_CHECKING:
    from tests.faults.figures import Size
    from tests.faults.grounds import Ground

N_SLOW = 16
SLOW_BYTES = 10_000_000
ASK_SECONDS = 0.25
LEAST_QUESTIONS = 3
PATIENCE = 10.0
"""A question without an answer for so long counts as not answered."""


def run(size: Size, ground: Ground) -> list[Figure]:
    """16 slow bodies to the upload route, then 16 to the sign-in page, each while /healthz is asked."""
    figures = []
    for path, login in (("/uploads/", False), ("/login/", True)):
        with place(ground, **({"CTXWEB_REQUIRE_LOGIN": "1"} if login else {})) as here:
            here.serve()
            slow = [_Slow(here.port, path, size.slow_seconds) for _ in range(N_SLOW)]
            times, unanswered, n_early = _asked(here.port, slow, size.enough_answers)
            words = "uploads" if path == "/uploads/" else "anonymous forms of the sign-in page"
            figures += [
                none(f"{N_SLOW} slow {words}: /healthz not answered within {PATIENCE:g} s", unanswered),
                Figure(
                    f"{N_SLOW} slow {words}: answers before time was up",
                    f"{n_early:,}",
                    f"≥ {LEAST_QUESTIONS}",
                    n_early >= LEAST_QUESTIONS,
                ),
                seconds(f"{N_SLOW} slow {words}: slowest answer", max(times, default=PATIENCE), at_most=1.0),
            ]
    return figures


def _asked(port: int, slow: list[_Slow], enough: int) -> tuple[list[float], int, int]:
    """Seconds of each answer, how many questions had none, and how many answers came before time was up."""
    times, unanswered, n_early = [], 0, 0
    time.sleep(ASK_SECONDS)
    # A server that ends slow bodies at once is asked, too.
    while len(times) + unanswered < LEAST_QUESTIONS or any(one.thread.is_alive() for one in slow):
        begun = time.monotonic()
        try:
            request(port, "GET", "/healthz", timeout=PATIENCE)
            times.append(time.monotonic() - begun)
            n_early += not any(one.done.is_set() for one in slow)
        except (OSError, http.client.HTTPException):
            unanswered += 1
        if n_early >= enough:
            for one in slow:
                one.done.set()
        time.sleep(ASK_SECONDS)
    return times, unanswered, n_early


class _Slow:
    """One connection that sends a few bytes of a large body at a time, until the server ends it or time is up."""

    def __init__(self, port: int, path: str, n_seconds: float) -> None:
        self.port, self.path, self.until = port, path, time.monotonic() + n_seconds
        self.done = threading.Event()
        """Set when time is up, or enough is seen; not when the server ends the connection, as it may."""
        self.thread = threading.Thread(target=self._run, name="slow")
        self.thread.start()

    def _run(self) -> None:
        given = HEADERS | {"Host": "127.0.0.1", "Content-Type": MULTIPART, "Content-Length": str(SLOW_BYTES)}
        head = f"POST {self.path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in given.items())
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(head.encode() + b"\r\n")
            while time.monotonic() < self.until and not self.done.wait(0.2):
                connection.sendall(b"x" * 100)
        if time.monotonic() >= self.until:
            self.done.set()
