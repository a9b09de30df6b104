"""opencode's database: a row for each session, message and part, the latter two as JSON in a cell (formats 10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._rows import has_columns, rows_of
from sessions.engine.reading.formats._trace_dialects import decoded
from sessions.engine.reading.formats._values import Record, as_dict, text_of
from sessions.engine.transcript.types import Origin

if TYPE_CHECKING:
    from sessions.engine.reading.jsonio import Head, Source

PART, DATA = "part", "data"
COLUMNS = {"session": ("id", "title"), "message": ("id", "session_id", DATA), PART: ("message_id", "session_id", DATA)}


def is_opencode(head: Head) -> bool:
    """Whether the file is a database with opencode's tables."""
    return all(has_columns(head, table, *columns) for table, columns in COLUMNS.items())


def sessions_in(source: Source) -> Iterator[Record]:
    """The rows of the sessions, the oldest first."""
    for row, _ in rows_of(source, "session", "ORDER BY rowid"):
        yield row


def entries_of(source: Source, session: str) -> Iterator[tuple[dict[str, Any], list[Origin]]]:
    """A session's messages as its export has them, ``{info, parts}``, each with the places of its parts."""
    parts: dict[str, list[tuple[dict[str, Any], Origin]]] = {}
    for row, origin in rows_of(source, PART, "WHERE session_id = ? ORDER BY message_id, id", (session,)):
        held = as_dict(decoded(row.get(DATA)))
        if held:
            parts.setdefault(text_of(row.get("message_id")), []).append((held, inside(origin, DATA)))
    for row, origin in rows_of(source, "message", "WHERE session_id = ? ORDER BY time_created, id", (session,)):
        found = parts.get(text_of(row.get("id")), [])
        info = {**as_dict(decoded(row.get(DATA))), "id": row.get("id")}
        yield (
            {"info": info, "parts": [part for part, _ in found]},
            [place for _, place in found] or [inside(origin, DATA)],
        )
