"""Records of a Kimi Code wire file to ``Content`` (formats 40)."""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats._blocks import blocks_of, opaque, result_of, tool_use
from sessions.engine.reading.formats._chat_blocks import call_of
from sessions.engine.reading.formats._media_links import media_link
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind


def kimi_contents(record: Any) -> tuple[Content, ...]:
    """The blocks that one line puts into the context."""
    if not isinstance(record, dict):
        return blocks_of(record, _part)
    kind = record.get("type")
    if kind == "context.append_message":
        return _message(as_dict(record.get("message")))
    if kind == "context.append_loop_event":
        return _event(as_dict(record.get("event")))
    if kind == "context.apply_compaction":
        return (Content(Kind.TEXT, text=summary_of(record)),)
    return (opaque(record),)


def summary_of(record: Record) -> str:
    """What stands in the context after a compaction: ``contextSummary``, older files have ``summary`` alone."""
    found = text_of(record.get("contextSummary")) or text_of(record.get("summary"))
    parts = as_list(as_dict(record.get("summary")).get("content"))
    return found or "\n".join(text_of(as_dict(part).get("text")) for part in parts)


def _message(message: Record) -> tuple[Content, ...]:
    said = blocks_of(message.get("content"), _part)
    if message.get("role") == "tool":
        return (result_of(said, message.get("toolCallId"), is_error=message.get("isError") is True),)
    return (*said, *(call_of(call) for call in as_list(message.get("toolCalls"))))


def _event(event: Record) -> tuple[Content, ...]:
    kind = event.get("type")
    if kind == "content.part":
        return (_part(event.get("part")),)
    if kind == "tool.call":
        return (tool_use(event.get("args"), event.get("name"), event.get("toolCallId")),)
    if kind == "tool.result":
        result = as_dict(event.get("result"))
        said = (*blocks_of(result.get("output"), _part), *blocks_of(text_of(result.get("note")), _part))
        return (result_of(said, event.get("toolCallId"), is_error=result.get("isError") is True),)
    return (opaque(event),)


def _part(part: Any) -> Content:
    if isinstance(part, str):
        return Content(Kind.TEXT, text=part)
    if not isinstance(part, dict):
        return Content(Kind.OPAQUE, text=dumps(part))
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        return Content(Kind.TEXT, text=part["text"])
    if kind == "think" and isinstance(part.get("think"), str):
        return Content(Kind.THINKING, text=part["think"], payload=text_of(part.get("encrypted")))
    url = text_of(as_dict(part.get("imageUrl") or part.get("image_url")).get("url"))
    return media_link(url, kind=Kind.IMAGE) if kind == "image_url" and url else opaque(part)
