"""Which tool results an API that clears them for the client has still to clear (policies 5.1).

The provider starts from the client's full history at every request; what it clears grows only, so a replay carries it
and asks each time for what is new.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sessions.engine.policies._lists import call_names
from sessions.engine.policies.policy import ResultPlace, View
from sessions.engine.transcript.types import Kind


@dataclass(slots=True)
class Clearing:
    """What was cleared so far, how far ``View.results`` holds nothing open, and what the gate chose to clear now."""

    ids: set[str] = field(default_factory=set)
    tokens: int = 0
    frontier: int = 0
    anchor: str = ""
    n_items: int = 0
    chosen: list[ResultPlace] | None = None


def cleared(view: View) -> Clearing:
    """The memory of this replay (``memory["cleared"]``); a list that became shorter starts anew."""
    held: Clearing | None = view.state.memory.get("cleared")
    if held is None or len(view.items) < held.n_items:
        held = view.state.memory["cleared"] = Clearing()
    held.n_items = len(view.items)
    return held


def is_carried(view: View) -> bool:
    """False where what was cleared stands in the list as it was: a replay along the recorded context shows it only."""
    held, kind = cleared(view), Kind.TOOL_RESULT
    for position in view.results[max(0, held.frontier - 1) : held.frontier + 1]:
        item = view.items[position]
        for block in () if item.edited else item.message.blocks:
            if block.kind is kind and block.call_id in held.ids:
                return False
    return True


def open_results(view: View, excluded: frozenset[str] = frozenset()) -> list[ResultPlace]:
    """The results not cleared yet, oldest first; what is cleared or excluded at the start is not looked at again."""
    held = cleared(view)
    n = held.frontier
    if n and (n > len(view.results) or view.items[view.results[n - 1]].id != held.anchor):
        held.frontier, held.anchor, held.tokens = 0, "", 0
    names = call_names(view) if excluded else {}
    items, ids, kind = view.items, held.ids, Kind.TOOL_RESULT
    found: list[ResultPlace] = []
    for place in view.results[held.frontier :]:
        item = items[place]
        blocks = [b for b in item.message.blocks if b.kind is kind and not (item.edited and b.call_id in ids)]
        if not found and all(names.get(block.call_id) in excluded for block in blocks):
            held.frontier, held.anchor = held.frontier + 1, item.id
            continue
        found += [ResultPlace(place, block) for block in blocks]
    return found


def call_position(view: View, found: ResultPlace) -> int | None:
    """Where the call of a result stands, None where it is not in the list."""
    for position in reversed(range(found.position + 1)):
        for block in view.items[position].message.blocks:
            if block.kind is Kind.TOOL_USE and block.call_id == found.block.call_id:
                return position
    return None
