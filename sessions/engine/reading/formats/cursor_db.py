"""Cursor's own databases: conversations of the editor in state.vscdb, one chat of the agent in store.db (formats 49).

Only the keys of conversations are read: other tables of the file hold credentials.  What Cursor left out of the
context is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Head, Measured, Records, Sniff, Source
from sessions.engine.reading.formats._assembly import Assembly, with_unique_ids
from sessions.engine.reading.formats._blocks import result_of, tool_use
from sessions.engine.reading.formats._counts import count_of, exclusive_usage
from sessions.engine.reading.formats._cursor_store import BLOBS, chat_of, message_contents
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._rows import has_columns, rows_of
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._trace_dialects import decoded
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Parsed, Role, Skipped, Transcript

TABLE, COMPOSER, TOOL = "cursorDiskKV", "composerData:", "toolFormerData"
STORE = (BLOBS, "meta")
USER = (1, "user")
ITEMS, OLD_CHATS = "ItemTable", {
    "workbench.panel.aichat.view.aichat.chatdata": "tabs", "composer.composerData": "allComposers",
}  # fmt: skip
"""Where Cursor kept its chats before they had a table of their own: keys of a table that holds credentials, too."""
NO_CHATS = "a database of the editor without a chat of Cursor's"
RANGE = "WHERE key >= ? AND key < ? ORDER BY key"


class CursorDatabase:
    """The format's entry in the registry."""

    name = "cursor_db"
    label = "Cursor database"
    source = "Cursor's state.vscdb, Cursor/User/globalStorage, and store.db, ~/.cursor/chats (SQLite)"
    coverage = Coverage(
        usage=PARTLY, subagents=YES,
        records=Records(window="contextTokenLimit", model="modelInfo, modelConfig"),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """Cursor's table of keys and values, or the store of one chat."""
        if has_columns(head, TABLE, "key", "value"):
            return Sniff(95, f"a database with Cursor's table {TABLE}")
        if has_columns(head, ITEMS, "key", "value"):
            return Sniff(40, f"a database with {ITEMS}, where Cursor kept its chats until 2024")
        if set(head.tables) == set(STORE) and has_columns(head, BLOBS, "id", "data"):
            return Sniff(90, "a chat's store of Cursor: a database of blobs and meta")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """Every conversation that has messages; those that one started name it as their parent."""
        database = source.database()
        if database is not None and set(STORE) <= set(database.tables):
            return Parsed(self.name, (chat_of(source, measure, self.name),))
        skipped: list[Skipped] = []
        found = [_Composer(source, value, origin, measure) for value, origin in _composers(source, skipped)]
        homes = {child: composer.id for composer in found for child in composer.children}
        transcripts = [composer.transcript(homes.get(composer.id, "")) for composer in found]
        kept = tuple(transcript for transcript in transcripts if transcript.messages)
        if not kept:
            raise UnreadableInput(NO_CHATS, next_step="Read the state.vscdb of Cursor/User/globalStorage")
        return Parsed(self.name, with_unique_ids(kept), tuple(skipped))

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of a bubble, or the result that its call got."""
        found: list[Content] = []
        for value, origin in zip(values, message.origins, strict=True):
            held = as_dict(decoded(value))
            if origin.path[:1] == (BLOBS,):
                found += message_contents(held, message.role)
                continue
            found += (_result(held),) if origin.path[-1:] == (TOOL,) else _bubble(held)
        return tuple(found)


def _composers(source: Source, skipped: list[Skipped]) -> Iterator[tuple[Record, Origin]]:
    database = source.database()
    tables = database.tables if database is not None else ()
    for key, many in OLD_CHATS.items() if ITEMS in tables else ():
        for row, origin in rows_of(source, ITEMS, "WHERE key = ?", (key,)):
            for position, chat in enumerate(as_list(as_dict(decoded(row.get("value"))).get(many))):
                yield as_dict(chat), inside(origin, "value", many, position)
    for row, origin in rows_of(source, TABLE, RANGE, (COMPOSER, COMPOSER[:-1] + ";")) if TABLE in tables else ():
        value = decoded(row.get("value"))
        if isinstance(value, dict):
            yield {"composerId": text_of(row["key"]).removeprefix(COMPOSER), **value}, inside(origin, "value")
        elif value is not None:
            skipped.append(Skipped(1, 0, f"the conversation {row['key']} is no object"))


class _Composer:
    """One conversation in the making."""

    def __init__(self, source: Source, value: Record, origin: Origin, measure: Measured) -> None:
        self.value, self.history = value, Assembly(measure)
        self.id = text_of(value.get("composerId")) or text_of(value.get("tabId"))
        self.children = [child for child in as_list(value.get("subagentComposerIds")) if isinstance(child, str)]
        for bubble, place in self._bubbles(source, origin):
            self._add(bubble, place)

    def _bubbles(self, source: Source, origin: Origin) -> Iterator[tuple[Record, Origin]]:
        """The messages in order: rows of their own, or within the conversation as older versions have them."""
        prefix = f"bubbleId:{self.id}:"
        headers = as_list(self.value.get("fullConversationHeadersOnly"))
        rows = rows_of(source, TABLE, RANGE, (prefix, prefix[:-1] + ";")) if headers else ()
        kept = {
            text_of(row["key"]).removeprefix(prefix): (as_dict(decoded(row.get("value"))), inside(place, "value"))
            for row, place in rows
        }
        n_missing = 0
        for header in headers:
            found = kept.get(text_of(as_dict(header).get("bubbleId")))
            n_missing += found is None
            if found is not None:
                yield found
        if n_missing:
            self.history.warnings.append(f"Messages that Cursor no longer keeps: {n_missing:,}")
        for key in ("conversation", "bubbles"):
            for position, bubble in enumerate(as_list(self.value.get(key))):
                yield as_dict(bubble), inside(origin, key, position)

    def _add(self, bubble: Record, origin: Origin) -> None:
        contents = _bubble(bubble)
        facts: dict[str, Any] = {
            "id": text_of(bubble.get("bubbleId") or bubble.get("id")),
            "timestamp": seconds(bubble.get("createdAt")),
        }
        if not contents:
            return
        if bubble.get("type") in USER:
            self.history.add(Role.USER, contents, (origin,), **facts)
            return
        counts = as_dict(bubble.get("tokenCount"))
        usage = exclusive_usage(count_of(counts.get("inputTokens")), count_of(counts.get("outputTokens")))
        index = self.history.reply(contents, (origin,), model=self._model(bubble), **facts)
        if usage and usage.context and self.history.requests[-1].usage is None:
            self.history.requests[-1] = replace(self.history.requests[-1], usage=usage)
        tool = as_dict(bubble.get(TOOL))
        if tool.get("result") is not None:
            native = f"{self.history.messages[index].id}.result"
            self.history.add(Role.USER, (_result(tool),), (inside(origin, TOOL),), id=native, typed=False)

    def _model(self, bubble: Record) -> str:
        named = text_of(as_dict(bubble.get("modelInfo")).get("modelName"))
        named = named or text_of(bubble.get("modelType"))
        named = named or text_of(as_dict(self.value.get("modelConfig")).get("modelName"))
        return "" if named == "default" else named

    def transcript(self, parent: str) -> Transcript:
        """The session; Cursor's own count of its context is told, it is no measured one."""
        used, limit = (count_of(self.value.get(key)) for key in ("contextTokensUsed", "contextTokenLimit"))
        if used:
            self.history.warnings.append(f"Cursor's own count of its context at the end: {used:,} tokens")
        if self.value.get("latestConversationSummary"):
            self.history.warnings.append(
                "Cursor keeps a summary of this conversation; when it compacted is not recorded"
            )
        return self.history.transcript(
            self.id,
            CursorDatabase.name,
            title=text_of(self.value.get("name") or self.value.get("chatTitle")),
            window=limit or None,
            parent_id=parent,
        )


def _bubble(bubble: Record) -> tuple[Content, ...]:
    """Thinking, text, and the call of a tool."""
    thoughts = [as_dict(thought).get("text") for thought in as_list(bubble.get("allThinkingBlocks"))]
    thoughts = thoughts or [as_dict(bubble.get("thinking")).get("text")]
    found = [Content(Kind.THINKING, text=text) for text in thoughts if isinstance(text, str) and text]
    text, tool = text_of(bubble.get("text")), as_dict(bubble.get(TOOL))
    found += [Content(Kind.TEXT, text=text)] if text else []
    if tool.get("name"):
        arguments = tool["rawArgs"] if tool.get("rawArgs") else tool.get("params")
        found.append(tool_use(arguments, tool.get("name"), _call_id(tool)))
    return tuple(found)


def _result(tool: Record) -> Content:
    result = tool.get("result")
    text = result if isinstance(result, str) else dumps(result)
    failed = tool.get("status") in ("error", "cancelled", "rejected")
    return result_of((Content(Kind.TEXT, text=text),), _call_id(tool), is_error=failed)


def _call_id(tool: Record) -> str:
    return text_of(tool.get("toolCallId"))


FORMAT = CursorDatabase()
