"""Cut points and counts of LangChain's summarization, shared with deepagents, which builds on it (policies 10.2)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from sessions.engine.policies._roles import TOOL, role_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policies.policy import Item, View

MOST_SCALED = 1.25
"""The estimate is scaled by the last usage, by 1 to this."""


def counted(view: View, size: int | None = None) -> int:
    """The approximate count of a list, scaled by what the provider reported for its part up to the last reply.

    ``size`` is the list's by estimate (the whole list by default); the scale is from 1 to 1.25.
    """
    size = view.size if size is None else size
    if view.usage is None or len(view.items) < 2:
        return size
    up_to_reply = size - view.usage.tail
    if up_to_reply <= 0:
        return size
    scale = view.usage.spent / up_to_reply
    return ceil(size * min(MOST_SCALED, max(1.0, scale)))


def measured(view: View, count: int) -> int:
    """What a limit in tokens is held against: the count, or what the provider reported with the last reply."""
    return max(count, 0 if view.usage is None else view.usage.spent)


def share(window: int, fraction: float) -> int:
    """``int(window × fraction)`` tokens, at least 1."""
    return max(1, int(window * fraction))


def message_cut(items: Sequence[Item], keep: int) -> int:
    """Messages before this position go when the newest ``keep`` are to stay; 0 for none."""
    return 0 if len(items) <= keep else safe_cut(items, len(items) - keep)


def token_cut(items: Sequence[Item], budget: int, count: int) -> int:
    """The earliest position whose suffix weighs at most ``budget`` in the gate's unit; 0 where the whole does.

    ``count`` is the scaled count of the whole.  Where not even the newest message fits, it stays alone.
    """
    if not items or count <= budget:
        return 0
    cut, weight = len(items), 0
    while cut and weight + items[cut - 1].size <= budget:
        cut -= 1
        weight += items[cut].size
    if cut == len(items):
        if len(items) == 1:
            return 0
        cut -= 1
    return safe_cut(items, cut)


def safe_cut(items: Sequence[Item], cut: int) -> int:
    """A cut on a tool result moves back to the reply that made the call, forward over the results where none did."""
    if cut >= len(items) or role_of(items[cut]) != TOOL:
        return cut
    wanted: set[str] = set()
    end = cut
    while end < len(items) and role_of(items[end]) == TOOL:
        wanted |= items[end].message.result_ids()
        end += 1
    for position in reversed(range(cut)):
        if wanted & items[position].message.call_ids():
            return position
    return end
