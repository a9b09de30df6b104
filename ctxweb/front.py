"""What stands before Django in ``ctxweb serve``: no request reaches a thread before its body is there.

A body that a route does not take is refused unread.  A large one is taken in only after the middleware let its sender
through.  Slow ones wait in the event loop, where they cost a socket and at most 64 KB, and are ended in the end.
What a proxy in front changes is undone first: the path of the site, and where visitors come from.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import ipaddress
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver

from ctxweb import gateway, refusals
from ctxweb.middleware import GATE, REFUSAL, Gate

MEMORY_BYTES = 64 * 1024
"""Up to here a body lies in memory: no form that a page sends is larger."""

WRITE_BYTES = 1024 * 1024
"""Beyond it goes to disk in pieces of this size, each written by a thread."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a body may be: bytes in all, seconds that it may take anyway, bytes that buy another second."""

    max_bytes: int
    seconds: float
    bytes_per_second: int
    folder: Path


class BodyTooLargeError(Exception):
    """More bytes came than are allowed; the rest is unread."""


class BodyTooSlowError(Exception):
    """The body did not come at the rate that is asked for; ``n_bytes`` came in ``seconds``."""

    def __init__(self, n_bytes: int, seconds: float) -> None:
        super().__init__(n_bytes, seconds)
        self.n_bytes, self.seconds = n_bytes, seconds


class SenderGoneError(Exception):
    """The connection broke before the body was complete."""


@dataclass(frozen=True, slots=True)
class Body:
    """A complete body: a file at its beginning, without a name in any folder, and its length."""

    file: IO[bytes]
    n_bytes: int


async def receive_body(receive: gateway.Receive, allowance: Allowance) -> Body:
    """The body that the ASGI channel ``receive`` delivers; raises one of the errors above and leaves nothing behind."""
    file: IO[bytes] = tempfile.SpooledTemporaryFile(MEMORY_BYTES, dir=str(allowance.folder))  # noqa: SIM115
    try:
        n_bytes = await _fill(file, receive, allowance)
        await _in_thread(file.seek, 0)
    except BaseException:
        file.close()
        raise
    return Body(file, n_bytes)


async def discard(receive: gateway.Receive, max_bytes: int, seconds: float) -> None:
    """Read on for a moment after an early answer: a connection closed at once takes the answer with it."""
    n_bytes = 0
    try:
        async with asyncio.timeout(seconds):
            while n_bytes < max_bytes:
                message = await receive()
                n_bytes += len(message.get("body", b""))
                if not message.get("more_body"):
                    return
    except TimeoutError:
        return


async def _fill(file: IO[bytes], receive: gateway.Receive, allowance: Allowance) -> int:
    clock = asyncio.get_running_loop().time
    started, n_bytes, pieces, held = clock(), 0, [], 0
    more = True
    while more:
        message = await _next(receive, started, n_bytes, allowance)
        if message["type"] != "http.request":
            raise SenderGoneError
        piece, more = message.get("body", b""), message.get("more_body", False)
        n_bytes += len(piece)
        if n_bytes > allowance.max_bytes:
            raise BodyTooLargeError
        pieces.append(piece)
        held += len(piece)
        if held >= WRITE_BYTES or not more:
            await (_in_thread if n_bytes > MEMORY_BYTES else _here)(file.write, b"".join(pieces))
            pieces, held = [], 0
    return n_bytes


async def _next(receive: gateway.Receive, started: float, n_bytes: int, allowance: Allowance) -> dict[str, Any]:
    """The next message; it has to come before the idle time and the time that the bytes so far have bought are over."""
    now = asyncio.get_running_loop().time()
    left = started + allowance.seconds + n_bytes / allowance.bytes_per_second - now
    try:
        async with asyncio.timeout(min(left, allowance.seconds)):
            return await receive()
    except TimeoutError:
        raise BodyTooSlowError(n_bytes, asyncio.get_running_loop().time() - started) from None


async def _in_thread(call: Callable[..., object], *arguments: object) -> None:
    await asyncio.get_running_loop().run_in_executor(None, call, *arguments)


async def _here(call: Callable[..., object], *arguments: object) -> None:
    call(*arguments)


DISCARD_BYTES, DISCARD_SECONDS = 16 * 1024 * 1024, 2.0
"""How far a sender who was refused is read on, so that the answer is not lost with the connection."""


class Places:
    """How many bodies may arrive at a time; the event loop is the only caller, so a number is enough."""

    def __init__(self, n_places: int) -> None:
        self.free = n_places

    def __enter__(self) -> bool:
        """True with a place; False when all are taken."""
        self.free -= 1
        return self.free >= 0

    def __exit__(self, *error: object) -> None:
        self.free += 1


class Front:
    """The ASGI application that runs the WSGI application ``app``."""

    def __init__(self, app: gateway.Application) -> None:
        self._app = app
        self._threads = gateway.Threads(gateway.REQUEST_THREADS)
        self._uploads, self._forms = Places(settings.UPLOADS_AT_ONCE), Places(settings.FORMS_AT_ONCE)

    async def __call__(self, scope: gateway.Scope, receive: gateway.Receive, send: gateway.Send) -> None:
        """Serve one request from its head to the end of its answer."""
        if scope["type"] != "http":
            return
        environ = visited(gateway.environ_of(scope))
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        n_bytes = _announced(environ)
        if n_bytes == 0:
            await self._answer({**environ, **_without_body()}, send, receive)
            return
        is_large = refusals.takes_uploads(path) and (n_bytes is None or n_bytes > settings.MAX_FORM_BYTES)
        with self._uploads if is_large else self._forms as has_place:
            refusal = None if has_place else refusals.too_many()
            if n_bytes is not None and n_bytes > refusals.most_bytes(path):
                refusal = refusals.too_large(path)
            if refusal is None and is_large and not await self._lets_in(environ, send, receive):
                return
            body = refusal or await _received(receive, path)
            if isinstance(body, Body):
                with contextlib.closing(body.file):
                    await self._answer(
                        {**environ, "wsgi.input": body.file, "CONTENT_LENGTH": str(body.n_bytes)}, send, receive
                    )
            elif body is not None:
                await self._answer({**environ, **_without_body(), REFUSAL: body}, _closing(send))
                await discard(receive, DISCARD_BYTES, DISCARD_SECONDS)

    async def _lets_in(self, environ: dict[str, Any], send: gateway.Send, receive: gateway.Receive) -> bool:
        """Ask the middleware about a sender whose body is not read yet; where it says no, its answer is sent."""
        gate = Gate()
        asked = {**environ, **_without_body(), GATE: gate}
        answer = await self._threads.call(lambda: gateway.whole(self._app, asked))
        if not gate.is_open:
            await gateway.send_whole(answer, _closing(send))
            await discard(receive, DISCARD_BYTES, DISCARD_SECONDS)
        return gate.is_open

    async def _answer(
        self, environ: dict[str, Any], send: gateway.Send, receive: gateway.Receive | None = None
    ) -> None:
        await gateway.respond(self._app, self._threads, environ, send, receive)


async def _received(receive: gateway.Receive, path: str) -> Body | refusals.Refusal | None:
    """The body, or why it is not taken; None if its sender has gone."""
    folder = Path(settings.FILE_UPLOAD_TEMP_DIR)
    most = refusals.most_bytes(path)
    try:
        return await receive_body(
            receive, Allowance(most, settings.BODY_SECONDS, settings.BODY_BYTES_PER_SECOND, folder)
        )
    except BodyTooLargeError:
        return refusals.too_large(path)
    except BodyTooSlowError as error:
        return refusals.too_slow(error.n_bytes, error.seconds)
    except SenderGoneError:
        return None
    except OSError as error:
        return refusals.no_room(error)


def _closing(send: gateway.Send) -> gateway.Send:
    """``send`` for an answer after which the connection ends, because what is still on it is no request."""

    async def sent(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return sent


def _announced(environ: dict[str, Any]) -> int | None:
    """The length that the head states; None where only the end will tell (chunks)."""
    length = environ.get("CONTENT_LENGTH", "")
    if "HTTP_TRANSFER_ENCODING" in environ:
        return None
    if length.isdigit():
        return int(length)
    return None if environ["SERVER_PROTOCOL"] == "HTTP/2" and environ["REQUEST_METHOD"] == "POST" else 0


def _without_body() -> dict[str, Any]:
    return {"wsgi.input": io.BytesIO(), "CONTENT_LENGTH": "0"}


_WITH_PORT = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}")
"""How proxies write an address with a port: [2001:db8::1]:443 (the port may be missing), 192.0.2.1:443."""


def visited(environ: dict[str, Any]) -> dict[str, Any]:
    """The WSGI environment as the application sees it: its path without the site's own, the visitor's address."""
    return {**environ, "PATH_INFO": _path(environ["PATH_INFO"]), "REMOTE_ADDR": _visitor(environ)}


def _path(path: str) -> str:
    """The path below the site's own (``CTXWEB_PUBLIC_URL``), whether or not a proxy has taken that off."""
    prefix = unquote_to_bytes(settings.FORCE_SCRIPT_NAME or "").decode("latin-1")
    if not prefix or prefix.split("/")[1] in _first_parts() or not f"{path}/".startswith(f"{prefix}/"):
        return path
    return path[len(prefix) :] or "/"


@cache
def _first_parts() -> frozenset[str]:
    """How paths of this site's pages begin: a site below such a path needs a proxy that takes it off."""
    return frozenset(route.partition("/")[0] for route in _routes(get_resolver().url_patterns, "")) | {"static"}


def _routes(patterns: Iterable[URLPattern | URLResolver], before: str) -> Iterator[str]:
    for one in patterns:
        route = f"{before}{one.pattern}"
        if isinstance(one, URLResolver):
            yield from _routes(one.url_patterns, route)
        else:
            yield route


def _visitor(environ: dict[str, Any]) -> str:
    """The address that asked the first of ``CTXWEB_PROXIES``; the connection's own where that names none."""
    known: str = environ["REMOTE_ADDR"]
    named = environ.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if not 0 < settings.PROXIES <= len(named):
        return known
    try:
        return str(_address(named[-settings.PROXIES].strip(" \t")))
    except ValueError:
        return known


def _address(entry: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The address of an entry; raises ValueError for anything else, such as one with a zone or a line break."""
    parts = _WITH_PORT.fullmatch(entry)
    if "%" in entry:
        raise ValueError("an interface of the proxy is no visitor's")
    if parts and parts[1]:
        return ipaddress.IPv6Address(parts[1])
    return ipaddress.ip_address(parts[2] if parts else entry)
