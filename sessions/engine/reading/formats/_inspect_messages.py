"""Messages of Inspect logs as blocks; long texts and images live in ``attachments`` once (formats 14).

A message's origins are its own place, then one for each attachment it uses: the last step of that path is the hash.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._blocks import opaque, result_of, tool_use
from sessions.engine.reading.formats._chat_entries import ROLES, chat_parts
from sessions.engine.reading.formats._media_links import media_link
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind

PROTOCOL = "attachment://"


def is_message(value: Any) -> bool:
    """An object with a role that Inspect knows."""
    return isinstance(value, dict) and text_of(value.get("role")) in ROLES


def hashes_in(value: Any) -> list[str]:
    """Hashes of the attachments that ``value`` refers to, in order, each once."""
    return list(dict.fromkeys(_hashes(value)))


def resolved(value: Any, attachments: Record) -> Any:
    """``value`` with every reference to an attachment replaced by its text; unknown ones stay."""
    if isinstance(value, str):
        if not value.startswith(PROTOCOL):
            return value
        found = attachments.get(value.removeprefix(PROTOCOL))
        return found if isinstance(found, str) else value
    if isinstance(value, list):
        return [resolved(item, attachments) for item in value]
    if isinstance(value, dict):
        return {key: resolved(item, attachments) for key, item in value.items()}
    return value


def contents_of_message(message: Record) -> tuple[Content, ...]:
    """The blocks of a message whose attachments are resolved; a tool's message is one result.

    The provider is sent a failed tool's error in place of an empty content.
    """
    content = message.get("content")
    parts = tuple(_part(part) for part in content) if isinstance(content, list) else chat_parts(content)
    if message.get("role") == "tool":
        error = as_dict(message.get("error"))
        if not parts and text_of(error.get("message")):
            parts = chat_parts(error["message"])
        call_id, name = text_of(message.get("tool_call_id")), text_of(message.get("function"))
        return (result_of(parts, call_id, is_error=bool(error), name=name),)
    return (*parts, *(_call(call) for call in as_list(message.get("tool_calls"))))


def tool_definitions(tools: Any) -> tuple[Content, ...]:
    """Tools offered to the model, each as compact JSON under its name."""
    return tuple(
        Content(Kind.TEXT, text=dumps(tool), name=text_of(as_dict(tool).get("name"))) for tool in as_list(tools)
    )


def _hashes(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value.startswith(PROTOCOL):
            yield value.removeprefix(PROTOCOL)
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _hashes(item)


def _call(call: Any) -> Content:
    if not isinstance(call, dict):
        return Content(Kind.OPAQUE, text=dumps(call), name="tool_call")
    return tool_use(call.get("arguments"), call.get("function"), call.get("id"))


def _part(part: Any) -> Content:
    if not isinstance(part, dict):
        return block_of(part)
    kind = part.get("type")
    if kind == "reasoning":
        return _reasoning(part)
    if kind == "image" and text_of(part.get("image")):
        return media_link(part["image"], kind=Kind.IMAGE)
    if kind == "document" and text_of(part.get("document")):
        name = text_of(part.get("filename"))
        return media_link(part["document"], text_of(part.get("mime_type")), Kind.DOCUMENT, name)
    if kind == "tool_use":
        return opaque(part, "tool_use")
    return block_of(part)


def _reasoning(part: Record) -> Content:
    """Thinking; where it is redacted, the reasoning is an encrypted payload and the summary is the text."""
    text, signature = text_of(part.get("reasoning")), text_of(part.get("signature"))
    if part.get("redacted"):
        return Content(Kind.THINKING, text=text_of(part.get("summary")), payload=text + signature)
    return Content(Kind.THINKING, text=text, payload=signature)
