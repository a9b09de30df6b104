"""Messages API content to ``Content``: shared by every format whose blocks are Anthropic's.

Source: formats 3.2, 3.4 and 4.  Unknown blocks become opaque with their JSON as text; signatures and encrypted
payloads are kept apart from the text, because they are bytes and never tokens (replay-semantics 1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessions.engine.reading.formats._blocks import blocks_of, opaque, tool_use
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.reading.jsonio import dumps
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
        return Content(Kind.OPAQUE, text=dumps(block))
    kind = block.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None and isinstance(kind, str) and kind.endswith("_tool_result"):
        reader = _tool_result
    found = reader(block) if reader else None
    return found or opaque(block)


def _text(block: Record) -> Content | None:
    return Content(Kind.TEXT, text=block["text"]) if isinstance(block.get("text"), str) else None


def _thinking(block: Record) -> Content:
    return Content(Kind.THINKING, text=text_of(block.get("thinking")), payload=text_of(block.get("signature")))


def _redacted(block: Record) -> Content:
    return Content(Kind.OPAQUE, name="redacted_thinking", payload=text_of(block.get("data")))


def _compaction(block: Record) -> Content | None:
    summary = block.get("content")
    payload = text_of(block.get("signature")) or text_of(block.get("encrypted_content"))
    return Content(Kind.TEXT, text=summary, name="compaction", payload=payload) if isinstance(summary, str) else None


def _tool_use(block: Record) -> Content:
    return tool_use(block.get("input"), block.get("name"), block.get("id"))


def _tool_result(block: Record) -> Content:
    content = block.get("content")
    return Content(
        Kind.TOOL_RESULT,
        text=text_of(content),
        call_id=text_of(block.get("tool_use_id")),
        is_error=bool(block.get("is_error")),
        parts=() if isinstance(content, str) else contents_of(content),
    )


def _media(block: Record) -> Content | None:
    kind = Kind.IMAGE if block["type"] == "image" else Kind.DOCUMENT
    source = block.get("source")
    if not isinstance(source, dict):
        return None
    media_type, name = text_of(source.get("media_type")), text_of(block.get("title"))
    if source.get("type") == "text":
        return Content(kind, text=text_of(source.get("data")), media_type=media_type, name=name)
    if source.get("type") == "content":
        return Content(kind, media_type=media_type, name=name, parts=contents_of(source.get("content")))
    data, url = text_of(source.get("data")), text_of(source.get("url")) or text_of(source.get("file_id"))
    return Content(kind, media_type=media_type, name=name, data=data, url=url) if data or url else None


_READERS: dict[str, Callable[[Record], Content | None]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "compaction": _compaction,
    "tool_use": _tool_use,
    "server_tool_use": _tool_use,
    "mcp_tool_use": _tool_use,
    "tool_result": _tool_result,
    "image": _media,
    "document": _media,
}
