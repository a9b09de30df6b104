"""Objects of a JSONL file, one a line; a line that holds none is skipped with its number, offset and reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.jsonio import Head, JsonProblem, Line, Source, glued, loads, too_long
from sessions.engine.transcript.types import Skipped


def first_objects(head: Head) -> list[dict[str, Any]]:
    """The objects on the lines that sniffing looks at."""
    return [value for value in head.values if isinstance(value, dict)]


def objects(source: Source, skipped: list[Skipped]) -> Iterator[tuple[Line, dict[str, Any]]]:
    """Every line that is a JSON object; ``skipped`` receives the others, blank lines excepted."""
    for line, value in values(source, skipped):
        if isinstance(value, dict):
            yield line, value
        else:
            skipped.append(Skipped(line.number, line.offset, f"not an object but {_named(value)}"))


def values(source: Source, skipped: list[Skipped]) -> Iterator[tuple[Line, Any]]:
    """Every line that is JSON; ``skipped`` receives the others, blank lines excepted.

    Objects that stand on one line with no newline between them are as many lines.  A last line that is cut off is
    normal while a session is live, and is named as such (formats 1.2).
    """
    last: tuple[int, JsonProblem] | None = None
    n_lines = 0
    for line in source.lines():
        if line.data is not None and not line.blank:
            n_lines = line.number
            try:
                value = loads(line.data)
            except JsonProblem as problem:
                if parts := glued(line):
                    yield from parts
                    continue
                last = (line.number, problem)
                skipped.append(Skipped(line.number, line.offset + problem.position, problem.reason))
                continue
            yield line, value
        elif line.data is None:
            n_lines = line.number
            skipped.append(Skipped(line.number, line.offset, too_long(line)))
        elif b"\0" in line.data:
            skipped.append(Skipped(line.number, line.offset, f"{line.length:,} NUL or blank bytes"))
    if last and last[0] == n_lines and last[1].reason == "JSON is cut off":
        skipped[-1:] = [Skipped(skipped[-1].line, skipped[-1].offset, "truncated last line: JSON is cut off")]


def _named(value: Any) -> str:
    names = {str: "a string", list: "a list", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")
