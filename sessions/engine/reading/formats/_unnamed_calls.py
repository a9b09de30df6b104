"""Calls and results that the file does not name: they are paired by order (formats 24 and 25)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sessions.engine.transcript.types import Content, Kind, Message


def with_id(content: Content, call_id: str) -> Content:
    """A call or result with ``call_id``; any other block as it is."""
    is_tool = content.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT)
    return replace(content, call_id=call_id) if is_tool and content.call_id != call_id else content


def as_read(contents: Sequence[Content], message: Message) -> tuple[Content, ...]:
    """Blocks that are read again, with the ids that they got when the whole file was read."""
    if len(contents) != len(message.blocks):
        return tuple(contents)
    ids = [block.call_id for block in message.blocks]
    return tuple(with_id(content, call_id) for content, call_id in zip(contents, ids, strict=True))
