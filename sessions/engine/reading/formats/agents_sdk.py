"""Sessions of the OpenAI Agents SDK, as its SQLiteSession keeps them: rows of Responses items (formats 67)."""

from __future__ import annotations

from sessions.engine.reading.formats import YES, Coverage, Head, Measured, Records, Sniff, Source, each_value
from sessions.engine.reading.formats._exchanges import conversations_of, transcripts_of
from sessions.engine.reading.formats._items import item_contents
from sessions.engine.reading.formats._records import has_columns, inside, rows_of
from sessions.engine.reading.formats._responses import RESPONSES_WIRE
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import seconds, text_of
from sessions.engine.reading.formats._wire import Exchange, Part
from sessions.engine.transcript.types import Parsed, Skipped, Transcript

MESSAGES, DATA = "agent_messages", "message_data"


class _AgentsSDK:
    name = "agents_sdk"
    label = "OpenAI Agents SDK"
    source = "Sessions of the OpenAI Agents SDK: the database of SQLiteSession (SQLite)"
    coverage = Coverage(images=YES, compactions=YES, records=Records(compaction="item compaction", who="always auto"))

    def sniff(self, head: Head) -> Sniff | None:
        """The SDK's table of items."""
        if has_columns(head, MESSAGES, "session_id", DATA):
            return Sniff(95, f"a database with the table {MESSAGES} of the OpenAI Agents SDK")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session for each id; an item is a message."""
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

    contents = each_value(lambda value: item_contents(decoded(value)))


FORMAT = _AgentsSDK()
