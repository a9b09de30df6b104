"""Takes in a request's body: at most so many bytes, at a least rate (mod_reqtimeout's), no thread while it comes."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

Receive = Callable[[], Awaitable[dict[str, Any]]]

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


async def receive_body(receive: Receive, allowance: Allowance) -> Body:
    """The body that the ASGI channel ``receive`` delivers; raises one of the errors above and leaves nothing behind."""
    file: IO[bytes] = tempfile.SpooledTemporaryFile(MEMORY_BYTES, dir=str(allowance.folder))  # noqa: SIM115
    try:
        n_bytes = await _fill(file, receive, allowance)
        await _in_thread(file.seek, 0)
    except BaseException:
        file.close()
        raise
    return Body(file, n_bytes)


async def discard(receive: Receive, max_bytes: int, seconds: float) -> None:
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


async def _fill(file: IO[bytes], receive: Receive, allowance: Allowance) -> int:
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


async def _next(receive: Receive, started: float, n_bytes: int, allowance: Allowance) -> dict[str, Any]:
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
