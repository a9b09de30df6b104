"""Bounded reading of files that hold JSON: line by line, without ever holding a JSONL file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.base.fast_frozen import fast_frozen
from sessions.engine.reading.archive import MAGIC, Archive, BadMember
from sessions.engine.reading.database import Database, is_database
from sessions.engine.reading.json_values import BOM, CUT, EXTRA, JsonProblem, dumps, follow, loads, written_length
from sessions.engine.transcript.types import Origin, Skipped

__all__ = [
    "Head", "JsonProblem", "Line", "Source", "dumps", "follow", "glued", "loads", "too_long", "written_length",
]  # fmt: skip
HEAD_LINES = 64
HEAD_MARK = 16
"""Bytes that tell a database."""
PROGRESS_BYTES = 1024 * 1024
PIECE_BYTES = 1024 * 1024
TEXT = "#text"
"""As the whole path of an origin: what stands there is text and no JSON."""
INSIDE = "#inside"
"""First in the path of an origin in another file: the next tells how many steps lead to what was read as a file."""
_BLANK = b" \t\r\n\0"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_CLOSING = (b"]", b"}", b"],", b"},", b"]}", b"}]")
PREAMBLE_LINES, PREAMBLE_BYTES = 20, 4096
MAX_GLUED = 16
"""Objects on one line without a newline between them; more than these are no accident of a writer."""


@fast_frozen
@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: ``number`` from 1, ``offset`` and ``length`` in bytes, newline excluded.

    ``data`` is None for a line longer than ``limits.MAX_LINE_BYTES``: its bytes were counted, not read.
    """

    number: int
    offset: int
    length: int
    data: bytes | None

    @property
    def blank(self) -> bool:
        """Nothing but spaces and NULs: a newline at the end, padding after a crash."""
        return self.data is not None and not self.data.strip(_BLANK)

    def at(self, *path: str | int) -> Origin:
        """Where the line stands, or a part of its value."""
        return Origin(self.number, self.offset, self.length, path)

    def skipped(self, reason: str, position: int = 0) -> Skipped:
        """The line, or its byte at ``position``, as one that could not be read."""
        return Skipped(self.number, self.offset + position, reason)


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a file, for sniffing: its first bytes, its first whole lines, their values.

    ``values`` are those of the lines that parse; ``document`` is the file's JSON value where the file is one document
    (on one line, or over many: its lines have no values then), else None; ``problem`` says why nothing parsed, ``at``
    on which line and byte.  ``members`` are the names in a zip archive, ``tables`` the columns of a database's tables:
    these have no lines and no values.
    """

    data: bytes
    lines: tuple[Line, ...]
    values: tuple[Any, ...]
    document: Any = None
    problem: str = ""
    at: tuple[int, int] = (1, 0)
    members: tuple[str, ...] = ()
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)


def glued(line: Line) -> list[tuple[Line, Any]]:
    """The objects that stand on one line with no newline between them, each as a line of its own (formats 1.2).

    Empty where the line holds anything but two or more whole objects, or more than ``MAX_GLUED`` of them.
    """
    data, start = line.data or b"", 0
    found: list[tuple[Line, Any]] = []
    while start < len(data):
        piece = data[start : start + _length_of_first(data[start:])]
        try:
            value = loads(piece)
        except JsonProblem:
            return []
        if not isinstance(value, dict) or len(found) == MAX_GLUED:
            return []
        found.append((Line(line.number, line.offset + start, len(piece), piece), value))
        start += len(piece)
    return found if len(found) > 1 else []


def _length_of_first(data: bytes) -> int:
    """Bytes of the first JSON value in ``data`` with the blanks after it; 0 where there is none."""
    try:
        loads(data)
    except JsonProblem as problem:
        return problem.position if problem.reason == EXTRA else 0
    return len(data)


_OBJECT = re.compile(rb"^\{[ \t]*\r?\n.*?^\}(?=[ \t\r]*$)", re.DOTALL | re.MULTILINE)
"""An object that a printer wrote over several lines, its braces alone on the first and the last."""
_SEAM = re.compile(rb"\}[ \t\r]*\n[ \t\r\n]*\{")
"""Where one object ends and another begins with no comma between: in JSON, a string holds no newline."""


class Source:
    """A seekable binary file, read as lines, as one document, or at an origin; never held whole as JSONL.

    ``on_progress`` is called with the bytes read so far, about once per megabyte, while ``lines`` runs.  ``skipped`` is
    what the reading that goes on, or the last one, could not use.
    """

    def __init__(self, file: BinaryIO, name: str = "", on_progress: Callable[[int], None] | None = None) -> None:
        self.file, self.name, self.on_progress = file, name, on_progress
        self.size = file.seek(0, os.SEEK_END)
        self._last: tuple[tuple[int, int] | str, Any] | None = None
        self._archive: Archive | None = None
        self._database: Database | None = None
        self._plain = self._tableless = False
        self._start: int | None = None
        self._head: Head | None = None
        self.skipped: list[Skipped] = []

    def skip(self, reason: str, at: Line | Origin | None = None) -> None:
        """Note what could not be read: a line, what stands at an origin, or some part of a document."""
        line = at.number if isinstance(at, Line) else at.line if at else 1
        self.skipped.append(Skipped(line, at.offset if at else 0, reason))

    def is_lines(self) -> bool:
        """Whether the file is text: neither an archive nor a database."""
        return self.archive() is None and self.database() is None

    def lines(self) -> Iterator[Line]:
        """Every line in order; one that is too long is skipped in pieces and yielded with ``data=None``."""
        reported = 0
        for line in self.every_line():
            yield line
            end = line.offset + line.length
            if self.on_progress and end - reported >= PROGRESS_BYTES:
                reported = end
                self.on_progress(end)
        if self.on_progress:
            self.on_progress(self.size)

    def head(self) -> Head:
        """The first lines and what they parse to; the whole value where the file is a single document.  Read once."""
        if self._head is None:
            self._head = self._read_head()
        return self._head

    def _read_head(self) -> Head:
        self.file.seek(0)
        data = self.file.read(limits.HEAD_BYTES)
        if data.startswith(_WIDE_BOMS):
            return Head(data, (), (), problem="the file is UTF-16, not UTF-8")
        archive = self.archive()
        if archive is not None:
            return Head(data, (), (), problem="a zip archive that no known format writes", members=archive.names)
        if (database := self.database()) is not None:
            return Head(data, (), (), problem="a database that no known format writes", tables=database.tables)
        lines = self._first_lines()
        values: list[Any] = []
        problem, at = "", (1, 0)
        for line in lines:
            try:
                values.append(_value(line))
            except JsonProblem as error:
                parts = glued(line)
                values += [value for _, value in parts]
                if not problem and not parts:
                    problem, at = error.reason, (line.number, line.offset + error.position)
        start = self.start()
        body = [line for line in lines if line.offset + line.length > start]
        document = values[0] if len(body) == len(values) == 1 and self._alone(body[0]) else None
        opens = data[start:].lstrip(BOM + _BLANK)[:1] in (b"{", b"[")
        early = bool(body) and at[0] <= body[0].number
        if problem and early and opens and document is None and 2 * len(values) < len(body) + 1:
            try:
                document, problem = self.document(), ""
                values.clear()
            except UnreadableInput as error:
                problem, at = error.reason, (error.line, error.offset)
        if document is None and _is_torn(body, len(values)):
            values.clear()
        return Head(data, tuple(lines), tuple(values), document, problem, at)

    def start(self) -> int:
        """Where JSON begins: behind the lines that a runner wrote before it, 0 where there are none (formats 2.4)."""
        if self._start is None:
            lines = self._first_lines()[: PREAMBLE_LINES + 1]
            behind = bool(lines) and not _opens(lines[0])
            self._start = next((line.offset for line in lines if _opens(line)), 0) if behind else 0
        return self._start

    def archive(self) -> Archive | None:
        """The file as a zip archive, None where it is none; raises UnreadableInput where it is broken or too large."""
        if self._archive is None and not self._plain:
            self.file.seek(0)
            self._plain = not self.file.read(len(BOM + MAGIC)).removeprefix(BOM).startswith(MAGIC)
            self._archive = None if self._plain else Archive(self.file, self.size)
        return self._archive

    def database(self) -> Database | None:
        """The file as an SQLite database, None where it is none; raises UnreadableInput where it is broken."""
        if self._database is None and not self._tableless:
            self.file.seek(0)
            self._tableless = not is_database(self.file.read(HEAD_MARK))
            self._database = None if self._tableless else Database(self.file)
        return self._database

    def member(self, name: str) -> Any:
        """The JSON value of a member of the archive; raises JsonProblem.  The last one read is kept."""
        archive = self.archive()
        if archive is None:
            raise JsonProblem("the file is not a zip archive")
        if self._last is None or self._last[0] != name:
            try:
                self._last = (name, loads(archive.read(name)))
            except BadMember as problem:
                raise JsonProblem(str(problem)) from problem
        return self._last[1]

    def document(self) -> Any:
        """The file as one JSON value; raises UnreadableInput with line and byte where it is not one.

        Objects that a printer wrote over several lines each, one after another, are a list (formats 1.2).
        """
        if self.size > limits.MAX_DOCUMENT_BYTES:
            reason = f"one JSON document of {self.size:,} bytes; the limit is {limits.MAX_DOCUMENT_BYTES:,}"
            raise UnreadableInput(reason, next_step="Split it, or export the session as JSON lines")
        span = (0, self.size)
        if self._last is None or self._last[0] != span:
            start = self.start()
            self.file.seek(0)
            data = self.file.read(self.size)
            try:
                self._last = (span, _printed(data[start:]))
            except JsonProblem as error:
                position = start + error.position
                line = data.count(b"\n", 0, position) + 1
                raise UnreadableInput(error.reason, line=line, offset=position) from error
        return self._last[1]

    def read(self, origin: Origin) -> Any:
        """The JSON value at ``origin``; the last one read is kept, so parts of one document parse it once.

        In a zip archive the origin's path starts with the member's name, in a database with a table and a row's number.
        The path ``(TEXT,)`` is the text itself, in files that are not JSON.
        """
        if self.archive() is not None:
            name, *path = origin.path or ("",)
            return follow(self.member(str(name)), tuple(path))
        if (database := self.database()) is not None:
            table, key, *path = (*origin.path, "", 0)[: max(2, len(origin.path))]
            return self._cell(database, str(table), int(key), tuple(path))
        if origin.path == (TEXT,):
            self.file.seek(origin.offset)
            return self.file.read(origin.length).removeprefix(BOM).decode("utf-8", errors="replace")
        span, steps = (origin.offset, origin.length), origin.path
        if steps[:1] == (INSIDE,):
            steps = steps[2:]
        if span == (0, self.size):
            return follow(self.document(), steps)
        if self._last is None or self._last[0] != span:
            self.file.seek(origin.offset)
            self._last = (span, loads(self.file.read(origin.length)))
        return follow(self._last[1], steps)

    def _cell(self, database: Database, table: str, key: int, path: tuple[str | int, ...]) -> Any:
        """What stands at ``path`` in a row; JSON in a cell is parsed once for all its parts that are read in turn."""
        if len(path) < 2:
            return follow(database.row(table, key), path)
        cell = f"{table} {key} {path[0]}"
        if self._last is None or self._last[0] != cell:
            value = follow(database.row(table, key), path[:1])
            self._last = (cell, loads(value.encode("utf-8", "replace")) if isinstance(value, str) else value)
        return follow(self._last[1], path[1:])

    def _first_lines(self) -> list[Line]:
        """Lines up to the head's size; one too long to be read does not use it up."""
        found: list[Line] = []
        n_read = 0
        for line in self.every_line():
            n_read += len(line.data or b"")
            if not line.blank:
                found.append(line)
            if len(found) >= HEAD_LINES or n_read >= limits.HEAD_BYTES:
                break
        return found

    def _alone(self, line: Line) -> bool:
        """Nothing follows ``line`` but a little white space."""
        end = line.offset + line.length
        self.file.seek(end)
        return self.size - end <= limits.HEAD_BYTES and not self.file.read().strip(_BLANK)

    def every_line(self) -> Iterator[Line]:
        """Lines without telling progress, cut from large pieces: each read of the file gives up the interpreter lock,
        and getting it back from threads that count tokens costs more than the read.
        """
        offset, number, held = 0, 0, 0
        parts: list[bytes] = []
        self.file.seek(0)
        while piece := self.file.read(PIECE_BYTES):
            start = 0
            while (end := piece.find(b"\n", start)) >= 0:
                number += 1
                length = held + end - start
                yield _line(number, offset, length, parts, piece[start:end])
                parts, held, start = [], 0, end + 1
                offset += length + 1
            held += len(piece) - start
            parts = [*parts, piece[start:]] if held <= limits.MAX_LINE_BYTES else []
        if held:
            yield _line(number + 1, offset, held, parts, b"")


def _line(number: int, offset: int, length: int, parts: list[bytes], end: bytes) -> Line:
    """A line of ``length`` bytes, its newline left out, from the pieces it was read in; too long a one has no data."""
    if length > limits.MAX_LINE_BYTES:
        return Line(number, offset, length, None)
    body = (b"".join([*parts, end]) if parts else end).rstrip(b"\r\n")
    return Line(number, offset, len(body), body)


def _printed(data: bytes) -> Any:
    """One JSON value, or the objects that stand one after another, each from a line of its own on.

    What a program said between them is no part of any, as long as they are most of the text.
    """
    try:
        return loads(data)
    except JsonProblem as problem:
        if problem.reason != EXTRA:
            raise
        found = _OBJECT.findall(data)
        parts = [_SEAM.sub(b"},{", data.removeprefix(BOM))] if _SEAM.search(data) else []
        parts += [b",".join(found)] if len(found) > 1 and 2 * sum(map(len, found)) > len(data) else []
        for part in parts:
            with suppress(JsonProblem):
                return loads(b"[" + part + b"]")
        raise


def _is_torn(lines: list[Line], n_values: int) -> bool:
    """Whether more lines are pieces of one document than whole: no record of a log ends in a comma or a bracket alone.

    As many whole records as pieces are a log with bad lines: one cut at a bracket, or nested too deep.
    """
    pieces = (line.data or b"" for line in lines)
    n_torn = sum(piece.rstrip(b" \t").endswith((b",", b"[", b"{")) or piece.strip() in _CLOSING for piece in pieces)
    return n_torn > n_values


def _opens(line: Line) -> bool:
    """Whether JSON begins on this line: a value of its own, or the first piece of one over several lines.

    A log's line may begin with a bracket as well; one too long to be a log's is not looked at more closely.
    """
    data = (b"[" if line.data is None else line.data).removeprefix(BOM).lstrip(_BLANK)
    if data[:1] not in (b"{", b"["):
        return False
    if data[:1] == b"{" or line.length > PREAMBLE_BYTES:
        return True
    try:
        loads(data)
    except JsonProblem as problem:
        return problem.reason == CUT or bool(glued(line))
    return True


def _value(line: Line) -> Any:
    if line.data is None:
        raise JsonProblem(too_long(line))
    return loads(line.data)


def too_long(line: Line) -> str:
    """Why a line without ``data`` was not read."""
    return f"line of {line.length:,} bytes is longer than {limits.MAX_LINE_BYTES:,}: not read, kept in the upload"
