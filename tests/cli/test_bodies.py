"""Request bodies at a real server: slow ones hold nobody up, large ones are for uploads, broken ones leave nothing."""

from __future__ import annotations

import re
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.processes import rows, set_up
from tests.cli.serving import Served, until
from tests.services.claude_lines import session

pytestmark = pytest.mark.exhaustive

AT_ONCE = 16
GENEROUS_SECONDS = 10.0
"""For one answer while the bodies are held open; without them it takes milliseconds, and it took for ever before."""

TOKEN = "a" * 32
"""A cookie that anybody can set: with it the server has to read the form for the token in it."""

PATIENT = {
    "CTXWEB_BODY_SECONDS": "300", "CTXWEB_UPLOADS_AT_ONCE": str(AT_ONCE), "CTXWEB_SERVER_PROCESSES": "1",
}  # fmt: skip
IMPATIENT = {"CTXWEB_BODY_SECONDS": "1"}


class Sent:
    """A request on a socket of its own, whose body the test sends as it likes."""

    def __init__(self, served: Served, path: str, headers: dict[str, str], body: bytes = b"") -> None:
        self.socket = socket.create_connection(("127.0.0.1", served.port()), timeout=60)
        given = {"Host": "localhost", "Cookie": f"ctxweb_csrf={TOKEN}", **headers}
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def __enter__(self) -> Sent:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def answer(self) -> tuple[int, str]:
        """Status and everything after the status line, read until the server closes the connection."""
        parts = []
        while part := self.socket.recv(1 << 16):
            parts.append(part)
        head, _, rest = b"".join(parts).decode("utf-8", "replace").partition("\r\n")
        return int(head.split()[1]), rest


def slow(served: Served, path: str, n_bytes: int = 500_000) -> Sent:
    """A form that says it has ``n_bytes`` and sends five."""
    kind = "multipart/form-data; boundary=x" if path == "/uploads/" else "application/x-www-form-urlencoded"
    return Sent(served, path, {"Content-Type": kind, "Content-Length": str(n_bytes)}, b"--x\r\n")


def multipart(data: bytes) -> bytes:
    """The body of a form with one file."""
    head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.jsonl"\r\n\r\n'
    return head + data + b"\r\n--x--\r\n"


UPLOAD = {"Content-Type": "multipart/form-data; boundary=x", "X-CSRFToken": TOKEN}


def chunked(data: bytes, size: int = 65_536) -> bytes:
    """``data`` in HTTP chunks."""
    pieces = (data[start : start + size] for start in range(0, len(data), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def posted(served: Served, body: bytes) -> tuple[int, str]:
    """The answer to an upload."""
    headers = {**UPLOAD, "Content-Length": str(len(body)), "Connection": "close"}
    with Sent(served, "/uploads/", headers, body) as sent:
        return sent.answer()


def uploads(served: Served) -> list[tuple[int]]:
    """Sizes of the stored uploads, once the server runs."""
    served.port()
    return rows(served.data, "select n_bytes from agent_sessions_upload")


def leftovers(served: Served) -> list[str]:
    """Temporary files by name, and those without a name that a process of the server still holds open."""
    named = [path for path in [*served.data.glob("tmp/*"), *served.data.glob("blobs/.part-*")] if path.is_file()]
    links = [link for pid in served.family() for link in Path(f"/proc/{pid}/fd").glob("*")]
    held = [target for target in map(_target, links) if str(served.data) in target and "deleted" in target]
    return [*map(str, named), *held]


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that waits for slow bodies longer than the tests take."""
    server = Served(set_up(tmp_path_factory.mktemp("patient")), **PATIENT)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with accounts, which ends slow bodies soon."""
    server = Served(set_up(tmp_path_factory.mktemp("closed")), **IMPATIENT, CTXWEB_REQUIRE_LOGIN="1")
    yield server
    server.stop()


def test_slow_bodies_hold_nobody_up(patient: Served) -> None:
    with ExitStack() as held:
        for path in ("/uploads/", "/login/", "/settings/prices/"):
            for _ in range(AT_ONCE):
                held.enter_context(slow(patient, path, 50_000_000 if path == "/uploads/" else 500_000))
        for path in ("/healthz", "/", "/readyz", "/login/"):
            started = time.monotonic()
            assert patient.get(path).status in {200, 503}
            assert time.monotonic() - started < GENEROUS_SECONDS, path


def test_a_broken_upload_leaves_nothing(patient: Served) -> None:
    before = uploads(patient)
    body = multipart(session(2) + b" " * 3_000_000)
    with Sent(patient, "/uploads/", {**UPLOAD, "Content-Length": str(len(body))}, body[:2_900_000]):
        until(lambda: leftovers(patient) != [])
    until(lambda: leftovers(patient) == [])
    assert uploads(patient) == before


@pytest.mark.parametrize("in_chunks", [False, True])
def test_a_large_upload_arrives_whole(patient: Served, in_chunks: bool) -> None:
    data = session(2) + b" " * (5_000_000 + in_chunks)
    body = multipart(data)
    framing = {"Transfer-Encoding": "chunked"} if in_chunks else {"Content-Length": str(len(body))}
    sent = chunked(body) if in_chunks else body
    with Sent(patient, "/uploads/", {**UPLOAD, **framing, "Connection": "close"}, sent) as upload:
        status, rest = upload.answer()
    assert status == 302
    assert "/uploads/status/?ids=" in rest
    assert (len(data),) in uploads(patient)
    until(lambda: leftovers(patient) == [])
    found = re.search(r"ids=([0-9a-f-]+)", rest)
    assert found is not None
    assert patient.get(f"/uploads/{found[1]}/download/").text == data.decode()


def test_one_upload_too_many_is_told_when_to_try_again(patient: Served) -> None:
    with ExitStack() as held:
        sent = {one.socket: one for one in (slow(patient, "/uploads/", 50_000_000) for _ in range(AT_ONCE + 1))}
        for one in sent.values():
            held.enter_context(one)
        answered, _, _ = select.select(list(sent), [], [], 60)  # which one comes last at the server is open
        assert len(answered) == 1
        status, rest = sent[answered[0]].answer()
        assert status == 503
        assert "retry-after: 10" in rest.lower()
        assert "Try again in 10 s." in rest
    body = multipart(session(3) + b" " * 2_000_000)
    until(lambda: posted(patient, body)[0] == 302)


def test_slow_readers_hold_nobody_up(patient: Served) -> None:
    _, rest = posted(patient, multipart(session(4) + b" " * 30_000_000))
    found = re.search(r"ids=([0-9a-f-]+)", rest)
    assert found is not None
    with ExitStack() as held:
        for _ in range(AT_ONCE):
            reader = held.enter_context(socket.create_connection(("127.0.0.1", patient.port()), timeout=60))
            reader.sendall(f"GET /uploads/{found[1]}/download/ HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert reader.recv(12) == b"HTTP/1.1 200"
        assert patient.get("/healthz").status == 200


def test_a_form_that_is_too_large_is_refused_unread(closed: Served) -> None:
    with Sent(closed, "/login/", {"Content-Length": "2000000000"}, b"x" * 500_000) as sent:
        status, rest = sent.answer()
    assert status == 413
    assert "at most 1 MB" in rest
    assert "ctxweb ingest" in rest
    assert leftovers(closed) == []


def test_a_form_without_a_length_is_counted(closed: Served) -> None:
    with Sent(closed, "/login/", {"Transfer-Encoding": "chunked"}, chunked(b"x" * 3_000_000)) as sent:
        assert sent.answer()[0] == 413


def test_a_browser_gets_a_page(closed: Served) -> None:
    with Sent(closed, "/login/", {"Content-Length": "2000000000", "Accept": "text/html"}) as sent:
        status, rest = sent.answer()
    assert status == 413
    assert "<h1>Request too large</h1>" in rest
    assert "content-security-policy" in rest.lower()


@pytest.mark.parametrize("framing", [{"Content-Length": "50000000"}, {"Transfer-Encoding": "chunked"}])
def test_who_may_not_upload_is_told_so_before_it_is_sent(closed: Served, framing: dict[str, str]) -> None:
    with Sent(closed, "/uploads/", {**UPLOAD, **framing}) as sent:
        status, rest = sent.answer()
    assert status == 302
    assert "location: /login/?next=/uploads/" in rest.lower()
    assert leftovers(closed) == []


def test_another_sites_page_cannot_fill_the_disk(patient: Served) -> None:
    headers = {"Content-Length": "50000000", "Origin": "https://elsewhere.example"}
    with Sent(patient, "/uploads/", {**UPLOAD, **headers}) as sent:
        status, rest = sent.answer()
    assert status == 403
    assert "Another site" in rest


def test_a_body_that_comes_too_slowly_is_ended(closed: Served) -> None:
    with slow(closed, "/login/") as sent:
        status, rest = sent.answer()
    assert status == 408
    assert "5 bytes in" in rest
    assert "CTXWEB_BODY_SECONDS" in rest


def test_names_of_any_bytes_are_paths(patient: Served) -> None:
    assert patient.get("/s/%ff%00/").status == 404
    assert patient.get("/?q=%ff").status == 200
    assert patient.get("/s/caf%C3%A9/").status == 404
