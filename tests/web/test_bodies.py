"""How a body is taken in and an answer sent, without a server: the ASGI channel is a script."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ctxweb import front as bodies
from ctxweb import gateway
from ctxweb.front import Allowance, BodyTooLargeError, BodyTooSlowError, SenderGoneError, receive_body

Script = list[dict[str, Any] | float]


Result = TypeVar("Result")

GONE = {"type": "http.disconnect"}
FOREVER = 1e6


def to_its_end(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run in a thread: the main one may have the event loop of a browser."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def part(data: bytes, *, more: bool = True) -> dict[str, Any]:
    """A piece of a body."""
    return {"type": "http.request", "body": data, "more_body": more}


def channel(*script: dict[str, Any] | float) -> Callable[[], Any]:
    """Plays ``script``: messages, and seconds to wait before the next."""
    rest = iter(script)

    async def receive() -> dict[str, Any]:
        for step in rest:
            if isinstance(step, dict):
                return step
            await asyncio.sleep(step)
        await asyncio.sleep(FOREVER)
        raise AssertionError

    return receive


def take(tmp_path: Path, *script: dict[str, Any] | float, **limits: float) -> bytes:
    """What ``receive_body`` makes of a script."""
    allowance = Allowance(
        int(limits.get("max_bytes", 10_000_000)), limits.get("seconds", FOREVER), int(limits.get("rate", 1)), tmp_path
    )

    async def whole() -> bytes:
        body = await receive_body(channel(*script), allowance)
        with body.file:
            data = body.file.read()
        assert len(data) == body.n_bytes
        return data

    return to_its_end(whole())


@pytest.mark.parametrize("size", [0, 1, bodies.MEMORY_BYTES, bodies.MEMORY_BYTES + 1, 3 * bodies.WRITE_BYTES + 5])
def test_a_body_comes_out_as_it_came_in(tmp_path: Path, size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    pieces = [data[start : min(size, start + 50_000)] for start in range(0, size, 50_000)] or [b""]
    script = [part(piece) for piece in pieces[:-1]] + [part(pieces[-1], more=False)]
    assert take(tmp_path, *script) == data[:size]
    assert list(tmp_path.iterdir()) == []


def test_the_limit_is_exact(tmp_path: Path) -> None:
    assert take(tmp_path, part(b"12345"), part(b"67890", more=False), max_bytes=10) == b"1234567890"
    with pytest.raises(BodyTooLargeError):
        take(tmp_path, part(b"12345"), part(b"678901", more=False), max_bytes=10)


def test_silence_ends_a_body(tmp_path: Path) -> None:
    with pytest.raises(BodyTooSlowError) as caught:
        take(tmp_path, part(b"12345"), FOREVER, seconds=0.05)
    assert caught.value.n_bytes == 5
    assert caught.value.seconds >= 0.05


def test_drops_end_a_body_although_none_is_late(tmp_path: Path) -> None:
    drops: list[dict[str, Any] | float] = [part(b"x"), 0.01] * 10_000
    with pytest.raises(BodyTooSlowError) as caught:
        take(tmp_path, *drops, seconds=0.2, rate=1_000_000)
    assert 0 < caught.value.n_bytes < 10_000


def test_a_broken_connection_ends_a_body(tmp_path: Path) -> None:
    with pytest.raises(SenderGoneError):
        take(tmp_path, part(b"x" * 2_000_000), GONE)
    assert list(tmp_path.iterdir()) == []


def test_discarding_ends_with_the_body_the_bytes_or_the_time() -> None:
    to_its_end(bodies.discard(channel(part(b"x"), part(b"", more=False)), 100, FOREVER))
    to_its_end(bodies.discard(channel(part(b"x" * 100)), 100, FOREVER))
    to_its_end(bodies.discard(channel(part(b"x")), 100, 0.01))


class Streamed:
    """A response that goes on, as Django's streaming ones: says so, and wants to be closed."""

    streaming = True

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = pieces
        self.closed_in = ""

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.pieces)

    def close(self) -> None:
        self.closed_in = threading.current_thread().name


def scope(method: str = "GET", path: bytes = b"/", headers: Iterable[tuple[bytes, bytes]] = ()) -> dict[str, Any]:
    """A request's head."""
    return {
        "type": "http",
        "method": method,
        "path": path.decode("utf-8", "replace"),
        "raw_path": path,
        "query_string": b"q=%C3%A9",
        "http_version": "1.1",
        "scheme": "http",
        "headers": list(headers),
        "client": ("192.0.2.1", 4711),
        "server": ("127.0.0.1", 8400),
    }


def answered(
    result: Any, *script: dict[str, Any] | float, method: str = "GET", n_bytes: int = 0
) -> list[dict[str, Any]]:
    """What is sent for an application that returns ``result``; after ``script`` nothing more is received."""
    sent: list[dict[str, Any]] = []

    def app(environ: dict[str, Any], start_response: Callable[..., None]) -> Any:
        start_response("200 OK", [("X-Thread", threading.current_thread().name), ("Content-Length", str(n_bytes))])
        return result

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def one() -> None:
        threads = gateway.Threads(1)
        await gateway.respond(app, threads, gateway.environ_of(scope(method)), send, channel(*script))

    to_its_end(one())
    return sent


def test_a_whole_answer_is_sent_in_one_piece() -> None:
    start, body = answered([b"ab", b"c"])
    assert start["status"] == 200
    assert (b"x-thread", b"request-0") in start["headers"]
    assert body["body"] == b"abc"
    assert answered([b"abc"], method="HEAD")[1]["body"] == b""


def test_a_stream_is_sent_as_it_is_made() -> None:
    response = Streamed([b"a", b"", b"b"])
    sent = answered(response)
    assert [message.get("body") for message in sent[1:]] == [b"a", b"b", b""]
    assert [message.get("more_body", False) for message in sent[1:]] == [True, True, False]
    assert response.closed_in == "request-0"


def test_a_stream_ends_when_its_reader_has_gone() -> None:
    def pieces() -> Iterator[bytes]:
        while True:
            yield b"x"

    response = Streamed(pieces())
    answered(response, 0.05, GONE)
    assert response.closed_in == "request-0"


@pytest.mark.parametrize("n_bytes", [10, gateway.FILE_PIECE_BYTES * 2 + 10])
def test_a_file_is_sent_whole_and_closed(n_bytes: int) -> None:
    file = io.BytesIO(b"x" * n_bytes)
    sent = answered(gateway.FileBody(file), n_bytes=n_bytes)
    assert b"".join(message.get("body", b"") for message in sent) == b"x" * n_bytes
    assert sent[-1].get("more_body", False) is False
    assert file.closed


def test_an_error_of_the_application_reaches_the_server() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"x"
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        answered(Streamed(pieces()))


def test_the_environment_is_that_of_wsgi() -> None:
    headers = [
        (b"host", b"localhost"),
        (b"content-type", b"text/plain"),
        (b"cookie", b"a=1"),
        (b"cookie", b"b=2"),
        (b"x-forwarded-proto", b"https"),
        (b"x_forwarded_proto", b"http"),
    ]
    environ = gateway.environ_of(scope("POST", b"/caf%C3%A9%ff", headers))
    assert environ["PATH_INFO"].encode("latin-1") == b"/caf\xc3\xa9\xff"
    assert (environ["REQUEST_METHOD"], environ["QUERY_STRING"]) == ("POST", "q=%C3%A9")
    assert (environ["REMOTE_ADDR"], environ["SERVER_PORT"]) == ("192.0.2.1", "8400")
    assert (environ["CONTENT_TYPE"], environ["HTTP_COOKIE"]) == ("text/plain", "a=1; b=2")
    assert environ["HTTP_X_FORWARDED_PROTO"] == "https"
