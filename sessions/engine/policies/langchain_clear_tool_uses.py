"""LangChain ClearToolUsesEdit: old tool results become "[cleared]" in the request alone (policies 10.3).

langchain-ai/langchain ``langchain/agents/middleware/context_editing.py`` (1.4.7).  Each request is a copy of the whole
history: when its approximate count is > the trigger, results are cleared oldest first, all but the newest ``keep``;
with ``clear_at_least`` > 0 it stops as soon as that much has been taken off, and stands even where less could be.
A result is passed over when the reply before it did not make its call, or calls an excluded tool.  Arguments are
emptied on demand.  The count is not scaled by usage.  What is cleared once stays cleared: the history only grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._looked import looked, looked_at
from sessions.engine.policies.edits import clear_results, edit_blocks, with_text
from sessions.engine.policies.params import choice, param, when
from sessions.engine.policies.policy import Gate, Layer, Policy, View
from sessions.engine.transcript.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.engine.policies.policy import Item
    from sessions.engine.transcript.types import Block

PLACEHOLDER, EMPTY = "[cleared]", "{}"


@dataclass(frozen=True, slots=True)
class Params:
    """Trigger, what is kept, how much must be cleared."""

    trigger: int = when(
        100_000, "Trigger, over", "Approximate tokens of the whole history", "tokens", 0, 10_000_000, 1_000
    )
    keep: int = param(3, "Keep", "Newest results that are never cleared", "results", 0, 10_000)
    clear_at_least: int = param(
        0, "Clear at least", "Stops as soon as so much is cleared; 0: clears all it may", "tokens", 0, 10_000_000, 1_000
    )
    clear_tool_inputs: str = choice(
        ("on", "off"), "Clear arguments too", "Empties the arguments of calls whose result is cleared", default="off"
    )
    exclude_tools: str = param("", "Never clear", "Names of tools whose results stay; they use up keep", words=True)


def saved(view: View) -> int:
    """What this policy's clearing has taken off the list as it stands, in the gate's unit."""
    return int(view.state.memory.get("saved", 0)) if view.unedited > view.context else 0


def waiting(params: Params, view: View) -> Iterator[tuple[int, int, str]]:
    """Results that may be cleared: position of the result, of the reply that called, call id; oldest first.

    Those at the start of which none may be cleared any more are not looked at again.
    """
    start = looked_at(view, "waiting_from")
    excluded = frozenset(params.exclude_tools.split())
    stop, left = _first_kept(view, params.keep)
    cleared = view.state.memory.get("cleared", ())
    waits = False
    for n in range(start, min(stop + 1, len(view.results))):
        position = view.results[n]
        item = view.items[position]
        found = [block for block in item.message.blocks if block.kind is Kind.TOOL_RESULT]
        for block in found[:left] if n == stop else found:
            if item.edited and block.call_id in cleared:
                continue
            reply = position - 1
            while reply >= 0 and view.items[reply].message.role is not Role.ASSISTANT:
                reply -= 1
            if reply >= 0 and _may_go(view.items[reply], block.call_id, excluded):
                if not waits:
                    looked(view, "waiting_from", n)
                waits = True
                yield position, reply, block.call_id
    if not waits:
        looked(view, "waiting_from", max(start, stop))


def _may_go(reply: Item, call_id: str, excluded: frozenset[str]) -> bool:
    """Whether a reply makes this call, of a tool that is not excluded."""
    calls = [b.name for b in reply.message.blocks if b.kind is Kind.TOOL_USE and b.call_id == call_id]
    return bool(call_id and calls) and calls[0] not in excluded


def _first_kept(view: View, keep: int) -> tuple[int, int]:
    """Where in ``View.results`` the newest ``keep`` results start, and how many of that message are older."""
    if not keep:
        return len(view.results), 0
    for n in reversed(range(len(view.results))):
        held = len([1 for block in view.items[view.results[n]].message.blocks if block.kind is Kind.TOOL_RESULT])
        if held >= keep:
            return n, held - keep
        keep -= held
    return 0, 0


def gate(params: Params, view: View) -> Gate:
    """The whole history's count over the trigger, and something left to clear."""
    taken = saved(view)
    whole = view.size + taken
    fires = whole > params.trigger and not (params.clear_at_least and taken >= params.clear_at_least)
    if fires:
        found = view.state.memory["waiting"] = list(waiting(params, view))
        fires = bool(found)
    return Gate(fires, "approximate tokens of the whole history", whole, params.trigger, ">", "tokens")


def edit(params: Params, view: View) -> dict[int, Item]:
    """Clear, oldest first, what the gate found (``memory["waiting"]``)."""
    taken = saved(view)
    patch: dict[int, Item] = {}

    def change(position: int, new: Item) -> None:
        nonlocal taken
        taken += patch.get(position, view.items[position]).size - new.size
        patch[position] = new

    found = view.state.memory.pop("waiting", None)
    for position, reply, call_id in list(waiting(params, view)) if found is None else found:
        item = patch.get(position, view.items[position])
        view.state.memory.setdefault("cleared", set()).add(call_id)
        change(position, clear_results(view, item, {call_id}, PLACEHOLDER))
        if params.clear_tool_inputs == "on":
            change(reply, _without_arguments(view, patch.get(reply, view.items[reply]), call_id))
        if params.clear_at_least and taken >= params.clear_at_least:
            break
    view.state.memory["saved"] = taken
    return patch


def _without_arguments(view: View, item: Item, call_id: str) -> Item:
    def change(block: Block) -> Block:
        is_full = block.kind is Kind.TOOL_USE and block.call_id == call_id and block.n_chars > len(EMPTY)
        return with_text(block, EMPTY) if is_full else block

    return edit_blocks(view, item, change)


POLICY = Policy(
    name="langchain_clear_tool_uses", label="LangChain clear tool uses",
    source="langchain-ai/langchain ContextEditingMiddleware, ClearToolUsesEdit 1.4.7",
    help="Clears the oldest tool results of each request while the whole history is over a trigger.",
    estimator="langchain",
    params=Params, layers=(Layer("langchain_clear_tool_uses", "Clear tool results", gate, edit, cheap=True),),
    summary_calls=False, threshold_param="trigger", tier="differential",
)  # fmt: skip
