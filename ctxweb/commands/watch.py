"""``ctxweb watch``: follows a folder of transcripts while agents write them, within a second of each write."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ctxweb.beside import end_with_parent, interrupt
from ctxweb.startup import start_django
from ctxweb.terminal import say, tell_json
from sessions.engine.base.words import counted

if TYPE_CHECKING:
    import os

    from sessions.services.live import Followed

POLL_SECONDS = 0.5
SYNC_SECONDS = 1.0
"""Between two looks at what is kept in sync."""
QUIET_SECONDS = 4.0
"""After this long without a write, a half-written last line is read as it is and reported as skipped."""

REST_FACTOR = 5.0
"""A file rests this many times as long as reading it took: at most a sixth of the time goes into one file."""

UNTHROTTLED_SECONDS = 0.1
"""Reading that took no longer than this is repeated at once."""

LOCKED_REST_SECONDS = 1.0


@dataclass(slots=True)
class Seen:
    """One file: as it was when last looked at, and as it was when last read; ``error``: why it was not."""

    stat: os.stat_result
    written_at: float
    read: tuple[int, int, int] | None = None
    waiting: bool = False
    not_before: float = 0.0
    known: bool = False
    error: str = ""

    @property
    def mark(self) -> tuple[int, int, int]:
        """What changes when the file does: size, modification time, inode (another file under the same name)."""
        return self.stat.st_size, self.stat.st_mtime_ns, self.stat.st_ino

    def due(self, now: float) -> bool:
        quiet = self.waiting and now - self.written_at >= QUIET_SECONDS
        return now >= self.not_before and (self.read != self.mark or quiet)

    def was_read(self, mark: tuple[int, int, int], started: float, *, waiting: bool) -> None:
        """Note what was read and since when; what took long rests."""
        ended = time.monotonic()
        self.read, self.waiting = mark, waiting
        self.not_before = ended + REST_FACTOR * (ended - started) if ended - started > UNTHROTTLED_SECONDS else 0.0


@dataclass(slots=True)
class Watcher:
    """The files that ``listed`` finds; what becomes of those below ``root`` is said, ``as_json`` in lines of JSON."""

    listed: Callable[[], Iterable[tuple[Path, os.stat_result]]]
    root: Path | None = None
    as_json: bool = False
    files: dict[Path, Seen] = field(default_factory=dict)

    def look(self) -> None:
        """Stat every file; note those that are new, changed or gone."""
        now, found = time.monotonic(), dict(self.listed())
        for path in self.files.keys() - found.keys():
            self.report("gone", path)
            del self.files[path]
        for path, stat in found.items():
            seen = self.files.get(path)
            if seen is None:
                age = max(0.0, time.time() - stat.st_mtime)
                self.files[path] = Seen(stat, now - age)
            elif (stat.st_size, stat.st_mtime_ns, stat.st_ino) != seen.mark:
                seen.stat, seen.written_at = stat, now

    def read_due(self) -> None:
        """Read what changed, the file written last first, and stop in time for the next look: a backlog delays none."""
        next_look = time.monotonic() + POLL_SECONDS
        while path := self._next(time.monotonic()):
            self._read(path, self.files[path])
            if time.monotonic() >= next_look:
                return

    def _next(self, now: float) -> Path | None:
        due = [path for path, seen in self.files.items() if seen.due(now)]
        return max(due, key=lambda path: self.files[path].written_at, default=None)

    def _read(self, path: Path, seen: Seen) -> None:
        from django.db import OperationalError

        from sessions.engine.base.errors import EngineError
        from sessions.services.live import follow_file, unchanged

        started, mark = time.monotonic(), seen.mark
        quiet = started - seen.written_at >= QUIET_SECONDS
        first, seen.known = not seen.known, True
        try:
            if first and unchanged(path, seen.stat):
                seen.read = mark
                return
            followed = follow_file(path=path, quiet=quiet)
        except OperationalError as error:
            seen.not_before = time.monotonic() + LOCKED_REST_SECONDS
            say(f"{path}: {error}; trying again")
            return
        except (EngineError, OSError) as error:
            # What is half written does not parse; it is said once the writer has stopped.
            seen.was_read(mark, started, waiting=not quiet)
            if quiet:
                seen.error = str(error)
                self.report("unreadable", path, error=str(error))
            return
        seen.was_read(mark, started, waiting=followed.waiting)
        seen.error = ""
        self._tell(path, followed, time.monotonic() - started)

    def _tell(self, path: Path, followed: Followed, took: float) -> None:
        if followed.change == "stopped":
            self.report("stopped", path, error="its sessions were deleted; --again follows it again")
        if followed.upload is None or followed.change == "same":
            return
        upload = followed.upload
        self.report(
            str(followed.change),
            path,
            format=upload.format,
            sessions=list(upload.sessions.order_by("position").values_list("id", flat=True)),
            messages=sum(upload.sessions.values_list("n_messages", flat=True)),
            n_bytes=upload.n_bytes,
            skipped=upload.n_skipped,
            waiting=followed.waiting,
            seconds=round(took, 3),
        )

    def report(self, event: str, path: Path, **facts: Any) -> None:
        """One line about one file: JSON on standard output, or words on standard error."""
        if self.root is None:
            return
        if self.as_json:
            tell_json({"event": event, "file": str(path), **facts})
            sys.stdout.flush()
            return
        words = facts.get("error") or ""
        if "messages" in facts:
            held = counted(facts["messages"], "message")
            words = f"{facts['format']}, {held}, session {', '.join(facts['sessions'][:3])}"
        say(f"{event:<10} {path.relative_to(self.root)}  {words}".rstrip())


@click.command()
@click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document a line to standard output.")
@click.option("--again", is_flag=True, help="Follow files again whose sessions were deleted with `ctxweb delete`.")
@click.option("--parent", type=int, hidden=True, help="End when this process has gone.")
def command(folder: Path | None, as_json: bool, again: bool, parent: int | None) -> None:
    """Follow DIR: store its transcripts, and read each again when it grows; Ctrl-C ends it.

    Without DIR, the sessions of this computer that were added on the dashboard; `ctxweb serve` does that by itself.
    Works with or without `ctxweb serve` on the same data directory.  Sessions keep their ids and links while their
    file grows; a file that is truncated or replaced starts a new session, and the old one stays as it was.  Names that
    start with a dot are left out, as by `ctxweb ingest`.
    """
    if folder is not None and not folder.is_dir():
        raise click.UsageError(f"{folder} is not a folder. Name the folder that holds the transcripts.")
    if folder is None and (as_json or again):
        raise click.UsageError("--json and --again need a DIR.")
    if parent is not None:
        end_with_parent(parent)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        start_django()
        from sessions.engine.tokens import tokenizer

        tokenizer.count("The first count loads the vocabulary.")
        if folder is None:
            _keep_in_sync()
        else:
            _follow(folder, as_json=as_json, again=again)
    except KeyboardInterrupt:
        say("Stopped.")


def _follow(folder: Path, *, as_json: bool, again: bool) -> NoReturn:
    from sessions.adapters.synced import files_below

    root = folder.resolve()
    if again:
        from sessions.services.live import follow_again

        follow_again(folder=root)
    watcher = Watcher(lambda: files_below(root), root, as_json)
    watcher.look()
    if not as_json:
        say(f"Watching {folder} ({counted(len(watcher.files), 'file')}; Ctrl-C stops)")
    while True:
        watcher.read_due()
        time.sleep(POLL_SECONDS)
        watcher.look()


def _keep_in_sync() -> NoReturn:
    """Follow what was chosen on the dashboard, as the choice stands at each look, and write down how far it is."""
    from django.conf import settings

    from sessions.adapters.synced import Progress, keep_progress, synced, synced_files

    watcher = Watcher(lambda: synced_files(synced(settings.DATA)))
    reached = None
    while True:
        begun = time.monotonic()
        watcher.look()
        took = time.monotonic() - begun
        watcher.read_due()
        files = watcher.files.values()
        n_read = sum(one.read == one.mark for one in files)
        now = Progress(len(files), n_read, sum(bool(one.error) for one in files))
        if now != reached:
            keep_progress(settings.DATA, now)
            reached = now
        if n_read == len(files):  # to look at thousands of files takes a while: at most a tenth of the time
            time.sleep(max(SYNC_SECONDS, 10 * took))
