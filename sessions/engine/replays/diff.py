"""Aligns the message lists before and after an event (replay-semantics 1 and 6)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.engine.base import registry
from sessions.engine.policies._pairs import left_alone
from sessions.engine.policies.policy import Item
from sessions.engine.replays.events import Event, changed
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.sizes import message_size

OPS = ("kept", "edited", "dropped", "inserted", "moved")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a diff.

    ``before`` and ``after`` are positions in the lists, None where the message is not in that list; tokens are
    display tokens, wire sizes bytes, both 0 on the missing side.  ``pair_ok`` is false where a tool call of the after
    list lost its result or a result its call, None for messages without tool blocks.
    """

    op: str
    id: str
    before: int | None
    after: int | None
    role: str
    tokens_before: int
    tokens_after: int
    wire_before: int
    wire_after: int
    pair_ok: bool | None
    item_before: Item | None
    item_after: Item | None


def diff_event(event: Event, weighed: Weighed) -> tuple[Row, ...]:
    """The rows of one event, in reading order: what was dropped stands where it was, inserted where it is."""
    return diff_lists(event.before, event.after, weighed)


def diff_lists(before: Sequence[Item], after: Sequence[Item], weighed: Weighed) -> tuple[Row, ...]:
    """Align two message lists by identity.

    Same id and content is kept, same id edited, only before dropped, only after inserted; kept messages outside the
    longest run that keeps its order are moved.  Linear but for the run, which is n log n.
    """
    old_at = {item.id: position for position, item in enumerate(before)}
    shared = [(position, old_at[item.id]) for position, item in enumerate(after) if item.id in old_at]
    in_order = _longest_increasing([old for _, old in shared])
    anchors = {shared[i][0]: shared[i][1] for i in in_order}
    new_ids = {item.id for item in after}
    wire = registry.get("estimators", "wire_bytes")
    lost_results, lost_calls = left_alone(before, after)
    rows: list[Row] = []
    old_position = 0

    def size(item: Item | None) -> int:
        return message_size(item.message, wire, weighed.model) if item else 0

    def add(op: str, shown: Item, old: int | None, new: int | None) -> None:
        was, now = None if old is None else before[old], None if new is None else after[new]
        calls, results = shown.message.halves()
        is_whole = lost_results.isdisjoint(calls) and lost_calls.isdisjoint(results)
        rows.append(Row(
            op, shown.id, old, new, shown.message.role.value, was.tokens if was else 0, now.tokens if now else 0,
            size(was), size(now), is_whole if now and (calls or results) else None, was, now,
        ))  # fmt: skip

    for position, item in enumerate(after):
        if position in anchors:
            while old_position < anchors[position]:
                if before[old_position].id not in new_ids:
                    add("dropped", before[old_position], old_position, None)
                old_position += 1
            old = before[anchors[position]]
            add("edited" if changed(old, item) else "kept", item, anchors[position], position)
            old_position = anchors[position] + 1
        elif item.id in old_at:
            add("moved", item, old_at[item.id], position)
        else:
            add("inserted", item, None, position)
    for rest in range(old_position, len(before)):
        if before[rest].id not in new_ids:
            add("dropped", before[rest], rest, None)
    return tuple(rows)


def _longest_increasing(values: Sequence[int]) -> list[int]:
    """Indices of a longest strictly increasing subsequence (patience sorting)."""
    tails: list[int] = []
    tail_at: list[int] = []
    previous: list[int] = []
    for index, value in enumerate(values):
        place = bisect_left(tails, value)
        previous.append(tail_at[place - 1] if place else -1)
        if place == len(tails):
            tails.append(value)
            tail_at.append(index)
        else:
            tails[place], tail_at[place] = value, index
    chain: list[int] = []
    index = tail_at[-1] if tail_at else -1
    while index >= 0:
        chain.append(index)
        index = previous[index]
    return chain[::-1]
