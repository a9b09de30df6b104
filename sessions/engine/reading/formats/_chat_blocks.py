"""Blocks of chat messages as exports, traces and captures write them, whatever their dialect, to ``Content``.

Knows Messages API blocks, Chat Completions and Responses parts, OpenTelemetry GenAI parts and LangChain's tool calls
(formats 4, 5, 16, 19, 20).  Anything else is opaque with its JSON.  Entries, ``{role, content, tool_calls, …}``, are as
agents built on chat completions keep them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._blocks import blocks_of, media_link, opaque, result_of, text_blocks, tool_use
from sessions.engine.reading.formats._values import Record, as_dict, as_list, first_text, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Role

SPEAKERS = {
    **dict.fromkeys(("assistant", "model", "ai"), Role.ASSISTANT),
    **dict.fromkeys(("system", "developer"), Role.SYSTEM),
    **dict.fromkeys(("user", "human", "tool", "function"), Role.USER),
}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
ROLES = {name: role for name, role in SPEAKERS.items() if name not in ("model", "ai", "human")}


def role_of(message: Any) -> Role:
    """Who a chat message is from; an unknown role is a user's."""
    return SPEAKERS.get(text_of(message.get("role")), Role.USER) if isinstance(message, dict) else Role.USER


def is_result(message: Any) -> bool:
    """Whether a whole message answers a tool call."""
    return isinstance(message, dict) and text_of(message.get("role")) in ("tool", "function")


def plain_keys(record: Record) -> dict[str, Any]:
    """The same with ``toolCalls`` as ``tool_calls``."""
    return {plain_key(key): value for key, value in record.items()}


def plain_key(key: str) -> str:
    """A key in small letters with underscores."""
    return _HUMP.sub("_", key).lower()


def chat_contents(message: Any, part: Callable[[Any], Content] | None = None) -> tuple[Content, ...]:
    """The blocks of one chat message: reasoning, content or parts, tool calls; a tool's message is its result.

    ``part`` reads one part of its content where a format has parts of its own.
    """
    if not isinstance(message, dict):
        return blocks_of(message, part or part_of)
    thought = text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))
    found = [block_of(block) for block in as_list(message.get("thinking_blocks"))]
    found = found or [*text_blocks(thought, Kind.THINKING)]
    held = message["parts"] if isinstance(message.get("parts"), list) else message.get("content")
    said = blocks_of(held, part or part_of)
    call_ids = (message.get("tool_call_id"), *as_list(message.get("tool_call_ids")))
    call_id = next(filter(None, map(text_of, call_ids)), "")
    answers = is_result(message) or (call_id and message.get("role") != "assistant")
    if answers and not any(content.kind is Kind.TOOL_RESULT for content in said):
        is_error = message.get("status") == "error" or bool(message.get("is_error"))
        found.append(result_of(said, call_id, is_error=is_error))
    else:
        found += said
    refusal = text_of(message.get("refusal"))
    found += [Content(Kind.TEXT, text=refusal, name="refusal")] if refusal else []
    known = {content.call_id for content in said if content.kind is Kind.TOOL_USE} - {""}
    calls = as_list(message.get("tool_calls"))
    found += [call_of(call) for call in calls if text_of(as_dict(call).get("id")) not in known]
    if isinstance(message.get("function_call"), dict):
        found.append(call_of(message["function_call"]))
    return tuple(found)


def parts_of(content: Any) -> tuple[Content, ...]:
    """A message's content: a string, a list of parts, or whatever else stands there."""
    return blocks_of(content, part_of)


def part_of(part: Any) -> Content:
    """One part of a message's content."""
    reader = _READERS.get(text_of(as_dict(part).get("type")))
    return (reader(part) if reader else None) or block_of(part)


def call_of(call: Any) -> Content:
    """A tool call: OpenAI's, with the name inside ``function`` or as it, or a flat one."""
    if not isinstance(call, dict):
        return opaque(call)
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    arguments = next((inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), None)
    return tool_use(arguments, inner.get("name") or function, text_of(call.get("id")) or call.get("call_id"))


def _text(part: Record) -> Content | None:
    key = next((key for key in ("text", "content") if isinstance(part.get(key), str)), "")
    return Content(Kind.TEXT, text=part[key]) if key else None


def _thinking(part: Record) -> Content | None:
    key = next((key for key in ("thinking", "text", "content", "reasoning") if isinstance(part.get(key), str)), "")
    return Content(Kind.THINKING, text=part[key], payload=text_of(part.get("signature"))) if key else None


def _thought(part: Record) -> Content | None:
    """What Kimi's agents keep of a thought."""
    text, payload = part.get("think"), text_of(part.get("encrypted"))
    return Content(Kind.THINKING, text=text, payload=payload) if isinstance(text, str) else None


def _image_link(part: Record) -> Content | None:
    held = part.get("image_url", part.get("imageUrl"))
    link = text_of(held.get("url")) if isinstance(held, dict) else text_of(held) or text_of(part.get("file_id"))
    return media_link(link, kind=Kind.IMAGE) if link else None


def _image(part: Record) -> Content | None:
    """Messages API images have a source; others a link or base64 beside their type."""
    if isinstance(part.get("source"), dict):
        return None
    link = text_of(part.get("image")) or text_of(part.get("url"))
    media_type = first_text(part, "mime_type", "media_type", "mimeType", "mediaType")
    if data := text_of(part.get("data")) or text_of(part.get("base64")):
        return Content(Kind.IMAGE, media_type=media_type, data=data)
    return media_link(link, media_type, Kind.IMAGE) if link else None


def _call(part: Record) -> Content | None:
    return call_of(part) if isinstance(part.get("name"), str) or isinstance(part.get("function"), dict) else None


def _response(part: Record) -> Content:
    """OpenTelemetry's ``tool_call_response``: ``response`` by the conventions, ``result`` as some write it."""
    answer = next((part[key] for key in ("response", "result", "content") if part.get(key) is not None), "")
    text = answer if isinstance(answer, str) else dumps(answer)
    return Content(Kind.TOOL_RESULT, text=text, call_id=text_of(part.get("id")) or text_of(part.get("call_id")))


def _blob(part: Record) -> Content | None:
    media_type = text_of(part.get("mime_type")) or text_of(part.get("media_type"))
    data = text_of(part.get("content")) or text_of(part.get("data")) or text_of(part.get("blob"))
    image = text_of(part.get("modality")) == "image" or media_type.startswith("image/")
    return Content(Kind.IMAGE if image else Kind.DOCUMENT, media_type=media_type, data=data) if data else None


def _link(part: Record) -> Content | None:
    link = text_of(part.get("uri")) or text_of(part.get("file_id")) or text_of(part.get("url"))
    media_type = text_of(part.get("mime_type")) or text_of(part.get("media_type"))
    image = "image" in (text_of(part.get("modality")), text_of(part.get("type")).removesuffix("-url"))
    kind = Kind.IMAGE if image or media_type.startswith("image/") else Kind.DOCUMENT
    return media_link(link, media_type, kind) if link else None


def _file(part: Record) -> Content | None:
    """Chat's ``file`` and Responses' ``input_file``: data URI, address or id."""
    held = part.get("file")
    file = held if isinstance(held, dict) else part
    link = text_of(file.get("file_data")) or text_of(file.get("file_url")) or text_of(file.get("file_id"))
    return media_link(link, kind=Kind.DOCUMENT) if link else _link(part)


_READERS: dict[str, Callable[[Record], Content | None]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "refusal"), _text),
    **dict.fromkeys(("thinking", "reasoning"), _thinking),
    "think": _thought,
    **dict.fromkeys(("image_url", "input_image"), _image_link),
    "image": _image,
    **dict.fromkeys(("tool_call", "function"), _call),
    "tool_call_response": _response,
    **dict.fromkeys(("blob", "binary"), _blob),
    **dict.fromkeys(("uri", "image-url", "document-url"), _link),
    **dict.fromkeys(("file", "input_file"), _file),
}


def is_entry(value: Any) -> bool:
    """An object with a role that chat completions know, and content or calls."""
    known = isinstance(value, dict) and text_of(value.get("role")) in ROLES
    return known and ("content" in value or isinstance(value.get("tool_calls"), list))
