"""``ctxweb serve`` is told to end (SIGTERM) while it is busy."""

from __future__ import annotations

import http.client
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.clients import HEADERS, MULTIPART, acknowledged, form, request
from tests.faults.figures import Figure, exactly, seconds
from tests.faults.files import File, transcript
from tests.faults.place import place

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.figures import Size
    from tests.faults.grounds import Ground
    from tests.faults.place import Place

END_SECONDS = 5.0


def run(size: Size, ground: Ground) -> list[Figure]:
    """End it while a body arrives, while a page is made and while a big file is read; start it again."""
    big, sent, small = transcript(1, size.big_bytes), transcript(2, size.big_bytes // 5), transcript(3, 5_000)
    with place(ground) as here:
        here.serve()
        assert acknowledged(here.port, small)
        here.until(lambda: here.n_unsettled() == 0, "the first upload is read")
        session = here.rows("select id from agent_sessions_session")[0][0]
        figures = [
            *_ended("while an upload arrives", here, lambda: _send_half(here.port, sent)),
            *_ended("while pages are made", here, lambda: _ask_pages(here.port, f"/s/{session}/")),
            *_ended("while a big file is read", here, lambda: _read_big(here, big)),
        ]
        ((state, attempts, losses),) = _job(here, big)
        figures += [
            Figure("the big file's work after the end", state, "queued", state == "queued"),
            exactly("attempts counted", attempts, 0),
            Figure(
                "given back by", "the worker itself" if not losses else "the supervisor, behind a worker too busy to"
            ),
        ]
        here.serve()
        assert acknowledged(here.port, sent), "the upload is sent again"
        figures += [outcome.settled(here, patience=600)[0], *outcome.outcome(here, [big, sent, small])]
        return figures + outcome.leftovers(here)


def _ended(when: str, here: Place, busy: Callable[[], list[threading.Thread]]) -> list[Figure]:
    """SIGTERM once ``busy`` says that it is so; how long the end took and what it left."""
    process = here.tops[-1]
    threads = busy()
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    status = process.wait(120)
    took = time.monotonic() - begun
    for thread in threads:
        thread.join()
    here.until(lambda: not here.processes(), "all its processes are gone")
    if "big" not in when:
        here.serve()
    return [
        seconds(f"until `serve` ended, {when}", took, at_most=END_SECONDS),
        exactly(f"its exit status, {when}", status, 0),
    ]


def _send_half(port: int, file: File) -> list[threading.Thread]:
    """Have a client send half of an upload, and then a little at a time."""
    half_sent, body = threading.Event(), form(file)
    given = HEADERS | {"Host": "127.0.0.1", "Content-Type": MULTIPART, "Content-Length": str(len(body))}
    head = "POST /uploads/ HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in given.items())

    def send() -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(head.encode() + b"\r\n" + body[: len(body) // 2])
            half_sent.set()
            for start in range(len(body) // 2, len(body), 1000):
                connection.sendall(body[start : start + 1000])
                time.sleep(0.1)

    thread = threading.Thread(target=send, name="half an upload")
    thread.start()
    assert half_sent.wait(60)
    time.sleep(0.3)
    return [thread]


def _ask_pages(port: int, path: str) -> list[threading.Thread]:
    """Have four clients ask for one page after the other, until nobody answers."""
    asked = threading.Semaphore(0)

    def ask() -> None:
        with suppress(OSError, http.client.HTTPException):
            while True:
                request(port, "GET", path)
                asked.release()

    threads = [threading.Thread(target=ask, name="pages") for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert asked.acquire(timeout=60)
    return threads


def _read_big(here: Place, big: File) -> list[threading.Thread]:
    assert acknowledged(here.port, big)
    here.until(lambda: _job(here, big)[0][0] == "reading", "the big file is being read")
    return []


def _job(here: Place, file: File) -> list[tuple[str, int, int]]:
    return here.rows(
        "select j.state, j.attempts, j.losses from agent_sessions_job j join agent_sessions_upload u "
        f"on u.id = j.upload_id where u.sha256 = '{file.sha256}'"
    )
