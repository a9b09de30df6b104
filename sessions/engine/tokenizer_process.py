"""Counts tokens in a helper process, so that reading a file and counting its texts use a core each.

The fast core of the helper (``fast_tokens``) holds the interpreter's lock for half a second when it starts, and is
native code that others wrote: in a process of its own it does not slow the reader and cannot take it down.
The helper is a plain subprocess: a daemonic task process may not fork children of its own.  It ends when its input
does, so it cannot outlive a killed parent.  If it fails, the parent counts for itself: nothing is lost.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from array import array
from collections import deque
from typing import TYPE_CHECKING, BinaryIO

from sessions.engine.fast_tokens import FastCounter
from sessions.engine.tokenizer import TextCount, TokenCounter

if TYPE_CHECKING:
    from sessions.engine.tokenizer import Chunk

IN_FLIGHT = 2
_HEAD = struct.Struct("<II")
_START = "import sys; sys.path[:] = {path!r}; from sessions.engine.tokenizer_process import serve; serve({name!r})"


class ProcessCounter(TokenCounter):
    """A TokenCounter whose texts are counted by a helper process; the same interface and the same figures."""

    def __init__(self, name: str = "o200k_base") -> None:
        super().__init__(threads=1, name=name)
        self._helper: subprocess.Popen[bytes] | None = None

    def _work(self) -> None:
        """Send chunks to the helper, at most IN_FLIGHT ahead of its answers."""
        self._helper = _started(self._name)
        waiting: deque[Chunk] = deque()
        while True:
            # Nothing new to send, or enough sent: take an answer.
            if waiting and (self._queue.empty() or len(waiting) >= IN_FLIGHT):
                self._receive(waiting.popleft())
            elif (chunk := self._queue.get()) is not None:
                self._send(chunk)
                waiting.append(chunk)
            else:
                break
        while waiting:
            self._receive(waiting.popleft())
        self._stop()
        self._queue.task_done()

    def _send(self, chunk: Chunk) -> None:
        if self._helper is None or self._helper.stdin is None:
            return
        texts = [text for _, text in chunk]
        data = "".join(texts).encode("utf-8", "surrogatepass")
        try:
            self._helper.stdin.write(_HEAD.pack(len(texts), len(data)) + array("Q", map(len, texts)).tobytes())
            self._helper.stdin.write(data)
            self._helper.stdin.flush()
        except OSError:
            self._stop()

    def _receive(self, chunk: Chunk) -> None:
        """Enter the helper's counts of ``chunk``; count it here if there is no helper any more."""
        try:
            self._enter(chunk)
        finally:
            self._queue.task_done()

    def _enter(self, chunk: Chunk) -> None:
        answer = b""
        if self._helper is not None and self._helper.stdout is not None:
            answer = self._helper.stdout.read(8 * len(chunk))
        if len(answer) != 8 * len(chunk):
            self._stop()
            self._count(chunk)
            return
        for (ticket, _), value in zip(chunk, array("q", answer), strict=True):
            self._counted[-ticket - 1] = TextCount(value) if value >= 0 else TextCount(-value - 1, approximate=True)

    def _stop(self) -> None:
        helper, self._helper = self._helper, None
        if helper is None:
            return
        for pipe in (helper.stdin, helper.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                pass  # the helper has gone already
        try:
            helper.wait(timeout=5)
        except subprocess.TimeoutExpired:
            helper.kill()
            helper.wait()


def _started(name: str) -> subprocess.Popen[bytes] | None:
    code = _START.format(path=sys.path, name=name)
    try:
        return subprocess.Popen(  # noqa: S603  our own interpreter, our own code
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=True
        )
    except OSError:
        return None


def serve(name: str) -> None:
    """The helper's loop: chunks from standard input, counts to standard output, until the input ends.

    The process ends with it: taking the tables of both cores apart took a third of a second, which its reader waited.
    """
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    with FastCounter(name) as counter:
        while texts := _texts(source):
            values = [-c.n_tokens - 1 if c.approximate else c.n_tokens for c in counter.counts(texts)]
            try:
                sink.write(array("q", values).tobytes())
                sink.flush()
            except BrokenPipeError:
                break  # the reader was killed: nobody is left to tell
    sys.stderr.flush()
    os._exit(0)


def _texts(source: BinaryIO) -> list[str]:
    head = source.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return []
    n_texts, n_bytes = _HEAD.unpack(head)
    lengths = array("Q", source.read(8 * n_texts))
    data = source.read(n_bytes)
    if len(data) < n_bytes:
        return []
    joined, texts, at = data.decode("utf-8", "surrogatepass"), [], 0
    for length in lengths:
        texts.append(joined[at : at + length])
        at += length
    return texts
