"""Hermes: its state.db, its exports, and the session files of older versions (formats 50).

A compaction ends a session and starts another that names it as its parent: the two are one conversation.  A session
that was compacted in place keeps the rows that left, marked so.  Usage stands for whole sessions only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, with_unique_ids
from sessions.engine.reading.formats._hermes_messages import (
    Entry,
    Lineage,
    hermes_contents,
    is_hermes_message,
    lineages,
)
from sessions.engine.reading.formats._preview import stem_of
from sessions.engine.reading.formats._records import first_records, inside, records
from sessions.engine.reading.formats._rows import has_columns, rows_of
from sessions.engine.reading.formats._trace_dialects import decoded
from sessions.engine.reading.formats._traces import tools_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Skipped

OWN_KEYS = ("session_start", "platform", "end_reason", "source", "parent_session_id")


class Hermes:
    """The format's entry in the registry."""

    name = "hermes"
    label = "Hermes"
    source = "Hermes Agent: ~/.hermes/state.db (SQLite), its exports (JSONL) and older session files (JSON)"
    coverage = Coverage(
        usage=PARTLY, images=YES, compactions=YES, subagents=YES,
        records=Records(compaction="a summary's prefix"),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """Its tables, or records of a session with its messages."""
        if has_columns(head, "sessions", "end_reason", "parent_session_id"):
            if has_columns(head, "messages", "session_id", "tool_calls", "finish_reason"):
                return Sniff(95, "a database with sessions that have an end_reason, and messages that have tool_calls")
            return Sniff(0, "a database with sessions that have an end_reason, but no messages")
        found = [record for record in first_records(head) if _is_record(record)]
        if found:
            return Sniff(94, f"{len(found)} records are a session with its messages, as Hermes keeps them")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The conversations: what a compaction cut in two is one."""
        skipped: list[Skipped] = []
        entries = list(_database(source) if source.database() else _records(source, skipped))
        if not entries:
            raise UnreadableInput("no sessions of Hermes", next_step="Check the file's format")
        found, chains = [], lineages(entries)
        whole = {entry.id: chain[0].id for chain in chains for entry in chain}
        for chain in chains:
            lineage = Lineage(Assembly(measure))
            for entry in chain:
                lineage.take(entry)
            facts = chain[0].record
            transcript = lineage.history.transcript(
                chain[0].id or stem_of(source.name),
                self.name,
                title=text_of(chain[-1].record.get("title")),
                model=text_of(chain[-1].record.get("model")),
                parent_id=whole.get(chain[0].parent, chain[0].parent),
                system=measure(_system(facts)),
            )
            found.append(transcript)
        return Parsed(self.name, with_unique_ids(t for t in found if t.messages), tuple(skipped))

    contents = each_value(hermes_contents)


def _is_record(record: Record) -> bool:
    messages = record.get("messages")
    if not isinstance(messages, list) or not any(is_hermes_message(message) for message in messages):
        return False
    named = isinstance(record.get("session_id"), str) or isinstance(record.get("id"), str)
    own = any(key in record for key in OWN_KEYS)
    return named and own and ("message_count" in record or "session_start" in record or "started_at" in record)


def _records(source: Source, skipped: list[Skipped]) -> Iterator[Entry]:
    for record, origin in records(source, skipped):
        if not _is_record(record):
            skipped.append(Skipped(origin.line, origin.offset, "a record that is no session"))
            continue
        found = []
        for position, said in enumerate(record["messages"]):
            if isinstance(said, dict):
                found.append((said, inside(origin, "messages", position)))
            else:
                skipped.append(Skipped(origin.line, origin.offset, f"message {position} is not an object"))
        yield Entry(record, partial(list, found))


def _database(source: Source) -> Iterator[Entry]:
    for row, _ in rows_of(source, "sessions", "ORDER BY started_at, rowid"):
        yield Entry(row, partial(_messages, source, row.get("id")))


def _messages(source: Source, session: Any) -> list[tuple[Record, Origin]]:
    return list(rows_of(source, "messages", "WHERE session_id = ? ORDER BY rowid", (session,)))


def _system(record: Record) -> tuple[Content, ...]:
    prompt = text_of(record.get("system_prompt"))
    tools = tools_of([as_dict(tool) for tool in as_list(decoded(record.get("tools")))])
    return ((Content(Kind.TEXT, text=prompt),) if prompt else ()) + tools


FORMAT = Hermes()
