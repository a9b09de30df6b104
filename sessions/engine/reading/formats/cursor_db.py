"""Cursor's own databases: conversations of the editor in state.vscdb, one chat of the agent in store.db (formats 49).

Only the keys of conversations are read: other tables of the file hold credentials.  What Cursor left out of the
context is not recorded.

A chat of the agent is a store of blobs, of which the newest root lists the messages (formats 49.1).  A root is a
protobuf message: field 1, repeated, names a message's blob by its 32 bytes, field 5 holds what Cursor counts of the
context.  A message's blob is JSON in the AI SDK's shape.  What else a root holds is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._ai_sdk_parts import parts_of
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt, result_of, text_blocks, title_of, tool_use
from sessions.engine.reading.formats._counts import exclusive_usage
from sessions.engine.reading.formats._records import has_columns, inside, rows_of
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.reading.formats.cursor import QUERY
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

BLOBS = "blobs"
ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.USER}
MESSAGES, CONTEXT = 1, 5
TABLE, COMPOSER, TOOL = "cursorDiskKV", "composerData:", "toolFormerData"
LATEST, THROUGH = "latestConversationSummary", "truncationLastBubbleIdInclusive"
"""The newest summary of a conversation, and the last message that it stands for."""
STORE = (BLOBS, "meta")
USER = (1, "user")
ITEMS, OLD_CHATS = "ItemTable", {
    "workbench.panel.aichat.view.aichat.chatdata": "tabs", "composer.composerData": "allComposers",
}  # fmt: skip
"""Where Cursor kept its chats before they had a table of their own: keys of a table that holds credentials, too."""
NO_CHATS = "a database of the editor without a chat of Cursor's"
RANGE = "WHERE key >= ? AND key < ? ORDER BY key"


Wire = tuple[int, int | bytes]
"""A field of a protobuf message: its number, and a whole number or bytes."""


def chat_of(source: Source, measure: Measured) -> Transcript:
    """The chat in the store; raises UnreadableInput where its root or its messages are not as they are known."""
    facts = _facts(source)
    database, query = source.database(), f"SELECT hex(data) AS data FROM {BLOBS} WHERE id = ?"  # noqa: S608
    # The rows of a database would give the bytes of a blob as text.
    rows = database.rows(query, (text_of(facts.get("latestRootBlobId")),)) if database else iter(())
    root = wires(bytes.fromhex(text_of(next(rows, {}).get("data"))))
    names = [value.hex() for number, value in root if number == MESSAGES and isinstance(value, bytes)]
    reading, n_missing = Assembly(measure), 0
    for name in names:
        found = next(rows_of(source, BLOBS, "WHERE id = ?", (name,)), None)
        value = as_dict(decoded(found[0].get("data"))) if found else {}
        if found is None or text_of(value.get("role")) not in ROLES:
            n_missing += 1
            continue
        role, place = ROLES[value["role"]], inside(found[1], "data")
        contents = parts_of(value.get("content"), role)
        if role is Role.ASSISTANT:
            reading.reply(contents, (place,))
        elif contents:
            words = "\n".join(content.text for content in contents if content.kind is Kind.TEXT)
            query = match[1] if (match := QUERY.search(words)) else ""
            said = is_prompt(contents) and (bool(query) or "<user_info>" not in words)
            reading.add(role, contents, (place,), typed=role is Role.USER and said)
            reading.title = reading.title or title_of(query)
    if not reading.messages:
        title, model = text_of(facts.get("name")) or "without a name", text_of(facts.get("lastUsedModel")) or "unknown"
        held = f"{len(names):,} blobs, none of them a message in JSON" if names else "no message"
        store = f"the store of a Cursor chat ({title}, model {model}) in a form that is not known"
        next_step = "Use the chat's transcript under ~/.cursor/projects, or state.vscdb"
        raise UnreadableInput(f"{store}: its newest root names {held}", next_step=next_step)
    reading.note(n_missing, f"Messages of the chat that its store does not hold in a known form: {n_missing:,}")
    used, window = context_of(root)
    reading.note(used, f"Cursor's own count of its context at the end: {used:,} tokens")
    return reading.transcript(
        text_of(facts.get("agentId")), title=text_of(facts.get("name")) or reading.title, window=window or None,
        model=text_of(facts.get("lastUsedModel")), started_at=seconds(facts.get("createdAt")),
    )  # fmt: skip


def wires(data: bytes) -> list[Wire]:
    """The fields of a protobuf message, () where ``data`` is none."""
    try:
        return list(_wires(data))
    except IndexError:
        return []


def context_of(root: list[Wire]) -> tuple[int, int]:
    """Tokens of the context and the window as Cursor states them; zeros where the parts do not make the sum."""
    for field, content in root:
        held = wires(content) if field == CONTEXT and isinstance(content, bytes) else []
        stated = {number: value for number, value in held if isinstance(value, int)}
        parts = [wires(value) for number, value in held if number == 3 and isinstance(value, bytes)]
        n_tokens = sum(value for part in parts for number, value in part if number == 3 and isinstance(value, int))
        if n_tokens and stated.get(1) == n_tokens:
            return n_tokens, stated.get(2, 0)
    return 0, 0


def _wires(data: bytes) -> Iterator[Wire]:
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _number(data, at)
            yield key >> 3, value
        elif kind == 2:
            length, at = _number(data, at)
            if at + length > len(data):
                raise IndexError
            yield key >> 3, data[at : at + length]
            at += length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise IndexError


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A varint and where it ends; raises IndexError where the data ends first or it is longer than 64 bits."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise IndexError


def _facts(source: Source) -> Record:
    """What the store says of its chat: JSON in hexadecimal digits."""
    for row, _ in rows_of(source, "meta", "LIMIT 1"):
        try:
            return as_dict(decoded(bytes.fromhex(text_of(row.get("value"))).decode("utf-8", errors="replace")))
        except ValueError:
            break
    return {}


class _Format(Format):
    label = "Cursor database"
    source = "Cursor's state.vscdb, Cursor/User/globalStorage, and store.db, ~/.cursor/chats (SQLite)"
    coverage = Coverage(
        usage=PARTLY, compactions=YES, subagents=YES,
        window="contextTokenLimit", compaction="latestConversationSummary", model="modelInfo, modelConfig",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
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
            return Parsed((chat_of(source, measure),))
        found = [_Composer(source, value, origin, measure) for value, origin in _composers(source)]
        homes = {child: composer.id for composer in found for child in composer.children}
        transcripts = [composer.transcript(homes.get(composer.id, "")) for composer in found]
        if not any(transcript.messages for transcript in transcripts):
            raise UnreadableInput(NO_CHATS, next_step="Read the state.vscdb of Cursor/User/globalStorage")
        return read_as(transcripts)

    contents = each_place(lambda value, origin, message: _contents(value, origin, message.role))


def _contents(held: Any, origin: Origin, role: Role) -> tuple[Content, ...]:
    """The blocks of a blob's message, of a bubble, a summary, or the result that its call got."""
    if origin.path[-1:] == ("summary",):
        return parts_of(held, role)
    value = as_dict(decoded(held))
    if origin.path[:1] == (BLOBS,):
        return parts_of(value.get("content"), role)
    return (_result(value),) if origin.path[-1:] == (TOOL,) else _bubble(value)


def _composers(source: Source) -> Iterator[tuple[Record, Origin]]:
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
            source.skip(f"the conversation {row['key']} is no object")


class _Composer:
    """One conversation in the making."""

    def __init__(self, source: Source, value: Record, origin: Origin, measure: Measured) -> None:
        self.value, self.history = value, Assembly(measure)
        self.id = text_of(value.get("composerId")) or text_of(value.get("tabId"))
        self.children = [child for child in as_list(value.get("subagentComposerIds")) if isinstance(child, str)]
        self.until, self.compacted = dict[str, int](), ""
        latest = as_dict(value.get(LATEST))
        summed = as_dict(latest.get("summary"))
        bubbles = [(text_of(b.get("bubbleId") or b.get("id")), b, at) for b, at in self._bubbles(source, origin)]
        marks = text_of(latest.get("lastBubbleId")), text_of(summed.get(THROUGH))
        last = next((mark for mark in marks if any(native == mark for native, _, _ in bubbles)), "")
        for native, bubble, place in bubbles:
            self._add(bubble, place)
            self.until[native] = len(self.history.messages)
            if own := as_dict(decoded(bubble.get("conversationSummary"))):
                self._summarized(own, inside(place, "conversationSummary"))
            elif native and native == last:
                self._summarized(summed, inside(origin, LATEST, "summary"))

    def _bubbles(self, source: Source, origin: Origin) -> Iterator[tuple[Record, Origin]]:
        """The messages in order: rows of their own, or within the conversation as older versions have them."""
        prefix = f"bubbleId:{self.id}:"
        headers = as_list(self.value.get("fullConversationHeadersOnly"))
        rows = rows_of(source, TABLE, RANGE, (prefix, prefix[:-1] + ";")) if headers else ()
        kept = {
            text_of(row["key"]).removeprefix(prefix): (as_dict(decoded(row.get("value"))), inside(place, "value"))
            for row, place in rows
        }
        found = [kept.get(text_of(as_dict(header).get("bubbleId"))) for header in headers]
        yield from filter(None, found)
        self.history.note(None in found, f"Messages that Cursor no longer keeps: {found.count(None):,}")
        for key in ("conversation", "bubbles"):
            for position, bubble in enumerate(as_list(self.value.get(key))):
                yield as_dict(bubble), inside(origin, key, position)

    def _add(self, bubble: Record, origin: Origin) -> None:
        if not (contents := _bubble(bubble)):
            return
        native = text_of(bubble.get("bubbleId") or bubble.get("id"))
        facts: dict[str, Any] = {"id": native, "timestamp": seconds(bubble.get("createdAt"))}
        if bubble.get("type") in USER:
            self.history.add(Role.USER, contents, (origin,), **facts)
            return
        counts = as_dict(bubble.get("tokenCount"))
        usage = exclusive_usage(count_of(counts.get("inputTokens")), count_of(counts.get("outputTokens")))
        named = text_of(as_dict(bubble.get("modelInfo")).get("modelName")) or text_of(bubble.get("modelType"))
        named = named or text_of(as_dict(self.value.get("modelConfig")).get("modelName"))
        model = "" if named == "default" else named
        index = self.history.reply(contents, (origin,), model=model, **facts)
        if usage and usage.context and self.history.requests[-1].usage is None:
            self.history.requests[-1] = replace(self.history.requests[-1], usage=usage)
        tool = as_dict(bubble.get(TOOL))
        if tool.get("result") is not None:
            native = f"{self.history.messages[index].id}.result"
            self.history.add(Role.USER, (_result(tool),), (inside(origin, TOOL),), id=native, typed=False)

    def _summarized(self, summed: Record, place: Origin) -> None:
        """A compaction: what came up to a bubble that the summary names left the context."""
        until, text = self.until.get(text_of(summed.get(THROUGH)), 0), text_of(summed.get("summary"))
        if not until or not text or self.compacted == text:
            return
        self.compacted = text
        compaction = self.history.forget(range(until))
        self.history.summary(parts_of(text, Role.USER), (inside(place, "summary"),), compaction)

    def transcript(self, parent: str) -> Transcript:
        """The session; Cursor's own count of its context is told, it is no measured one."""
        used, limit = (count_of(self.value.get(key)) for key in ("contextTokensUsed", "contextTokenLimit"))
        self.history.note(used, f"Cursor's own count of its context at the end: {used:,} tokens")
        summed_up = "Cursor keeps a summary of this conversation; when it compacted is not recorded"
        self.history.note(self.value.get(LATEST) and not self.compacted, summed_up)
        return self.history.transcript(
            self.id,
            title=text_of(self.value.get("name") or self.value.get("chatTitle")),
            window=limit or None,
            parent_id=parent,
        )


def _bubble(bubble: Record) -> tuple[Content, ...]:
    """Thinking, text, and the call of a tool."""
    thoughts = [as_dict(thought).get("text") for thought in as_list(bubble.get("allThinkingBlocks"))]
    thoughts = thoughts or [as_dict(bubble.get("thinking")).get("text")]
    found = [Content(Kind.THINKING, text=text) for text in thoughts if isinstance(text, str) and text]
    tool = as_dict(bubble.get(TOOL))
    found += text_blocks(text_of(bubble.get("text")))
    if tool.get("name"):
        arguments = tool["rawArgs"] if tool.get("rawArgs") else tool.get("params")
        found.append(tool_use(arguments, tool.get("name"), tool.get("toolCallId")))
    return tuple(found)


def _result(tool: Record) -> Content:
    result = tool.get("result")
    text = result if isinstance(result, str) else dumps(result)
    failed = tool.get("status") in ("error", "cancelled", "rejected")
    return result_of((Content(Kind.TEXT, text=text),), tool.get("toolCallId"), is_error=failed)
