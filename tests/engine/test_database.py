"""SQLite files are read from a private copy: nothing of theirs runs, nothing is written, a log beside them counts."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.database import Database, is_database, snapshot
from sessions.engine.reading.jsonio import JsonProblem, Source
from sessions.engine.reading.reading import NotATranscript, read_transcripts
from sessions.engine.transcript.types import Origin

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "CREATE TABLE said (id TEXT PRIMARY KEY, parts TEXT)"
ROWS = [("a", '[{"text": "one"}]'), ("b", '[{"text": "two"}]')]


def made(path: Path, *more: str, log: bool = False) -> Path:
    """A database; with ``log`` its rows stand in the write-ahead log beside it, as while its agent runs."""
    writer = sqlite3.connect(path)
    if log:
        writer.execute("PRAGMA journal_mode = WAL").fetchall()
        writer.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
    for statement in (TABLE, *more):
        writer.execute(statement)
    writer.executemany("INSERT INTO said VALUES (?, ?)", ROWS)
    writer.commit()
    if not log:
        writer.close()
        return path
    copies = [(path.with_name(f"{path.name}{end}"), path.with_name(f"{path.name}{end}").read_bytes())
              for end in ("", "-wal")]  # fmt: skip
    writer.close()
    for place, data in copies:
        place.write_bytes(data)
    return path


def opened(path: Path) -> Database:
    return Database(io.BytesIO(path.read_bytes()))


def test_tables_columns_and_rows(tmp_path: Path) -> None:
    database = opened(made(tmp_path / "a.db"))
    assert database.tables == {"said": ("id", "parts")}
    assert [row["id"] for row in database.rows("SELECT id FROM said ORDER BY id")] == ["a", "b"]
    assert database.row("said", 2) == {"id": "b", "parts": ROWS[1][1]}
    assert database.row("said", 9) is None
    assert database.row("nothing", 1) is None


def test_an_origin_leads_into_a_row_and_the_json_in_it(tmp_path: Path) -> None:
    source = Source(io.BytesIO(made(tmp_path / "a.db").read_bytes()))
    assert source.head().tables == {"said": ("id", "parts")}
    assert source.read(Origin(1, 0, 0, ("said", 2, "parts", 0, "text"))) == "two"
    with pytest.raises(JsonProblem):
        source.read(Origin(1, 0, 0, ("said", 9, "parts")))


def test_what_only_the_log_holds_is_in_the_snapshot_and_the_original_stays_as_it_was(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", log=True)
    before = {place.name: place.read_bytes() for place in tmp_path.iterdir()}
    assert opened(path).tables == {}
    (tmp_path / "copies").mkdir()
    whole = snapshot(path, tmp_path / "copies")
    assert len(list(opened(whole).rows("SELECT * FROM said"))) == 2
    assert {place.name: place.read_bytes() for place in tmp_path.iterdir() if place.is_file()} == before


def test_views_and_virtual_tables_are_not_offered(tmp_path: Path) -> None:
    view = "CREATE VIEW shown AS SELECT upper(id) FROM said"
    virtual = "CREATE VIRTUAL TABLE found USING fts5(text)"
    assert not {"shown", "found"} & set(opened(made(tmp_path / "a.db", view, virtual)).tables)


@pytest.mark.parametrize("query", [
    "DELETE FROM said", "ATTACH 'x' AS y", "PRAGMA writable_schema = ON", "CREATE TABLE t (a)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
])  # fmt: skip
def test_only_plain_selects_run(tmp_path: Path, query: str) -> None:
    with pytest.raises(UnreadableInput, match="cannot be read"):
        list(opened(made(tmp_path / "a.db")).rows(query))


def test_a_query_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_DATABASE_ROUNDS", 2)
    monkeypatch.setattr(limits, "DATABASE_ROUND", 100)
    endless = "SELECT count(*) FROM said a, said b, said c, said d, said e, said f, said g, said h, said i, said j"
    with pytest.raises(UnreadableInput, match="interrupted"):
        list(opened(made(tmp_path / "a.db")).rows(endless))


def test_a_broken_database_says_so(tmp_path: Path) -> None:
    data = made(tmp_path / "a.db").read_bytes()
    assert is_database(data)
    for broken in (data[:40], data[:100] + b"\xff" * 4000, data[:16] + b"\0" * 84):
        with pytest.raises(UnreadableInput, match=r"a database that cannot be read|no known format"):
            read_transcripts(io.BytesIO(broken), "a.db")


def test_a_database_of_no_agent_names_its_tables(tmp_path: Path) -> None:
    with pytest.raises(NotATranscript, match="a database that no known format writes; its tables: said"):
        read_transcripts(io.BytesIO(made(tmp_path / "a.db").read_bytes()), "a.db")


def test_a_database_that_changes_while_it_is_copied_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "a.db")
    calls = iter(range(100))
    monkeypatch.setattr("sessions.engine.reading.database._stamps", lambda *_: [(next(calls), 0)])
    (tmp_path / "copies").mkdir()
    with pytest.raises(UnreadableInput, match="faster than it can be copied"):
        snapshot(path, tmp_path / "copies")


def test_a_text_that_is_not_utf8_does_not_stop_reading(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("INSERT INTO said VALUES ('c', CAST(x'ff41' AS TEXT))")
        writer.commit()
    assert opened(path).row("said", 3) == {"id": "c", "parts": "\ufffdA"}


def test_a_column_whose_name_is_no_text_is_a_broken_file(tmp_path: Path) -> None:
    data = made(tmp_path / "a.db").read_bytes().replace(b"parts TEXT", b"p\x82rts TEXT")
    with pytest.raises(UnreadableInput, match="cannot be read"):
        list(Database(io.BytesIO(data)).rows("SELECT * FROM said"))
