"""Sessions of the OpenAI Agents SDK: rows of items in SQLiteSession's database, and its traces (formats 67)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Head, Measured, Records, Sniff, Source, all_values
from sessions.engine.reading.formats._agents_sdk_spans import CALLS, is_span, span_contents, spans_in, traces_of
from sessions.engine.reading.formats._exchanges import conversations_of, transcripts_of
from sessions.engine.reading.formats._items import item_contents
from sessions.engine.reading.formats._records import first_records, has_columns, inside, rows_of
from sessions.engine.reading.formats._traces import decoded, read_again
from sessions.engine.reading.formats._values import seconds, text_of
from sessions.engine.reading.formats._wire import Exchange, Part
from sessions.engine.reading.formats.openai_responses import RESPONSES_WIRE
from sessions.engine.transcript.types import Content, Message, Parsed, Skipped, Transcript

MESSAGES, DATA = "agent_messages", "message_data"


def _contents(values: Sequence[Any], message: Message) -> tuple[Content, ...]:
    """The blocks of a row's item, of a span that holds no messages, or of a message in a span."""
    if message.origins[0].path[:1] == (MESSAGES,):
        return tuple(content for value in values for content in item_contents(decoded(value)))
    if all(map(is_span, values)):
        return tuple(content for value in values for content in span_contents(value, message.role))
    return read_again(values, message)


class _AgentsSDK:
    name = "agents_sdk"
    label = "OpenAI Agents SDK"
    source = "OpenAI Agents SDK: the database of SQLiteSession (SQLite), traces as they are exported (JSON or JSONL)"
    coverage = Coverage(
        usage=PARTLY, images=YES, compactions=YES, refusals=YES, subagents=PARTLY,
        records=Records(
            error="span's error", compaction="item compaction", who="always auto", model="span_data.model",
            end="agent span's error",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """The SDK's table of items, or spans of its traces; in lines a model call may follow."""
        if has_columns(head, MESSAGES, "session_id", DATA):
            return Sniff(95, f"a database with the table {MESSAGES} of the OpenAI Agents SDK")
        kinds = [span["span_data"].get("type") for record in first_records(head) for span, _ in spans_in(record)]
        if any(kind in CALLS for kind in kinds) or (kinds and head.document is None):
            return Sniff(95, f"{len(kinds)} spans of the OpenAI Agents SDK")
        return Sniff(0, "spans of the OpenAI Agents SDK, but none is a model call") if kinds else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session for each id of a database, whose items are messages, or for each conversation that was traced."""
        if source.database() is None:
            return traces_of(source, measure, self.name)
        parts: dict[str, list[Part]] = {}
        skipped: list[Skipped] = []
        for row, origin in rows_of(source, MESSAGES, "ORDER BY id"):
            value = decoded(row.get(DATA))
            if isinstance(value, dict):
                part = Part(value, inside(origin, DATA), seconds(row.get("created_at")))
                parts.setdefault(text_of(row.get("session_id")), []).append(part)
            else:
                skipped.append(Skipped(1, 0, f"row {row.get('id')} holds no item"))
        found: list[Transcript] = []
        for native, items in parts.items():
            conversations = conversations_of([Exchange(items, is_log=True)], RESPONSES_WIRE, measure)
            found += transcripts_of(conversations, self.name, native, measure)
        return Parsed(self.name, tuple(found), tuple(skipped))

    contents = all_values(_contents)


FORMAT = _AgentsSDK()
