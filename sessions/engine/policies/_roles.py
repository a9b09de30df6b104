"""Who a message is from in the words of agents that give tool results a role of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.transcript.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policies.policy import Item

SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"


def role_of(item: Item) -> str:
    """``system``, ``user``, ``assistant``, or ``tool`` for a message that holds a tool result."""
    message = item.message
    if message.role is Role.USER:
        for block in message.blocks:
            if block.kind is Kind.TOOL_RESULT:
                return TOOL
    return message.role


def roles(items: Sequence[Item]) -> list[str]:
    """The role of each message."""
    return [role_of(item) for item in items]


def has_calls(item: Item) -> bool:
    """Whether a message makes a tool call."""
    for block in item.message.blocks:  # noqa: SIM110 - asked of every message of every list: a generator costs thrice
        if block.kind is Kind.TOOL_USE:
            return True
    return False


def tool_names(items: Sequence[Item]) -> dict[str, str]:
    """The name of the tool that each call id calls."""
    return {b.call_id: b.name for item in items for b in item.message.blocks if b.kind is Kind.TOOL_USE}
