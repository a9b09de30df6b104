"""Entries of a chat list, ``{role, content, tool_calls, …}``, as agents built on chat completions keep them."""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._blocks import blocks_of, media_link, opaque, result_of, tool_use
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Role

ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "tool": Role.USER,
    "function": Role.USER,
    "assistant": Role.ASSISTANT,
}


def is_entry(value: Any) -> bool:
    """An object with a role that chat completions know, and content or calls."""
    known = isinstance(value, dict) and text_of(value.get("role")) in ROLES
    return known and ("content" in value or isinstance(value.get("tool_calls"), list))


def contents_of_entry(entry: Record) -> tuple[Content, ...]:
    """Thinking, what is said or shown, calls; a tool's entry is one result."""
    said = chat_parts(entry.get("content"))
    call_ids = [text for text in as_list(entry.get("tool_call_ids")) if isinstance(text, str)]
    call_id = text_of(entry.get("tool_call_id")) or next(iter(call_ids), "")
    if entry.get("role") in ("tool", "function") or (call_id and entry.get("role") != "assistant"):
        return (result_of(said, call_id, is_error=bool(entry.get("is_error"))),)
    return (*_thinking(entry), *said, *(chat_call(call) for call in as_list(entry.get("tool_calls"))))


def chat_call(call: Any) -> Content:
    """A call with its arguments as they were written (a string) or as compact JSON."""
    if not isinstance(call, dict):
        return Content(Kind.OPAQUE, text=dumps(call), name="tool_call")
    function = as_dict(call.get("function")) or {"name": call.get("function"), "arguments": call.get("arguments")}
    arguments = function.get("arguments")
    return tool_use(arguments, text_of(function.get("name")) or call.get("name"), call.get("id"))


def chat_parts(content: Any) -> tuple[Content, ...]:
    """A string, or a list of text and image parts; what is neither is opaque."""
    return blocks_of(content, _part)


def _part(part: Any) -> Content:
    if isinstance(part, dict) and part.get("type") == "image_url":
        link = part.get("image_url")
        url = text_of(as_dict(link).get("url")) or text_of(link)
        return media_link(url, kind=Kind.IMAGE) if url else opaque(part)
    return block_of(part)


def _thinking(entry: Record) -> tuple[Content, ...]:
    blocks = as_list(entry.get("thinking_blocks"))
    plain = text_of(entry.get("reasoning_content"))
    if not blocks and plain:
        return (Content(Kind.THINKING, text=plain),)
    return tuple(block_of(block) for block in blocks)
