"""``ctxweb ingest``: files and folders into the database, read and counted here, without a worker."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import click

from ctxweb.commands._files import Given, entry, inputs
from ctxweb.commands._options import PRINTS_JSON
from ctxweb.cores import cores
from ctxweb.startup import start_django
from ctxweb.terminal import say
from sessions.engine.base.words import counted

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from sessions.models import Upload


WAIT_SECONDS = 0.2
ALONE_BYTES = 4_000_000
"""So many bytes of files this process reads itself: others beside it cost as much to start as reading these takes."""
AHEAD_BYTES = 20_000_000
"""So large a file, alone, is read while it is stored."""
SHOWN = 20
"""Files of an archive that could not be read, listed in words; the JSON document has all."""


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--to", "url", metavar="URL", help="Upload to this ctxweb server instead of storing here.")
@click.option(
    "--token", envvar="CTXWEB_TOKEN", metavar="TOKEN", help="With --to: a token with scope upload. [env: CTXWEB_TOKEN]"
)
@click.option("--mine", is_flag=True, help="With --to: for your eyes alone, not the team's.")
@PRINTS_JSON
def command(paths: tuple[str, ...], url: str | None, token: str | None, *, mine: bool, as_json: bool) -> None:
    """Store and count transcripts: files, archives (zip, tar, gzip, bzip2, xz, zstd), folders and what is below.

    Returns when everything is stored and counted.  Files whose bytes are there already are recognised.  A file that has
    grown since continues its sessions.
    """
    if url is not None:
        from ctxweb.commands._sending import Server

        server = Server(url, token or "")
        results = [server.send(given, who="mine" if mine else "team") for given in inputs(paths, unpacked=False)]
    elif mine:
        raise click.UsageError("--mine needs --to URL: what is stored here is everybody's.")
    else:
        start_django()
        with ExitStack() as kept:  # whether there is a second input is asked before the first one is read
            results = _ingest_all(inputs(paths, unpacked=False, kept=kept))
    failed = any(result["status"] == "failed" for result in results)
    if as_json:
        from ctxweb.commands._engine import emit

        emit({"uploads": results})
    else:
        _print(results)
        if url is None:
            _print_pages(results)
    sys.exit(1 if failed else 0)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file whose bytes are stored, or the reason why they are not."""

    shown: str
    upload: Upload | None = None
    duplicate: bool = False
    error: str = ""


def ingest_file(file: IO[bytes], filename: str, shown: str) -> dict[str, Any]:
    """Store and read one open file; returns its entry in ``uploads[]``."""
    return _settled(_received(file, filename, shown))


def ingest_given(given: Given) -> dict[str, Any]:
    """The same for one file of the command line; one that cannot be opened has failed."""
    return _settled(_opened(given))


def _ingest_all(given: Iterable[Given]) -> list[dict[str, Any]]:
    """The same for many, one on each core once there is enough to read; entries in the order of the files."""
    rest = iter(given)
    first = list(islice(rest, 2))
    if len(first) == 1 and _n_bytes(first[0].path) >= AHEAD_BYTES:
        return [_settled(_stored_and_read(first[0]))]
    return _ingest_many(chain(first, rest))


def _n_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _stored_and_read(given: Given) -> Arrival:
    """One large file: its bytes are stored while it is read."""
    from sessions.services.ahead import store_and_read
    from sessions.services.ingest import read_alone
    from sessions.services.uploads import clean_path, receive

    n_bytes, name = _n_bytes(given.path), clean_path(given.name)
    try:
        with _progress(given.shown, n_bytes) as advance, given.path.open("rb") as file:
            blob = store_and_read(given.path, name, lambda lying: read_alone(lying, name, n_bytes, advance))
            return Arrival(given.shown, *receive(file=file, filename=given.name, folders=True, blob=blob))
    except OSError as error:
        return Arrival(given.shown, error=_reason(error))


def _ingest_many(given: Iterable[Given]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    waiting: deque[Arrival] = deque()
    unread: list[Upload] = []
    n_cores, n_bytes = cores(), 0
    with Readers(n_cores) as readers:
        for one in given:
            waiting.append(_opened(one))
            upload = waiting[-1].upload
            if upload and not upload.finished and not waiting[-1].duplicate and n_cores > 1:
                n_bytes += upload.n_bytes
                unread.append(upload)
            if n_bytes <= ALONE_BYTES:
                results += [_settled(arrival) for arrival in waiting]
                waiting.clear()
                unread.clear()
            elif len(waiting) > 1:  # one large file alone is read here
                readers.take(unread)
                unread.clear()
            while len(waiting) > 2 * n_cores:
                results.append(_settled(waiting.popleft(), readers))
        results += [_settled(arrival, readers) for arrival in waiting]
    return results


def _opened(given: Given) -> Arrival:
    try:
        with given.path.open("rb") as file:
            return _received(file, given.name, given.shown)
    except OSError as error:
        return Arrival(given.shown, error=_reason(error))


def _received(file: IO[bytes], filename: str, shown: str) -> Arrival:
    from sessions.services.uploads import receive

    return Arrival(shown, *receive(file=file, filename=filename, folders=True, look=True))


def _settled(arrival: Arrival, readers: Readers | None = None) -> dict[str, Any]:
    """The entry of a file in ``uploads[]``, once it is read: by the ``readers``, or here."""
    from sessions.services.ingest import UploadDeleted

    if arrival.upload is None:
        return entry(arrival.shown, "failed", error=arrival.error)
    try:
        upload = arrival.upload
        if not upload.finished:
            with _progress(arrival.shown, upload.n_bytes) as advance:
                if readers:
                    readers.settle(upload.pk, advance)
                upload = _read(upload.pk, advance, verified=not arrival.duplicate)
        return _entry(upload, arrival)
    except OSError as error:
        return entry(arrival.shown, "failed", error=_reason(error))
    except UploadDeleted as error:
        return entry(arrival.shown, "failed", error=str(error))


def _reason(error: OSError) -> str:
    return f"{error.strerror or error}: check that the file can be read and that the disk has room"


def _entry(upload: Upload, arrival: Arrival) -> dict[str, Any]:
    from sessions.models import State

    came_as = upload.came_as
    duplicate = arrival.duplicate or bool(came_as and came_as.is_beginning)
    status = "failed" if upload.status == State.FAILED else "duplicate" if duplicate else "new"
    if came_as and status == "new":
        status = "continued"
    return entry(
        arrival.shown, status, sha256=upload.sha256, format=upload.format or None,
        sessions=list(upload.sessions.latest_branches().order_by("position").values_list("id", flat=True)),
        new_messages=came_as.n_new if came_as and status == "continued" else None,
        skipped=upload.n_skipped, error=upload.error or None,
        members=[
            {"name": m.name, "status": m.status, "format": m.format or None, "sessions": m.n_sessions,
             "skipped": m.n_skipped, "error": m.error or None}
            for m in upload.members.order_by("position")
        ],
    )  # fmt: skip


def _read(upload_id: uuid.UUID, advance: Callable[[int], None], *, verified: bool) -> Upload:
    """Read the upload here, or wait for the worker that has it; takes over where that worker is gone."""
    from sessions.services.ingest import ingest

    while not (upload := ingest(upload_id=upload_id, on_progress=advance, verified=verified)).finished:
        from sessions.services.work import recover

        time.sleep(WAIT_SECONDS)
        recover()
    return upload


@contextmanager
def _progress(shown: str, n_bytes: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error where that is a terminal, else nothing; gives a callback for bytes read."""
    if not sys.stderr.isatty():
        yield lambda done_bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(shown, total=n_bytes)
        yield lambda done_bytes: bar.update(task, completed=done_bytes)


def _print(results: list[dict[str, Any]]) -> None:
    for result in results:
        parts = [f"{result['status']:<9} {result['file']}"]
        if result["error"]:
            parts.append(f"  {result['error']}")
        elif result["status"] == "queued":
            parts.append("  stored, not read yet")
        else:
            n = len(result["sessions"])
            brought = result.get("new_messages")
            new = "" if brought is None else f", the same file as before, {counted(brought, 'new message')}"
            skipped = f", {result['skipped']} skipped" if result["skipped"] else ""
            parts.append(f"  {result['format']}, {counted(n, 'session')}{new}{skipped}")
        parts += [f"    {m['name'] or 'archive'}: {m['error']}" for m in result.get("members", ()) if m["error"]][
            :SHOWN
        ]
        say("\n".join(parts))


def _print_pages(results: list[dict[str, Any]]) -> None:
    """The id of every session with the address of its page, or with what opens it where no server runs."""
    from ctxweb import datalock
    from ctxweb.env import data_dir

    found = [ident for result in results for ident in result["sessions"]]
    server = datalock.holder(data_dir())
    for ident in found[:SHOWN]:
        say(f"    {ident}  {server}s/{ident}/" if server else f"    {ident}  `ctxweb open {ident}`")
    if len(found) > SHOWN:
        say(f"    {len(found) - SHOWN:,} more: {server or 'the library of `ctxweb serve`'}")


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
    """``n`` processes; uploads are taken as they come and settled in that order.

    Reading, weighing and packing takes nearly all the time and needs no other file; what a session shares with those
    before it is looked up when these are written.  A reader that dies loses nothing: its upload is read here.
    """

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
