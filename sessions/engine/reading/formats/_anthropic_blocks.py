"""Messages API content to ``Content``: shared by every format of Anthropic's blocks.

Source: formats 3.2, 3.4 and 4.  Unknown blocks become opaque with their JSON as text; signatures and encrypted
payloads are kept apart from the text, because they are bytes and never tokens (replay-semantics 1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessions.engine.reading.formats._blocks import blocks_of, definitions, opaque, tool_use, whole_result
from sessions.engine.reading.formats._values import Record, as_dict, text_of
from sessions.engine.transcript.types import Content, Kind

KNOWN_TYPES = frozenset({"text", "thinking", "tool_use", "tool_result", "image", "document", "redacted_thinking"})


def contents_of(content: Any) -> tuple[Content, ...]:
    """Blocks of a message's ``content``: a string, a list of blocks, or whatever else stands there."""
    return blocks_of(content, block_of)


def block_of(block: Any) -> Content:
    """One block; a string is text, anything unknown is opaque."""
    if isinstance(block, str):
        return Content(Kind.TEXT, text=block)
    if not isinstance(block, dict):
        return opaque(block)
    kind = text_of(block.get("type"))
    reader = _READERS.get(kind, _tool_result if kind.endswith("_tool_result") else None)
    return (reader(block) if reader else None) or opaque(block)


def _text(block: Record) -> Content | None:
    said = block.get("text")
    # The Assistants API has the words one deeper, beside their annotations.
    said = said if isinstance(said, str) else as_dict(said).get("value")
    return Content(Kind.TEXT, text=said) if isinstance(said, str) else None


def _compaction(block: Record) -> Content | None:
    summary = block.get("content")
    payload = text_of(block.get("signature")) or text_of(block.get("encrypted_content"))
    return Content(Kind.TEXT, text=summary, name="compaction", payload=payload) if isinstance(summary, str) else None


def _tool_result(block: Record) -> Content:
    return whole_result(block.get("content"), block.get("tool_use_id"), block_of, is_error=bool(block.get("is_error")))


def _media(block: Record) -> Content | None:
    kind = Kind.IMAGE if block["type"] == "image" else Kind.DOCUMENT
    source = as_dict(block.get("source"))
    media_type, name = text_of(source.get("media_type")), text_of(block.get("title"))
    if source.get("type") == "text":
        return Content(kind, text=text_of(source.get("data")), media_type=media_type, name=name)
    if source.get("type") == "content":
        return Content(kind, media_type=media_type, name=name, parts=contents_of(source.get("content")))
    data, url = text_of(source.get("data")), text_of(source.get("url")) or text_of(source.get("file_id"))
    return Content(kind, media_type=media_type, name=name, data=data, url=url) if data or url else None


_READERS: dict[str, Callable[[Record], Content | None]] = {
    "text": _text,
    "thinking": lambda block: Content(
        Kind.THINKING, text=text_of(block.get("thinking")), payload=text_of(block.get("signature"))
    ),
    "redacted_thinking": lambda block: Content(
        Kind.OPAQUE, name="redacted_thinking", payload=text_of(block.get("data"))
    ),
    "compaction": _compaction,
    **dict.fromkeys(
        ("tool_use", "server_tool_use", "mcp_tool_use"),
        lambda block: tool_use(block.get("input"), block.get("name"), block.get("id")),
    ),
    "tool_result": _tool_result,
    **dict.fromkeys(("image", "document"), _media),
}


def system_contents(request: Record) -> tuple[Content, ...]:
    """The system prompt, then each tool definition as its compact JSON under the tool's name."""
    return contents_of(request.get("system")) + definitions(request.get("tools"))
