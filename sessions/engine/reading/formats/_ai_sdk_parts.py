"""Parts of the AI SDK's ModelMessages and UIMessages to ``Content`` (formats 44)."""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._blocks import base64_of, blocks_of, media_link, opaque, tool_use
from sessions.engine.reading.formats._values import Record, as_dict, text_of, written
from sessions.engine.transcript.types import Content, Kind, Role

CALLS = ("tool-call", "dynamic-tool", "tool-invocation")
ENDED = ("output-available", "output-error", "output-denied", "result")
"""States of a UIMessage's tool part whose result is there."""


def is_call(part: Any) -> bool:
    """A tool call: a ModelMessage's, or a UIMessage's part that holds call and result."""
    kind = text_of(as_dict(part).get("type"))
    return kind in CALLS or (kind.startswith("tool-") and "state" in part and "toolCallId" in part)


def has_result(part: Any) -> bool:
    """Whether a UIMessage's tool part holds its result."""
    return is_call(part) and text_of(_invocation(part).get("state")) in ENDED


def is_display(part: Any) -> bool:
    """Parts that the SDK shows and never sends: sources, data, step marks."""
    kind = text_of(as_dict(part).get("type"))
    return kind in ("step-start", "source-url", "source-document", "source") or kind.startswith("data-")


def parts_of(content: Any, role: Role) -> tuple[Content, ...]:
    """A message's content, or one of its parts: a tool part is the call for the assistant, the result for the user."""
    return blocks_of(content, lambda part: _part(part, role))


def _part(part: Any, role: Role) -> Content:
    if not isinstance(part, dict):
        return block_of(part)
    kind = text_of(part.get("type"))
    if kind == "reasoning":
        text = text_of(part.get("text")) or text_of(part.get("reasoning"))
        return Content(Kind.THINKING, text=text, payload=text_of(part.get("signature")))
    if kind == "tool-result":
        return _result(part)
    if is_call(part):
        return call_of(part) if role is Role.ASSISTANT else _result(_invocation(part))
    found = _media(part) if kind in ("image", "file") else None
    return found or (block_of(part) if kind == "text" else opaque(part))


def _invocation(part: Record) -> Record:
    """A tool part; until version 4 it stands inside ``toolInvocation``."""
    return as_dict(part.get("toolInvocation")) or part


def call_of(part: Record) -> Content:
    """A tool call of a ModelMessage, of a UIMessage, or of a result as the SDK traces it."""
    held = _invocation(part)
    name = text_of(held.get("toolName")) or text_of(held.get("type")).removeprefix("tool-")
    arguments = next((held[key] for key in ("input", "args", "rawInput") if held.get(key) is not None), None)
    return tool_use(arguments, name, held.get("toolCallId"))


def _result(part: Record) -> Content:
    """A result: ``output`` with a type and value, a UIMessage's plain ``output`` or error; version 4: ``result``."""
    call_id, state = text_of(part.get("toolCallId")), part.get("state")
    if state in ("output-error", "output-denied"):
        return Content(Kind.TOOL_RESULT, text=text_of(part.get("errorText")), call_id=call_id, is_error=True)
    output = part["output"] if "output" in part else part.get("result")
    typed = as_dict(output) if state is None and "output" in part else {}
    kind, failed = text_of(typed.get("type")), part.get("isError") is True
    value = typed.get("value") if kind else output
    if kind == "content" and isinstance(value, list):
        return Content(Kind.TOOL_RESULT, call_id=call_id, is_error=failed, parts=blocks_of(value, _output_part))
    if kind == "execution-denied":
        value, failed = typed.get("reason"), True
    text = written(value)
    return Content(Kind.TOOL_RESULT, text=text, call_id=call_id, is_error=failed or kind.startswith("error"))


def _output_part(part: Any) -> Content:
    kind = text_of(as_dict(part).get("type"))
    return (_media(part) if kind.startswith(("media", "file", "image")) else None) or _part(part, Role.USER)


def _media(part: Record) -> Content | None:
    """An image or file: base64, data URI, address, or a list of bytes."""
    media_type = text_of(part.get("mediaType")) or text_of(part.get("mimeType"))
    kind = Kind.IMAGE if text_of(part.get("type")).startswith("image") or media_type.startswith("image/") else None
    held = next((part[key] for key in ("image", "url", "data", "fileId") if part.get(key)), None)
    if isinstance(held, str):
        bare = not held.startswith(("data:", "http:", "https:")) and "data" in part
        linked = media_link(held, media_type, kind)
        return Content(linked.kind, media_type=media_type, data=held) if bare and media_type else linked
    # The bytes of a Buffer or typed array as JSON writes them.
    data = base64_of(as_dict(held).get("data", list(as_dict(held).values())))
    return Content(kind or Kind.DOCUMENT, media_type=media_type, data=data) if data else None
