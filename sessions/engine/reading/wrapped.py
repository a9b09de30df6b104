"""A transcript of a known format that stands inside another file: under a key, or as a list in place of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sessions.engine.reading.jsonio import Head

MAX_KEYS, MAX_ENTRIES = 50, 200


def inner_heads(head: Head) -> Iterator[tuple[str, Head]]:
    """What could be a file of its own, with where it stands: by the start of each."""
    for where, value, values in _places(head):
        yield where, replace(head, document=value, values=tuple(values[:MAX_ENTRIES]))


def _places(head: Head) -> Iterator[tuple[str, Any, Sequence[Any]]]:
    """Each place with the document, or with the lines, that would stand in a file of its own."""
    document = head.document
    if isinstance(document, dict):
        for key, value in [*document.items()][:MAX_KEYS]:
            yield from _both(f"under {key!r}", value)
        return
    values: Sequence[Any] = head.values
    if isinstance(document, list):
        values = document[:MAX_ENTRIES]
        yield "in its list, a line each,", None, values
    records = [value for value in values if isinstance(value, dict)]
    if records:
        yield "in its first entry", records[0], ()
    for key in [*records[0]][:MAX_KEYS] if records else ():
        inner = [value for record in records if isinstance(value := record.get(key), (dict, list))]
        if inner:
            yield f"under {key!r} of each, a line each,", None, inner
            yield from _both(f"under {key!r} of the first", inner[0])


def _both(where: str, value: Any) -> Iterator[tuple[str, Any, Sequence[Any]]]:
    if isinstance(value, (dict, list)) and value:
        yield where, value, ()
    if isinstance(value, list) and len(value) > 1:
        yield f"{where}, a line each,", None, value
