"""Which tool results an API that clears them for the client has still to clear (policies 5.1).

The provider starts from the client's full history at every request; what it clears grows only, so a replay carries it
and asks each time for what is new.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.engine.policies._lists import ResultPlace, call_names, results_of
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from sessions.engine.policy import View


@dataclass(slots=True)
class Clearing:
    """What was cleared so far: call ids, their display tokens, and how far ``View.results`` holds nothing open."""

    ids: set[str] = field(default_factory=set)
    tokens: int = 0
    frontier: int = 0
    anchor: str = ""
    n_items: int = 0


def cleared(view: View) -> Clearing:
    """The memory of this replay (``memory["cleared"]``); a list that became shorter starts anew."""
    held: Clearing = view.state.memory.setdefault("cleared", Clearing())
    if len(view.items) < held.n_items:
        held = view.state.memory["cleared"] = Clearing()
    held.n_items = len(view.items)
    return held


def is_carried(view: View) -> bool:
    """False where what was cleared stands in the list as it was: a replay along the recorded context shows it only."""
    held = cleared(view)
    places = view.results[max(0, held.frontier - 1) : held.frontier + 1]
    return not any(
        block.call_id in held.ids and not view.items[position].edited
        for position in places
        for block in results_of(view.items[position])
    )


def open_results(view: View, excluded: frozenset[str] = frozenset()) -> list[ResultPlace]:
    """The results not cleared yet, oldest first; what is cleared or excluded at the start is not looked at again."""
    held = cleared(view)
    if held.frontier and not _stands(view, held):
        held.frontier, held.anchor, held.tokens = 0, "", 0
    names = call_names(view) if excluded else {}
    while held.frontier < len(view.results):
        position = view.results[held.frontier]
        if any(
            _is_open(view, held, ResultPlace(position, b)) and names.get(b.call_id) not in excluded
            for b in results_of(view.items[position])
        ):
            break
        held.frontier, held.anchor = held.frontier + 1, view.items[position].id
    items, ids, kind = view.items, held.ids, Kind.TOOL_RESULT
    return [
        ResultPlace(position, block)
        for position in view.results[held.frontier :]
        for block in items[position].message.blocks
        if block.kind is kind and not (items[position].edited and block.call_id in ids)
    ]


def _stands(view: View, held: Clearing) -> bool:
    if held.frontier > len(view.results):
        return False
    return view.items[view.results[held.frontier - 1]].id == held.anchor


def _is_open(view: View, held: Clearing, found: ResultPlace) -> bool:
    return not (view.items[found.position].edited and found.block.call_id in held.ids)


def call_position(view: View, found: ResultPlace) -> int | None:
    """Where the call of a result stands, None where it is not in the list."""
    for position in reversed(range(found.position + 1)):
        for block in view.items[position].message.blocks:
            if block.kind is Kind.TOOL_USE and block.call_id == found.block.call_id:
                return position
    return None
