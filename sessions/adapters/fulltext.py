"""The full-text index of the database: FTS5 in SQLite, tsvector in PostgreSQL.  It holds terms, never text.

A document is one message: its number and that of its part (``models.SearchPart``) are its row id.  Terms have no
positions, so no sentence can be read back from the index.  What SQLite 3.9 can do is enough: its tables cannot delete
by row id before 3.43, and a data folder may be opened by an older one, so terms to be removed are read from the index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from django.db import connection

if TYPE_CHECKING:
    from sessions.engine.search.terms import Query, Term

TABLE = "agent_sessions_searchterms"
PARTS = "agent_sessions_searchpart"
SHIFT = 24
"""Bits of a row id that are the message's number."""
MOST_MESSAGES = 1 << SHIFT

SQLITE_TABLE = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS {TABLE} USING fts5"
    "(terms, content='', detail='none', tokenize=\"ascii tokenchars '-_./:@'\")"
)
POSTGRES_TABLE = (
    f"CREATE TABLE IF NOT EXISTS {TABLE} ("
    "part_id bigint NOT NULL, message integer NOT NULL, terms tsvector NOT NULL, PRIMARY KEY (part_id, message))",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_terms ON {TABLE} USING gin (terms)",
)


def is_sqlite() -> bool:
    return connection.vendor == "sqlite"


@cache
def is_available() -> bool:
    """Whether the database can search texts: always, unless this Python's SQLite was built without FTS5."""
    if not is_sqlite():
        return True
    try:
        with sqlite3.connect(":memory:") as probe:
            probe.execute("CREATE VIRTUAL TABLE probe USING fts5(terms, content='', detail='none')")
    except sqlite3.OperationalError:
        return False
    return True


def create() -> bool:
    """Make the table where it can be made; True where it was missing."""
    if not is_available():
        return False
    with connection.cursor() as cursor:
        if TABLE in connection.introspection.table_names(cursor):
            return False
        for statement in (SQLITE_TABLE,) if is_sqlite() else POSTGRES_TABLE:
            cursor.execute(statement)
    return True


def add(part_id: int, rows: Iterable[tuple[int, Iterable[str]]]) -> None:
    """Index messages of a part by their numbers."""
    made: list[tuple[Any, ...]]
    if is_sqlite():
        statement = f"INSERT INTO {TABLE} (rowid, terms) VALUES (%s, %s)"  # noqa: S608 - our name
        made = [(part_id << SHIFT | message, " ".join(terms)) for message, terms in rows]
    else:
        statement = f"INSERT INTO {TABLE} (part_id, message, terms) VALUES (%s, %s, array_to_tsvector(%s))"  # noqa: S608
        made = [(part_id, message, list(terms)) for message, terms in rows]
    with connection.cursor() as cursor:
        cursor.executemany(statement, made)


def is_taken(part_id: int) -> bool:
    """Whether the index has messages of a part of this number."""
    with connection.cursor() as cursor:
        if is_sqlite():
            low, high = part_id << SHIFT, (part_id + 1) << SHIFT
            cursor.execute(f"SELECT 1 FROM {TABLE}_docsize WHERE id >= %s AND id < %s LIMIT 1", [low, high])  # noqa: S608
        else:
            cursor.execute(f"SELECT 1 FROM {TABLE} WHERE part_id = %s LIMIT 1", [part_id])  # noqa: S608
        return cursor.fetchone() is not None


def counts(query: Query) -> list[tuple[str, int]]:
    """(session id, messages that have the words) of every session that has one; phrases are not looked at."""
    if is_sqlite():
        asked = (
            f"SELECT p.session_id, SUM(h.n) FROM (SELECT rowid >> {SHIFT} AS part, COUNT(*) AS n FROM {TABLE} "  # noqa: S608
            f"WHERE {TABLE} MATCH %s GROUP BY 1) h JOIN {PARTS} p ON p.id = h.part AND p.live GROUP BY 1"
        )
    else:
        asked = (
            f"SELECT p.session_id, COUNT(*) FROM {TABLE} t JOIN {PARTS} p ON p.id = t.part_id AND p.live "  # noqa: S608
            "WHERE t.terms @@ %s::tsquery GROUP BY 1"
        )
    with connection.cursor() as cursor:
        cursor.execute(asked, [_expression(query)])
        return [(str(session), int(n)) for session, n in cursor.fetchall()]


def messages(query: Query, parts: Sequence[int], limit: int) -> list[tuple[int, int]]:
    """(part, message) of at most ``limit`` messages of the parts that have the words, phrases not looked at."""
    if not parts:
        return []
    with connection.cursor() as cursor:
        if not is_sqlite():
            cursor.execute(
                f"SELECT part_id, message FROM {TABLE} WHERE part_id = ANY(%s) AND terms @@ %s::tsquery "  # noqa: S608
                "ORDER BY part_id, message LIMIT %s",
                [list(parts), _expression(query), limit],
            )
            return [(int(part), int(message)) for part, message in cursor.fetchall()]
        low, high, wanted = min(parts) << SHIFT, (max(parts) + 1) << SHIFT, set(parts)
        cursor.execute(
            f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH %s AND rowid >= %s AND rowid < %s ORDER BY rowid",  # noqa: S608
            [_expression(query), low, high],
        )
        rows = ((row[0] >> SHIFT, row[0] & (MOST_MESSAGES - 1)) for row in cursor)
        return list(islice((row for row in rows if row[0] in wanted), limit))


def _expression(query: Query) -> str:
    """The words of a query in the database's own language; every term is quoted, so any text is one."""
    is_fts = is_sqlite()
    both, either = (" AND ", " OR ") if is_fts else (" & ", " | ")
    quote = _fts_term if is_fts else _ts_term
    words = [either.join(f"({both.join(map(quote, way))})" for way in word.ways) for word in query.words]
    return both.join(f"({word})" for word in words)


def _fts_term(term: Term) -> str:
    doubled = term.text.replace('"', '""')
    return f'"{doubled}"{" *" if term.is_start else ""}'


def _ts_term(term: Term) -> str:
    escaped = term.text.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'{':*' if term.is_start else ''}"


def orphans(limit: int) -> list[int]:
    """Numbers of parts that are indexed and of which no session knows any more."""
    if is_sqlite():
        after = f"SELECT id >> {SHIFT} FROM {TABLE}_docsize WHERE id >= (%s << {SHIFT}) ORDER BY id LIMIT 1"  # noqa: S608
    else:
        after = f"SELECT part_id FROM {TABLE} WHERE part_id >= %s ORDER BY part_id LIMIT 1"  # noqa: S608
    found: list[int] = []
    with connection.cursor() as cursor:
        cursor.execute(after, [0])
        while len(found) < limit and (row := cursor.fetchone()) is not None:
            part = row[0]
            cursor.execute(f"SELECT 1 FROM {PARTS} WHERE id = %s", [part])  # noqa: S608
            if cursor.fetchone() is None:
                found.append(part)
            cursor.execute(after, [part + 1])
    return found


def documents(parts: Sequence[int]) -> list[tuple[int, str]]:
    """(row id, terms) of what SQLite's index has of parts: read from the index itself, all of which is gone through."""
    gone = set(parts)
    low, high = min(gone) << SHIFT, (max(gone) + 1) << SHIFT
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{TABLE}_vocab USING fts5vocab(main, {TABLE}, instance)"
        )
        terms: dict[int, list[str]] = {}
        for part in gone:
            bounds = [part << SHIFT, (part + 1) << SHIFT]
            cursor.execute(f"SELECT id FROM {TABLE}_docsize WHERE id >= %s AND id < %s", bounds)  # noqa: S608
            terms |= {row[0]: [] for row in cursor.fetchall()}  # those without any term included
        cursor.execute(f"SELECT doc, term FROM temp.{TABLE}_vocab WHERE doc >= %s AND doc < %s", [low, high])  # noqa: S608
        for doc, term in cursor.fetchall():
            if doc in terms:
                terms[doc].append(term)
    return [(doc, " ".join(found)) for doc, found in terms.items()]


def remove_parts(parts: Sequence[int]) -> None:
    """Remove all terms of parts, in PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {TABLE} WHERE part_id = ANY(%s)", [list(parts)])  # noqa: S608


def remove(rows: Sequence[tuple[int, str]]) -> None:
    """Remove what ``documents`` found, from SQLite's index."""
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {TABLE} ({TABLE}, rowid, terms) VALUES ('delete', %s, %s)", rows)  # noqa: S608


def clear() -> None:
    statement = f"INSERT INTO {TABLE} ({TABLE}) VALUES ('delete-all')" if is_sqlite() else f"DELETE FROM {TABLE}"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(statement)
