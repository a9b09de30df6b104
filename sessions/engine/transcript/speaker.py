"""Who a message is from, in words."""

from __future__ import annotations

from sessions.engine.transcript.types import Kind, Message


def speaker(message: Message) -> str:
    """Its role; a message of tool results alone is the tool's, whatever role its API gives it."""
    results = bool(message.blocks) and all(block.kind is Kind.TOOL_RESULT for block in message.blocks)
    return "tool" if results else message.role.value
