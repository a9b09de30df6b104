"""SQLite files, read without running anything of theirs: a private copy, tables alone, no writing, within limits.

What an agent has not yet moved out of its write-ahead log stands in a second file: ``snapshot`` joins the two.
A cell that is a zstd frame is unpacked, within limits.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.packing import zstd

MAGIC = b"SQLite format 3\0"
STEP = "Close the program that writes it, then copy the file with its -wal"
ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})
DAMAGED = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged file raises; names of columns that are no text raise the second."""
_VERSIONS = 18
"""Byte of the header that says "write-ahead log": a copy without its log cannot be opened while it says so."""


class Database:
    """An open SQLite file; raises UnreadableInput where it is broken or too large."""

    def __init__(self, file: BinaryIO) -> None:
        size = file.seek(0, os.SEEK_END)
        if size > limits.MAX_UPLOAD_BYTES:
            raise UnreadableInput(f"a database of {size:,} bytes; the limit is {limits.MAX_UPLOAD_BYTES:,}")
        self._connection = _opened(file)
        weakref.finalize(self, self._connection.close)
        try:
            self.tables = self._tables()
        except DAMAGED as error:
            raise _broken(error) from error
        self._connection.set_authorizer(
            lambda action, *_: sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY
        )
        # Damaged files can make a query take forever: it ends after so many rounds.
        rounds = count(1)
        self._connection.set_progress_handler(lambda: next(rounds) > limits.MAX_DATABASE_ROUNDS, limits.DATABASE_ROUND)

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
        """The rows of a SELECT, by column; bytes become text, packed ones unpacked.  Raises UnreadableInput."""
        n_unpacked = 0
        try:
            for row in self._connection.execute(query, values):
                found: dict[str, Any] = {}
                for name in row.keys():  # noqa: SIM118  a Row iterates over values
                    value, n_bytes = _unpacked(row[name])
                    found[name] = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value
                    n_unpacked += n_bytes
                    if n_unpacked > limits.MAX_UPLOAD_BYTES:
                        reason = f"a database whose cells unpack to over {limits.MAX_UPLOAD_BYTES:,} bytes"
                        raise UnreadableInput(reason)
                yield found
        except DAMAGED as error:
            raise _broken(error) from error

    def row(self, table: str, key: int) -> dict[str, Any] | None:
        """The row of ``table`` with the rowid ``key``; None where there is none."""
        if table not in self.tables:
            return None
        quoted = table.replace('"', '""')
        return next(self.rows(f'SELECT * FROM "{quoted}" WHERE rowid = ?', (key,)), None)  # noqa: S608  a table of the file, quoted

    def _tables(self) -> dict[str, tuple[str, ...]]:
        """Columns by table; views and virtual tables would run code of the file and are left out."""
        plain = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
        names = [row["name"] for row in self._connection.execute(plain).fetchmany(limits.MAX_TABLES)]
        columns = "SELECT name FROM pragma_table_info(?)"
        return {name: tuple(row["name"] for row in self._connection.execute(columns, (name,))) for name in names}


def is_database(data: bytes) -> bool:
    """Whether a file that starts with ``data`` is an SQLite file."""
    return data.startswith(MAGIC)


def snapshot(path: Path, folder: Path) -> Path:
    """The database at ``path`` with what its write-ahead log adds, as one file in ``folder`` (formats 2.2).

    Both files are copied again where one changed meanwhile.  Raises UnreadableInput.
    """
    copy, log = folder / path.name, path.with_name(f"{path.name}-wal")
    for _ in range(3):
        before = _stamps(path, log)
        shutil.copyfile(path, copy)
        if log.is_file():
            shutil.copyfile(log, folder / log.name)
        if _stamps(path, log) == before:
            break
    else:
        raise UnreadableInput("the database is written to faster than it can be copied", next_step=STEP)
    try:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.Error as error:
        raise _broken(error) from error
    return copy


def _stamps(*paths: Path) -> list[tuple[int, int]]:
    found = [path.stat() for path in paths if path.is_file()]
    return [(stat.st_size, stat.st_mtime_ns) for stat in found]


def _opened(file: BinaryIO) -> sqlite3.Connection:
    """A read-only connection to a copy that no other program can name."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        file.seek(0)
        with copy.open("wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
            out.seek(_VERSIONS)
            out.write(b"\x01\x01")
        try:
            connection = sqlite3.connect(f"{copy.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
            connection.execute("PRAGMA query_only = ON")  # opens the file, which may go now
        except sqlite3.Error as error:
            raise _broken(error) from error
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.MAX_DOCUMENT_BYTES)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda data: data.decode("utf-8", errors="replace")
    return connection


def _unpacked(value: Any) -> tuple[Any, int]:
    """What a zstd frame holds, and the bytes that were unpacked for it.

    One that is damaged, or too large to be one document, stays as it is.
    """
    if not isinstance(value, bytes) or not value.startswith(zstd.MAGIC):
        return value, 0
    try:
        found = zstd.unpacked(value, limits.MAX_DOCUMENT_BYTES + 1)
    except zstd.ZstdProblem as problem:
        return value, problem.n_bytes
    return (found if len(found) <= limits.MAX_DOCUMENT_BYTES else value), len(found)


def _broken(error: Exception) -> UnreadableInput:
    return UnreadableInput(f"a database that cannot be read: {error}", next_step=STEP)
