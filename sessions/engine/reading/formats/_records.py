"""The records of a file that may be one document, a list of documents, or one document a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.base.words import counted
from sessions.engine.reading.formats import Sniff
from sessions.engine.reading.formats._values import Path, Record, as_list
from sessions.engine.reading.json_values import BOM, CUT
from sessions.engine.reading.jsonio import Head, JsonProblem, Line, Source, glued, loads, too_long
from sessions.engine.transcript.types import Origin, Skipped

Part = TypeVar("Part")
DATA = b"data:"
FIELDS = (b"event:", b"id:", b"retry:", b":")
_DONE = b"[DONE]"
NAMES = {str: "a string", list: "a list", bool: "true or false", int: "a number", float: "a number"}


def first_objects(head: Head) -> list[dict[str, Any]]:
    """The objects on the lines that sniffing looks at."""
    return [value for value in head.values if isinstance(value, dict)]


def objects(
    source: Source, fits: Callable[[Record], bool] | None = None, reason: str = ""
) -> Iterator[tuple[Line, dict[str, Any]]]:
    """Every line that is a JSON object; ``source`` skips the others, and with ``reason`` those that do not fit."""
    for line, value in values(source):
        if not isinstance(value, dict):
            source.skip(f"not an object but {NAMES.get(type(value), 'null')}", line)
        elif fits is None or fits(value):
            yield line, value
        else:
            source.skip(reason, line)


def values(source: Source) -> Iterator[tuple[Line, Any]]:
    """Every line that is JSON; ``source`` skips the others, blank lines excepted.

    Objects that stand on one line with no newline between them are as many lines.  A last line that is cut off is
    normal while a session is live, and is named as such (formats 1.2).
    """
    cut_off: Line | None = None
    for line in source.lines():
        if line.data is None:
            cut_off = None
            source.skip(too_long(line), line)
        elif not line.blank:
            cut_off = None
            try:
                value = loads(line.data)
            except JsonProblem as problem:
                parts = glued(line)
                yield from parts
                if not parts:
                    cut_off = line if problem.reason == CUT else None
                    source.skipped.append(line.skipped(problem.reason, problem.position))
                continue
            yield line, value
        elif b"\0" in line.data:
            source.skip(f"{line.length:,} NUL or blank bytes", line)
    if cut_off:
        source.skipped[-1] = replace(source.skipped[-1], reason=f"truncated last line: {CUT}")


def records(
    source: Source, fits: Callable[[Record], bool] | None = None, reason: str = ""
) -> Iterator[tuple[dict[str, Any], Origin]]:
    """Every record that is an object, with its origin: a line, the document, or an entry of a list; see ``objects``."""
    document, whole = source.head().document, Origin(1, 0, source.size)
    found: Iterator[tuple[dict[str, Any], Origin]]
    if document is None:
        found = ((value, line.at()) for line, value in objects(source))
    elif isinstance(document, dict):
        found = iter([(document, whole)])
    else:
        found = objects_in(as_list(document), whole, source)
    for record, origin in found:
        if fits is None or fits(record):
            yield record, origin
        else:
            source.skip(reason, origin)


def placed(
    source: Source, parts_in: Callable[[Record], Iterable[tuple[Part, Path]]], reason: str
) -> Iterator[tuple[Part, Origin]]:
    """What each record holds, with its place; ``source`` skips those that hold nothing, for that reason."""
    for record, origin in records(source):
        found = [(part, inside(origin, *path)) for part, path in parts_in(record)]
        if not found:
            source.skip(reason, origin)
        yield from found


def objects_in(
    entries: Iterable[Any], whole: Origin, source: Source, noun: str = "entry"
) -> Iterator[tuple[dict[str, Any], Origin]]:
    """The objects of a list at ``whole``, each with its place; ``source`` skips what is none, by that noun."""
    for position, value in enumerate(entries):
        if isinstance(value, dict):
            yield value, inside(whole, position)
        else:
            source.skip(f"{noun} {position} is not an object", whole)


def first_records(head: Head) -> list[dict[str, Any]]:
    """The records that sniffing can look at."""
    if isinstance(head.document, list):
        return [value for value in head.document[:200] if isinstance(value, dict)]
    if isinstance(head.document, dict):
        return [head.document]
    return first_objects(head)


def misread(reason: str) -> UnreadableInput:
    """What to raise for a file that is not of the format that it is read as."""
    return UnreadableInput(reason, next_step="Check the file's format")


def object_of(source: Source, what: str) -> dict[str, Any]:
    """The one object that a file of ``what`` holds; raises UnreadableInput where it is none."""
    document = source.document()
    if not isinstance(document, dict):
        raise misread(f"not {what}: no object")
    return document


def cleared_before(n_cleared: int) -> tuple[int, str]:
    """What to note of results that a file holds no longer, and whether there are any."""
    return n_cleared, f"Results cleared before recording: {n_cleared}; their content is not in this session"


NOT_PRINTED = "The prompt and the model's name are not in this stream"
"""The note on what a program prints of a run that it was given a prompt for."""


def noted(*notes: tuple[object, str]) -> tuple[str, ...]:
    """The words of those notes that have something to tell."""
    return tuple(words for some, words in notes if some)


def unread_notes(unknown: Mapping[str, int]) -> tuple[str, ...]:
    """What no reader knows, by its type: "3 records of type 'hologram' were not read"."""
    return tuple(
        f"{counted(n, 'record')} of type {kind[:40]!r} {'was' if n == 1 else 'were'} not read"
        for kind, n in sorted(unknown.items())
    )


def inside(origin: Origin, *path: str | int) -> Origin:
    """The origin of a part of what stands at ``origin``."""
    return Origin(origin.line, origin.offset, origin.length, (*origin.path, *path))


def has_columns(head: Head, table: str, *columns: str) -> bool:
    """Whether the file is a database whose ``table`` has these columns."""
    return set(columns) <= set(head.tables.get(table, ()))


def rows_of(source: Source, table: str, rest: str = "", values: Sequence[Any] = ()) -> Iterator[tuple[Record, Origin]]:
    """The rows of ``table``, a name of ours, chosen and ordered by ``rest`` of the query; raises UnreadableInput."""
    database = source.database()
    if database is None or table not in database.tables:
        raise misread(f"no database with a table {table!r}")
    for row in database.rows(f'SELECT rowid AS "row number", * FROM "{table}" {rest}', values):  # noqa: S608  a name of ours
        yield row, Origin(1, 0, source.size, (table, row.pop("row number")))


def streamed(head: Head) -> list[dict[str, Any]]:
    """The objects of server-sent events on the lines that sniffing looks at; none where most are anything else."""
    skipped: list[Skipped] = []
    found = [value for value, _ in _events(head.lines, skipped)] if not head.values and head.document is None else []
    return found if len(found) > len(skipped) else []


def events(source: Source) -> Iterator[tuple[dict[str, Any], Origin]]:
    """Every event's JSON object with where it stands, a line of JSON alone too; ``source`` skips the others."""
    return _events(source.lines(), source.skipped)


def _events(lines: Iterable[Line], skipped: list[Skipped]) -> Iterator[tuple[dict[str, Any], Origin]]:
    for line in lines:
        data = line.data
        if data is None:
            skipped.append(line.skipped(too_long(line)))
            continue
        body = data.removeprefix(BOM).lstrip()
        if line.blank or body.startswith(FIELDS):
            continue
        if not body.startswith((DATA, b"{")):
            skipped.append(line.skipped("neither an event's data nor its name"))
            continue
        value_bytes = body.removeprefix(DATA).lstrip()
        start = len(data) - len(value_bytes)
        if value_bytes.strip() == _DONE:
            continue
        try:
            value = loads(value_bytes)
        except JsonProblem as problem:
            skipped.append(Skipped(line.number, line.offset + start + problem.position, problem.reason))
            continue
        if isinstance(value, dict):
            yield value, Origin(line.number, line.offset + start, line.length - start)
        else:
            skipped.append(Skipped(line.number, line.offset + start, "an event whose data is no object"))


def pair_in(
    document: Record, is_request: Callable[[Record], object], is_response: Callable[[Record], object]
) -> tuple[Record | None, Record | None]:
    """The request and the response in ``document``, or what it is itself; None for what is not there."""
    held = document.get("request"), document.get("response")
    request, response = held if any(isinstance(body, dict) for body in held) else (document, document)
    return (
        request if isinstance(request, dict) and is_request(request) else None,
        response if isinstance(response, dict) and is_response(response) else None,
    )


def closest(shapes: Iterable[Sniff | None], what: str) -> Sniff | None:
    """The surest guess of those about the items of a list, which is ``what``; None where none is sure of any."""
    best = max(filter(None, shapes), key=lambda shape: shape.score, default=None)
    return Sniff(best.score - 5, f"{what}; one item is {best.reason}") if best and best.score > 0 else None


def folders_of(name: str) -> list[str]:
    """The folders that a file's name tells, the outermost first, and its own name."""
    return name.replace("\\", "/").split("/")


def stem_of(name: str) -> str:
    """A file's name without folders and extensions, "session" where there is none."""
    return folders_of(name)[-1].rsplit(".", 1)[0] or "session"


def folder_of(name: str, own: str) -> str:
    """The folder of a file that an agent calls ``own``; the file's name without it where it was given another."""
    folders = folders_of(name)
    return folders[-2] if len(folders) > 1 and stem_of(name) == own and folders[-2] else stem_of(name)
