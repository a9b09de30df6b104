"""People who upload: they send a file again until the server said that it has it."""

from __future__ import annotations

import http.client
import random
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.faults.files import File, any_size, transcript

if TYPE_CHECKING:
    from tests.faults.place import Place

TOKEN = "faults" * 5 + "ab"
"""A CSRF cookie and its header: a browser takes both from a page."""

HEADERS = {"Cookie": f"ctxweb_csrf={TOKEN}", "X-CSRFToken": TOKEN}
BOUNDARY = "ctxweb-faults-boundary"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


def request(port: int, method: str, path: str, body: bytes | None = None, timeout: float = 60.0) -> tuple[int, str]:
    """Status and the ``Location`` of one request.  Raises OSError and HTTPException."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        headers = HEADERS | ({"Content-Type": MULTIPART} if body is not None else {})
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        response.read()
        return response.status, response.headers.get("Location", "")
    finally:
        connection.close()


def form(file: File) -> bytes:
    """The body of an upload."""
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{file.name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return head.encode() + file.data + f"\r\n--{BOUNDARY}--\r\n".encode()


def acknowledged(port: int, file: File) -> bool:
    """Upload ``file`` once; whether the server says that it has the file.  Raises OSError and HTTPException."""
    status, location = request(port, "POST", "/uploads/", form(file))
    return status == 302 and ("ids=" in location or "same=" in location)


class Uploaders:
    """Threads that upload files of all sizes until ``finish``; ``taken`` are those that were acknowledged."""

    def __init__(self, place: Place, *, n_clients: int, seed: int, largest: int, backlog: int = 150) -> None:
        self.place, self.largest, self.backlog = place, largest, backlog
        self.taken: list[File] = []
        self.n_broken = 0
        self.other: list[str] = []
        """What else than an acknowledgement or a broken connection came back."""
        self._lock, self._done = threading.Lock(), threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(seed * 1_000_000 + n * 100_000,), name=f"uploader-{n}")
            for n in range(n_clients)
        ]
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """Have each client end once its file is acknowledged."""
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _run(self, seed: int) -> None:
        rng = random.Random(seed)
        while not self._done.is_set():
            seed += 1
            self._send(transcript(seed, any_size(rng, self.largest)))
            self._done.wait(rng.uniform(0.05, 0.5))
            while not self._done.is_set() and self.place.n_unsettled() > self.backlog:
                self._done.wait(0.5)

    def _send(self, file: File) -> None:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            try:
                if acknowledged(self.place.port, file):
                    with self._lock:
                        self.taken.append(replace(file, data=b""))
                    return
                with self._lock:
                    self.other.append(f"{file.name}: not acknowledged")
            except (OSError, http.client.HTTPException):
                with self._lock:
                    self.n_broken += 1
            time.sleep(0.2)
        self.other.append(f"{file.name}: nobody took it within 300 s")
