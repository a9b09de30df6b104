"""Processes that read uploads for a command, several at once, and write them in the order in which they came.

Reading, weighing and packing takes nearly all the time and needs no other file; what a session shares with those before
it is looked up when these are written.  A reader that dies loses nothing: its upload is read by the command itself.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import uuid
    from multiprocessing.process import BaseProcess

    from sessions.models import Upload

START = "fork" if sys.platform == "linux" else "spawn"
"""A fork begins with all modules and tables at hand; elsewhere a process that has used threads is not forked safely."""
READ, DONE = "read", "done"


@dataclass(slots=True)
class Reader:
    """One process; ``upload_id`` is what it reads, ``waits`` whether it has read it and is not told to write yet."""

    process: BaseProcess
    pipe: Connection
    upload_id: uuid.UUID | None = None
    waits: bool = False
    done_bytes: int = 0


class Readers:
    """``n`` processes; uploads are taken as they come and settled in that order."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._readers: list[Reader] = []
        self._queued: deque[uuid.UUID] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        for reader in self._readers:
            reader.pipe.close()
            if reader.upload_id is not None:
                reader.process.terminate()
        for reader in self._readers:
            reader.process.join()

    def take(self, uploads: Sequence[Upload]) -> None:
        """Have them read, at once or when a process has time; the processes start with the first ones."""
        if uploads and not self._readers:
            self._readers = _started(self.n)
        self._queued += [upload.pk for upload in uploads]
        self._deal()

    def settle(self, upload_id: uuid.UUID, on_progress: Callable[[int], None]) -> None:
        """Let an upload be written, now that those before it are; returns when its reader is done, or has died."""
        while (reader := self._reader_of(upload_id)) or upload_id in self._queued:
            if reader and reader.waits:
                reader.waits = False
                _tell(reader)
            if reader:
                on_progress(reader.done_bytes)
            self._hear()

    def _reader_of(self, upload_id: uuid.UUID) -> Reader | None:
        return next((one for one in self._readers if one.upload_id == upload_id), None)

    def _hear(self) -> None:
        """Wait until some reader says something, or ends."""
        by_pipe = {reader.pipe: reader for reader in self._readers}
        for pipe in wait(list(by_pipe)):
            reader = by_pipe[pipe]  # type: ignore[index]
            try:
                said = reader.pipe.recv()
            except (EOFError, OSError):
                reader.pipe.close()
                reader.process.join()
                self._readers.remove(reader)
                continue
            if said == READ:
                reader.waits = True
            elif said == DONE:
                reader.upload_id, reader.done_bytes = None, 0
            else:
                reader.done_bytes = said
        self._deal()

    def _deal(self) -> None:
        for reader in self._readers:
            if reader.upload_id is None and self._queued:
                reader.upload_id = self._queued.popleft()
                _tell(reader, reader.upload_id)
        if not self._readers:
            self._queued.clear()


def _tell(reader: Reader, upload_id: uuid.UUID | None = None) -> None:
    """Name an upload to read, or (None) say that it may be written."""
    with suppress(OSError):  # it has died: the next look at its pipe finds that
        reader.pipe.send(upload_id)


def _started(n: int) -> list[Reader]:
    from django.db import connections

    from sessions.services.counting import counting_in_place

    connections.close_all()
    context: Any = multiprocessing.get_context(START)
    readers: list[Reader] = []
    with counting_in_place(at_once=START == "fork"):
        gc.collect()
        gc.freeze()  # what was made so far stays in pages that all processes share
        for number in range(n):
            ours, theirs = context.Pipe()
            held = [*(reader.pipe for reader in readers), ours]
            process = context.Process(target=_serve, args=(theirs, held), name=f"reader-{number}", daemon=True)
            process.start()
            theirs.close()
            readers.append(Reader(process, ours))
        gc.unfreeze()
    return readers


def _serve(pipe: Connection, held: list[Connection]) -> None:
    """A reader's life: uploads by their ids, until the pipe ends: whose other ends, ``held``, a fork has copies of."""
    from ctxweb.startup import load_django

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command that was interrupted ends its readers
    for one in held:
        one.close()
    load_django()
    from sessions.services import queue
    from sessions.services.counting import counting_in_place
    from sessions.services.ingest import ingest

    def may_write() -> None:
        try:
            pipe.send(READ)
            pipe.recv()
        except (EOFError, OSError):
            raise queue.Interrupted from None

    with counting_in_place():
        while True:
            try:
                upload_id = pipe.recv()
                try:
                    ingest(upload_id=upload_id, on_progress=pipe.send, on_read=may_write)
                except queue.BrokenOff:
                    return
                except Exception:  # noqa: S110  the command reads it next, and says what is wrong
                    pass
                pipe.send(DONE)
            except (EOFError, OSError):
                return
