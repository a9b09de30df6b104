"""A message list as many policies look at it: roles, whole turns, tool pairs, the provider's usage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, takewhile

from sessions.engine.policies.params import is_told
from sessions.engine.policies.policy import Item, ResultPlace, View
from sessions.engine.transcript.types import Block, Kind, Role

SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"
"""Who a message is from in the words of agents that give tool results a role of their own."""


def apart(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """System messages, which no policy compacts, and all others."""
    role = Role.SYSTEM
    system = [item for item in items if item.message.role is role]
    return system, [item for item in items if item.message.role is not role] if system else list(items)


def used(view: View, *, overhead: bool = True) -> int:
    """Last usage in full plus the estimate of what came after it; without usage that of the list and ``overhead``."""
    if view.usage is None:
        return view.size + (view.overhead if overhead else 0)
    return view.usage.spent + view.usage.tail


def last_spent(params: object, view: View, otherwise: int) -> int:
    """Tokens of the last request and its reply; where usage is withheld ``otherwise``, before the first request 0."""
    if view.usage is not None:
        return view.usage.spent
    return 0 if is_told(params) else otherwise


def prompts(items: Sequence[Item]) -> list[int]:
    """Positions of the typed prompts."""
    return [position for position, item in enumerate(items) if item.message.typed]


def is_answer(item: Item) -> bool:
    """True for a message that holds tool results and nothing else."""
    blocks = item.message.blocks
    return bool(blocks) and all(block.kind is Kind.TOOL_RESULT for block in blocks)


def has_tools(item: Item) -> bool:
    """True for a message that calls a tool or answers a call."""
    return any(block.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT) for block in item.message.blocks)


def results_of(item: Item) -> Iterator[Block]:
    """The tool results of a message, in order."""
    return (block for block in item.message.blocks if block.kind is Kind.TOOL_RESULT)


def found_results(view: View) -> list[ResultPlace]:
    """Every tool result of the list, oldest first."""
    items, kind = view.items, Kind.TOOL_RESULT
    return [ResultPlace(at, block) for at in view.results for block in items[at].message.blocks if block.kind is kind]


def n_results(view: View) -> int:
    """How many tool results the list holds."""
    items, kind = view.items, Kind.TOOL_RESULT
    return len([1 for at in view.results for block in items[at].message.blocks if block.kind is kind])


def last_assistant(items: Sequence[Item]) -> int:
    """Position of the newest reply, -1 where there is none."""
    for position in reversed(range(len(items))):
        if items[position].message.role is Role.ASSISTANT:
            return position
    return -1


def pairs(items: Sequence[Item]) -> list[set[int]]:
    """For every call that is answered in the list: the positions of its call and of its answers."""
    places: dict[str, set[int]] = {}
    for position, item in enumerate(items):
        for block in item.message.blocks:
            if block.call_id and block.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT):
                places.setdefault(block.call_id, set()).add(position)
    return [held for held in places.values() if len(held) > 1]


def only_whole(items: Sequence[Item], kept: set[int]) -> set[int]:
    """``kept`` without the messages that would lose the other half of a tool pair."""
    whole, held = set(kept), pairs(items)
    shrinking = True
    while shrinking:
        shrinking = False
        for places in held:
            if places & whole and not places <= whole:
                whole -= places
                shrinking = True
    return whole


def came_since(view: View, name: str) -> Iterator[Item]:
    """The items that are new since it was last asked under ``name``, the newest first."""
    seen = view.state.memory.get(name)
    if view.items:
        view.state.memory[name] = view.items[-1].id
    return takewhile(lambda item: item.id != seen, reversed(view.items))


def call_names(view: View) -> dict[str, str]:
    """Tool names by call id, of every call seen so far; looks only at what is new (``memory["calls"]``)."""
    names: dict[str, str] = view.state.memory.setdefault("calls", {})
    for item in came_since(view, "calls_seen"):
        names.update({block.call_id: block.name for block in item.message.blocks if block.kind is Kind.TOOL_USE})
    return names


def answered_again(view: View) -> set[str]:
    """Ids of more than one tool result, of all seen so far; looks only at what is new (``memory["answered"]``)."""
    again: set[str]
    known, again = view.state.memory.setdefault("answered", (set(), set()))
    for item in came_since(view, "answered_seen"):
        for block in results_of(item):
            (again if block.call_id in known else known).add(block.call_id)
    return again


def role_of(item: Item) -> str:
    """``system``, ``user``, ``assistant``, or ``tool`` for a message that holds a tool result."""
    message = item.message
    if message.role is Role.USER:
        for block in message.blocks:
            if block.kind is Kind.TOOL_RESULT:
                return TOOL
    return message.role


def has_calls(item: Item) -> bool:
    """Whether a message makes a tool call."""
    for block in item.message.blocks:  # noqa: SIM110 - asked of every message of every list: a generator costs thrice
        if block.kind is Kind.TOOL_USE:
            return True
    return False


def tool_names(items: Sequence[Item]) -> dict[str, str]:
    """The name of the tool that each call id calls."""
    return {b.call_id: b.name for item in items for b in item.message.blocks if b.kind is Kind.TOOL_USE}


def turn_starts(items: Sequence[Item]) -> list[int]:
    """Positions at which a turn starts: the first message, then every typed prompt."""
    starts = [n for n, item in enumerate(items) if item.message.typed]
    return starts if starts[:1] == [0] else [0, *starts]


def without_oldest_turns(items: Sequence[Item], size: Callable[[Item], int], most: int) -> list[Item]:
    """The list without its oldest whole turns while it is larger than ``most``; the last turn always stays."""
    total = sum(size(item) for item in items)
    starts = turn_starts(items) if items else []
    cut = 0
    for start, stop in pairwise(starts):
        if total <= most:
            break
        total -= sum(size(item) for item in items[start:stop])
        cut = stop
    return list(items[cut:])
