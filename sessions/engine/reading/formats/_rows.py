"""Rows of an agent's database as records, each with the origin that finds it again (formats 2.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats._values import Record
from sessions.engine.transcript.types import Origin

if TYPE_CHECKING:
    from sessions.engine.reading.jsonio import Head, Source


def has_columns(head: Head, table: str, *columns: str) -> bool:
    """Whether the file is a database whose ``table`` has these columns."""
    return set(columns) <= set(head.tables.get(table, ()))


def rows_of(source: Source, table: str, rest: str = "", values: Sequence[Any] = ()) -> Iterator[tuple[Record, Origin]]:
    """The rows of ``table``, a name of ours, chosen and ordered by ``rest`` of the query; raises UnreadableInput."""
    database = source.database()
    if database is None or table not in database.tables:
        raise UnreadableInput(f"no database with a table {table!r}", next_step="Check the file's format")
    for row in database.rows(f'SELECT rowid AS "row number", * FROM "{table}" {rest}', values):  # noqa: S608  a name of ours
        yield row, Origin(1, 0, source.size, (table, row.pop("row number")))
