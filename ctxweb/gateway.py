"""A WSGI application behind an ASGI server: a whole request takes a thread, its answer leaves without one.

Django's own ASGI handler would do neither: it reads every body to its end first, without a limit, and it collects an
answer made by an ordinary generator before it sends the first byte, which ends server-sent events.
"""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, TypeVar
from urllib.parse import unquote_to_bytes

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Push = Callable[[dict[str, Any]], None]
Application = Callable[[dict[str, Any], Callable[..., None]], Iterable[bytes]]

Result = TypeVar("Result")

REQUEST_THREADS = 8
SEND_SECONDS = 60.0
"""A reader who takes nothing for so long is let go."""

FILE_PIECE_BYTES = 256 * 1024


class Threads:
    """A fixed number of threads that take calls in turn; daemons, so that a long answer cannot hold up the end."""

    def __init__(self, n_threads: int) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        for number in range(n_threads):
            threading.Thread(target=self._work, name=f"request-{number}", daemon=True).start()

    async def call(self, call: Callable[[], Result]) -> Result:
        """What ``call`` returned, once a thread was free for it; raises what it raised."""
        future: Future[Result] = Future()
        self._calls.put((future, call))
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        while True:
            _settle(*self._calls.get())  # nothing of a call may stay here: it holds its connection open


@dataclass(frozen=True, slots=True)
class FileBody:
    """An answer that is a file: ``wsgi.file_wrapper``.  The event loop sends it; closing the file ends the response."""

    file: IO[bytes]
    block_size: int = FILE_PIECE_BYTES
    """What a caller of the wrapper suggests (PEP 3333)."""

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.file.read(self.block_size):
            yield piece


@dataclass(frozen=True, slots=True)
class Answer:
    """Head and body of a response; an iterable that is no file was sent already, from its thread."""

    start: dict[str, Any]
    body: bytes | FileBody | None


def environ_of(scope: Scope) -> dict[str, Any]:
    """The WSGI environment of an ASGI ``http`` scope, without its body (PEP 3333)."""
    path = unquote_to_bytes(scope["raw_path"]) if scope.get("raw_path") else scope["path"].encode()
    client, server = scope.get("client") or ("", 0), scope.get("server") or ("localhost", 80)
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": path.decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": FileBody,
    }
    for name, value in scope["headers"]:
        if b"_" in name:
            continue  # X_Real and X-Real would become one variable
        key = name.decode("latin-1").upper().replace("-", "_")
        key = key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"
        text = value.decode("latin-1")
        joint = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{joint}{text}" if key in environ else text
    return environ


async def respond(
    app: Application, threads: Threads, environ: dict[str, Any], send: Send, receive: Receive | None = None
) -> None:
    """Run ``app`` in a thread and send what it answers; by ``receive`` a reader who goes ends one that would go on."""
    gone = threading.Event()
    loop = asyncio.get_running_loop()

    def push(message: dict[str, Any]) -> None:
        asyncio.run_coroutine_threadsafe(_sent(send, message), loop).result()

    watch = asyncio.ensure_future(_watch(receive, gone)) if receive else None
    try:
        await send_whole(await threads.call(lambda: run(app, environ, push, gone)), send, gone)
    finally:
        if watch:
            watch.cancel()


async def send_whole(answer: Answer, send: Send, gone: threading.Event | None = None) -> None:
    """Send an answer, or nothing more where its thread has sent it."""
    if isinstance(answer.body, FileBody):
        await _send_file(answer.start, answer.body, send, gone or threading.Event())
    elif answer.body is not None:
        await send(answer.start)
        await send({"type": "http.response.body", "body": answer.body})


def whole(app: Application, environ: dict[str, Any]) -> Answer:
    """Call ``app`` in this thread for an answer that ends by itself."""
    return run(app, environ, lambda message: None, threading.Event())


def run(app: Application, environ: dict[str, Any], push: Push, gone: threading.Event) -> Answer:
    """Call ``app`` in this thread; ``push`` sends the parts of an answer whose length is not known beforehand."""
    start: dict[str, Any] = {"type": "http.response.start"}

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> None:
        start["status"] = int(status.split(" ", 1)[0])
        start["headers"] = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]

    result = app(environ, start_response)
    if isinstance(result, FileBody) and environ["REQUEST_METHOD"] != "HEAD" and _size(start) > FILE_PIECE_BYTES:
        return Answer(start, result)
    try:
        if environ["REQUEST_METHOD"] == "HEAD":
            return Answer(start, b"")
        if not getattr(result, "streaming", False):
            return Answer(start, b"".join(result))
        push(start)
        for piece in result:
            if gone.is_set():
                break
            if piece:
                push({"type": "http.response.body", "body": piece, "more_body": True})
        push({"type": "http.response.body", "body": b""})
        return Answer(start, None)
    finally:
        closing = result.file if isinstance(result, FileBody) else result
        if hasattr(closing, "close"):
            closing.close()


def _size(start: dict[str, Any]) -> int:
    return next((int(value) for name, value in start["headers"] if name == b"content-length"), 0)


async def _send_file(start: dict[str, Any], body: FileBody, send: Send, gone: threading.Event) -> None:
    loop = asyncio.get_running_loop()
    try:
        await send(start)
        while not gone.is_set() and (piece := await loop.run_in_executor(None, body.file.read, FILE_PIECE_BYTES)):
            await _sent(send, {"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        await loop.run_in_executor(None, body.file.close)


def _settle(future: Future[Any], call: Callable[[], Any]) -> None:
    """Make a call and hand over what came of it; whoever waited for it may have gone."""
    try:
        result = call()
    except BaseException as error:
        with suppress(InvalidStateError):
            future.set_exception(error)
    else:
        with suppress(InvalidStateError):
            future.set_result(result)


async def _sent(send: Send, message: dict[str, Any]) -> None:
    async with asyncio.timeout(SEND_SECONDS):
        await send(message)


async def _watch(receive: Receive, gone: threading.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.set()
