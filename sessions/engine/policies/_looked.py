"""How far a policy has looked through a list that only grows: a trigger asked at every request reads what is new.

A list is known by its identity: an event that takes messages out, or a recorded compaction, makes another one, and
what was found of the old one no longer counts.  Edits in place keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sessions.engine.policies.policy import Gate, Item, View
from sessions.engine.transcript.types import Role


def looked_at(view: View, name: str) -> int:
    """The position that ``looked`` remembered under ``name`` for this very list, else 0."""
    position: int
    items, position = view.state.memory.get(name, (None, 0))
    return position if items is view.items else 0


def looked(view: View, name: str, position: int) -> None:
    """Remember a position under ``name`` for this list."""
    view.state.memory[name] = (view.items, position)


def added_up(view: View, name: str, weigh: Callable[[Sequence[Item]], int]) -> int:
    """What ``weigh`` says of the list, kept under ``name``: what is new is added to what is known."""
    total: int
    items, position, total = view.state.memory.get(name, (None, 0, 0))
    if items is not view.items:
        position = total = 0
    total += weigh(view.items[position:])
    view.state.memory[name] = (view.items, len(view.items), total)
    return total


def n_conversation(view: View) -> int:
    """Messages of the list that are no system messages."""
    system = Role.SYSTEM
    return added_up(view, "counted", lambda items: len([1 for item in items if item.message.role is not system]))


def messages_gate(params: Any, view: View) -> Gate:
    """More than ``max_messages`` messages, system messages not counted."""
    return Gate.over(n_conversation(view), params.max_messages, "messages in the list", "messages")


def has_later_prompt(view: View) -> bool:
    """Whether a typed prompt stands after the first message that is no system message."""
    items = view.items
    first = next((n for n, item in enumerate(items) if item.message.role != "system"), len(items))
    start = max(first + 1, looked_at(view, "no_prompt_before"))
    found = next((n for n in range(start, len(items)) if items[n].message.typed), len(items))
    looked(view, "no_prompt_before", found)
    return found < len(items)
