"""What stands before Django in ``ctxweb serve``: no request reaches a thread before its body is there.

A body that a route does not take is refused unread.  A large one is taken in only after the middleware let its sender
through.  Slow ones wait in the event loop, where they cost a socket and at most 64 KB, and are ended in the end.
What a proxy in front changes is undone first: the path of the site, and where visitors come from.
"""

from __future__ import annotations

import contextlib
import io
import ipaddress
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver

from ctxweb import bodies, gateway, refusals
from ctxweb.middleware import GATE, REFUSAL, Gate

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
            if isinstance(body, bodies.Body):
                with contextlib.closing(body.file):
                    await self._answer(
                        {**environ, "wsgi.input": body.file, "CONTENT_LENGTH": str(body.n_bytes)}, send, receive
                    )
            elif body is not None:
                await self._answer({**environ, **_without_body(), REFUSAL: body}, _closing(send))
                await bodies.discard(receive, DISCARD_BYTES, DISCARD_SECONDS)

    async def _lets_in(self, environ: dict[str, Any], send: gateway.Send, receive: gateway.Receive) -> bool:
        """Ask the middleware about a sender whose body is not read yet; where it says no, its answer is sent."""
        gate = Gate()
        asked = {**environ, **_without_body(), GATE: gate}
        answer = await self._threads.call(lambda: gateway.whole(self._app, asked))
        if not gate.is_open:
            await gateway.send_whole(answer, _closing(send))
            await bodies.discard(receive, DISCARD_BYTES, DISCARD_SECONDS)
        return gate.is_open

    async def _answer(
        self, environ: dict[str, Any], send: gateway.Send, receive: gateway.Receive | None = None
    ) -> None:
        await gateway.respond(self._app, self._threads, environ, send, receive)


async def _received(receive: gateway.Receive, path: str) -> bodies.Body | refusals.Refusal | None:
    """The body, or why it is not taken; None if its sender has gone."""
    folder = Path(settings.FILE_UPLOAD_TEMP_DIR)
    most = refusals.most_bytes(path)
    try:
        return await bodies.receive_body(
            receive, bodies.Allowance(most, settings.BODY_SECONDS, settings.BODY_BYTES_PER_SECOND, folder)
        )
    except bodies.BodyTooLargeError:
        return refusals.too_large(path)
    except bodies.BodyTooSlowError as error:
        return refusals.too_slow(error.n_bytes, error.seconds)
    except bodies.SenderGoneError:
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
