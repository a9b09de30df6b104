"""Server-sent events as a recorded stream holds them: ``data: {…}`` lines (formats 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.jsonio import JsonProblem, Source, loads, too_long
from sessions.engine.transcript.types import Origin, Skipped

DATA = b"data:"
FIELDS = (b"event:", b"id:", b"retry:", b":")
_DONE = b"[DONE]"
_BOM = b"\xef\xbb\xbf"


def events(source: Source, skipped: list[Skipped]) -> Iterator[tuple[Origin, dict[str, Any]]]:
    """Every event's JSON object with where it stands; ``skipped`` receives lines that are none."""
    for line in source.lines():
        data = line.data
        if data is None:
            skipped.append(Skipped(line.number, line.offset, too_long(line)))
            continue
        mark = len(_BOM) if data.startswith(_BOM) else 0
        body = data[mark:]
        if line.blank or body.startswith(FIELDS):
            continue
        if not body.startswith(DATA):
            skipped.append(Skipped(line.number, line.offset, "neither an event's data nor its name"))
            continue
        value_bytes = body[len(DATA) :].lstrip()
        start = len(data) - len(value_bytes)
        if value_bytes.strip() == _DONE:
            continue
        try:
            value = loads(value_bytes)
        except JsonProblem as problem:
            skipped.append(Skipped(line.number, line.offset + start + problem.position, problem.reason))
            continue
        if isinstance(value, dict):
            yield Origin(line.number, line.offset + start, line.length - start), value
        else:
            skipped.append(Skipped(line.number, line.offset + start, "an event whose data is no object"))
