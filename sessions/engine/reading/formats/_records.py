"""The records of a file that may be one document, a list of documents, or one document a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sessions.engine.base.words import counted
from sessions.engine.reading.formats._jsonl import first_objects, objects
from sessions.engine.transcript.types import Origin, Skipped

if TYPE_CHECKING:
    from sessions.engine.reading.jsonio import Head, Source


def records(source: Source, skipped: list[Skipped]) -> Iterator[tuple[dict[str, Any], Origin]]:
    """Every record that is an object, with its origin: a line, the document, or an entry of a list.

    ``skipped`` receives what is no object; a line that holds a list is taken apart as a document would be.
    """
    document = source.head().document
    if document is not None:
        yield from _entries(document, Origin(1, 0, source.size), skipped)
        return
    for line, value in objects(source, skipped):
        yield value, Origin(line.number, line.offset, line.length)


def first_records(head: Head) -> list[dict[str, Any]]:
    """The records that sniffing can look at."""
    if isinstance(head.document, list):
        return [value for value in head.document[:200] if isinstance(value, dict)]
    if isinstance(head.document, dict):
        return [head.document]
    return first_objects(head)


def unread_notes(unknown: Mapping[str, int]) -> tuple[str, ...]:
    """What no reader knows, by its type: "3 records of type 'hologram' were not read"."""
    return tuple(
        f"{counted(n, 'record')} of type {kind[:40]!r} {'was' if n == 1 else 'were'} not read"
        for kind, n in sorted(unknown.items())
    )


def inside(origin: Origin, *path: str | int) -> Origin:
    """The origin of a part of what stands at ``origin``."""
    return Origin(origin.line, origin.offset, origin.length, (*origin.path, *path))


def _entries(document: Any, origin: Origin, skipped: list[Skipped]) -> Iterator[tuple[dict[str, Any], Origin]]:
    if isinstance(document, dict):
        yield document, origin
    elif isinstance(document, list):
        for position, value in enumerate(document):
            if isinstance(value, dict):
                yield value, inside(origin, position)
            else:
                skipped.append(Skipped(1, 0, f"entry {position} is not an object"))
