"""Crush's database: sessions and their messages, parts as JSON in a cell (formats 48).

The context starts at the newest summary, which the model reads as the user's.  Usage of single calls is not recorded.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import media_link, opaque, result_of, text_blocks, tool_use
from sessions.engine.reading.formats._records import has_columns, inside, rows_of
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import (
    ROLES,
    Record,
    as_dict,
    as_list,
    count_of,
    dollars_of,
    seconds,
    text_of,
)
from sessions.engine.transcript.recorded_events import OWN_COUNT
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

LEAST_ANSWERS = 3
"""Answers without any tokens counted from which that is told."""
ORDER = "WHERE session_id = ? ORDER BY created_at, rowid"


def _contents(parts: Any) -> tuple[Content, ...]:
    held = [as_dict(part) for part in as_list(decoded(parts))]
    found = [_part(part) for part in held if part and part.get("type") != "finish"]
    return tuple(content for content in found if content.kind is not Kind.TEXT or content.text)


def _part(part: Record) -> Content:
    reader, said = _READERS.get(text_of(part.get("type"))), as_dict(part.get("data"))
    return reader(said) if reader and said else opaque(part)


class _Format(Format):
    label = "Crush"
    source = "Crush's database, .crush/crush.db (SQLite)"
    coverage = Coverage(
        usage=PARTLY, images=YES, compactions=YES, refusals=YES, subagents=YES,
        error="part finish with reason error", compaction="summary_message_id", model="messages.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if not has_columns(head, "messages", "session_id", "parts", "role"):
            return None
        if has_columns(head, "sessions", "prompt_tokens", "completion_tokens"):
            return Sniff(95, "a database with sessions that have prompt_tokens, and messages that have parts")
        return Sniff(0, "a database with messages that have parts, but no sessions with prompt_tokens")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """Every session that has messages, with what it was started from."""
        found = [_session(source, row, measure) for row, _ in rows_of(source, "sessions", "ORDER BY created_at, rowid")]
        return Parsed(tuple(transcript for transcript in found if transcript.messages))

    contents = each_value(_contents)


def _session(source: Source, row: Record, measure: Measured) -> Transcript:
    history = Assembly(measure)
    native, newest = text_of(row.get("id")), text_of(row.get("summary_message_id"))
    for message, origin in rows_of(source, "messages", ORDER, (native,)):
        _add(history, message, inside(origin, "parts"), newest)
    sent, made = count_of(row.get("prompt_tokens")), count_of(row.get("completion_tokens"))
    unread = ": its meter stands at 0, and its summary starts by nothing else" if not sent else ""
    counted = sent or sum(not request.aborted for request in history.requests) >= LEAST_ANSWERS
    history.note(counted, f"Crush's {OWN_COUNT}: {sent:,} tokens sent, {made:,} received{unread}")
    history.spent = dollars_of(row.get("cost"))
    parent = text_of(row.get("parent_session_id"))
    return history.transcript(native, title=text_of(row.get("title")), parent_id=parent)


def _add(history: Assembly, row: Record, origin: Origin, newest: str) -> None:
    native, parts = text_of(row.get("id")), as_list(decoded(row.get("parts")))
    contents = _contents(parts)
    facts: dict[str, Any] = {"id": native, "timestamp": seconds(row.get("created_at"))}
    for part in parts:
        said = as_dict(as_dict(part).get("data"))
        if said.get("reason") == "error":
            history.fail({key: said.get(key) for key in ("message", "details")})
    if not contents:
        return
    if count_of(row.get("is_summary_message")) or native == newest != "":
        history.summary(contents, (origin,), history.forget(range(len(history.messages))), **facts)
        return
    role = ROLES.get(text_of(row.get("role")), Role.USER)
    history.say(role, contents, (origin,), {"response_id": native, "model": text_of(row.get("model"))}, **facts)


def _reasoning(said: Record) -> Content:
    encrypted = text_of(as_dict(said.get("responses_data")).get("encrypted_content"))
    signature = text_of(said.get("signature")) or text_of(said.get("thought_signature")) or encrypted
    return Content(Kind.THINKING, text=text_of(said.get("thinking")), payload=signature)


def _result(said: Record) -> Content:
    text, data, media_type = (text_of(said.get(key)) for key in ("content", "data", "mime_type"))
    kind = Kind.IMAGE if media_type.startswith("image/") else Kind.DOCUMENT
    shown = (Content(kind, media_type=media_type, data=data),) if data else ()
    return result_of(text_blocks(text) + shown, said.get("tool_call_id"), is_error=said.get("is_error") is True)


def _binary(said: Record) -> Content:
    """A picture or a document; what is text was sent as text."""
    media_type, data, name = (text_of(said.get(key)) for key in ("MIMEType", "Data", "Path"))
    if media_type.startswith("text/"):
        try:
            return Content(Kind.TEXT, text=base64.b64decode(data).decode("utf-8", errors="replace"), name=name)
        except (binascii.Error, ValueError):
            return opaque(said, "binary")
    kind = Kind.IMAGE if media_type.startswith("image/") else Kind.DOCUMENT
    return Content(kind, media_type=media_type, data=data, name=name)


def _shell(said: Record) -> Content:
    command, printed, code = text_of(said.get("command")), text_of(said.get("output")), count_of(said.get("exit_code"))
    return Content(Kind.TEXT, text=f"$ {command}\n{printed}\n(exit code {code})")


_READERS: dict[str, Callable[[Record], Content]] = {
    "text": lambda said: Content(Kind.TEXT, text=text_of(said.get("text"))),
    "reasoning": _reasoning,
    "image_url": lambda said: media_link(text_of(said.get("url")), kind=Kind.IMAGE),
    "binary": _binary,
    "tool_call": lambda said: tool_use(said.get("input"), said.get("name"), said.get("id")),
    "tool_result": _result,
    "shell_command": _shell,
}
