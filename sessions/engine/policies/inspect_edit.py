"""Inspect CompactionEdit: old thinking and old tool results go, the messages stay (policies 11.12).

UKGovernmentBEIS/inspect_ai ``src/inspect_ai/model/_compaction/edit.py`` (0.3.285).  In this order: thinking leaves all
but the last ``keep_thinking_turns`` replies; of the answered calls in the order made, all but the last
``keep_tool_uses`` have their result replaced by "(Tool result removed)", or, with ``keep_tool_inputs`` off, the result
goes and a line of text stands in the place of the call; replies at the very end go.  Calls of a tool named
``tool_search`` are spared.

Not in a replay's messages: citations, uses of server tools as a kind of their own, arguments of a memory tool one by
one.  The original can spare tools by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._inspect import gate, repeated, threshold_param, tokens_param
from sessions.engine.policies._roles import ASSISTANT, role_of
from sessions.engine.policies.edits import clear_results, drop_thinking, marker
from sessions.engine.policies.params import Told, choice, param
from sessions.engine.policies.policy import Policy
from sessions.engine.transcript.types import Block, Kind

if TYPE_CHECKING:
    from sessions.engine.policies.policy import Item, View

REMOVED = "(Tool result removed)"
SPARED = "tool_search"


@dataclass(frozen=True, slots=True)
class Params(Told):
    """When, and what stays whole."""

    threshold: float = threshold_param()
    threshold_tokens: int | None = tokens_param()
    keep_thinking_turns: int | None = param(
        1, "Keep thinking of", "The last replies that keep their thinking; none: all do",
        "replies", 0, 10_000, optional=True,
    )  # fmt: skip
    keep_tool_uses: int = param(3, "Keep tool uses", "Newest answered calls left whole", "calls", 0, 10_000)
    keep_tool_inputs: str = choice(
        ("on", "off"), "Keep the calls", "Off: a call goes with its result, a line of text stays"
    )


def edit(params: Params, view: View) -> list[Item]:
    """Clear until it fits.

    What the event before left cleared for good is not looked at again (``memory["done"]``).
    """
    n_events, done, last = view.state.memory.get("done", (0, 0, None))
    if n_events != view.state.n_events or done > len(view.items) or (done and view.items[done - 1] is not last):
        done = 0
    left = repeated(params, view, lambda items: cleared(params, view, items, done))
    done = min(done, len(left))
    done += finished(params, left[done:])
    view.state.memory["done"] = (view.state.n_events + 1, done, left[done - 1] if done else None)
    return left


def finished(params: Params, items: list[Item]) -> int:
    """How many of the oldest messages no later pass changes: before every reply, call and result that is yet whole."""
    replies = [position for position, item in enumerate(items) if role_of(item) == ASSISTANT]
    uses = answered(items)
    ended = {(id(call), call_at) for call, call_at, _ in uses}
    kept = uses[max(0, len(uses) - params.keep_tool_uses) :]
    open_calls = [
        position
        for position, item in enumerate(items)
        for block in item.message.blocks
        if block.kind is Kind.TOOL_USE and block.name != SPARED and (id(block), position) not in ended
    ]
    thinking = replies[max(0, len(replies) - (params.keep_thinking_turns or 0)) :]
    return min([*thinking, *[call_at for _, call_at, _ in kept], *open_calls, *replies[-1:]], default=0)


def cleared(params: Params, view: View, items: list[Item], start: int = 0) -> list[Item]:
    """One pass from position ``start`` on: what stands before was cleared for good."""
    left = list(items)
    if params.keep_thinking_turns is not None:
        replies = [n for n in range(start, len(left)) if role_of(left[n]) == ASSISTANT]
        for position in replies[: max(0, len(replies) - params.keep_thinking_turns)]:
            left[position] = drop_thinking(view, left[position])
    uses = answered(left, start)
    for call, call_at, result_at in uses[: max(0, len(uses) - params.keep_tool_uses)]:
        if params.keep_tool_inputs == "on":
            left[result_at] = clear_results(view, left[result_at], {call.call_id}, REMOVED)
        else:
            left[result_at] = _without(view, left[result_at], Kind.TOOL_RESULT, call.call_id)
            note = marker(f"[Tool call: {call.name} (parameters and results removed from history)]")
            left[call_at] = _without(view, left[call_at], Kind.TOOL_USE, call.call_id, note)
    changed = zip(left[start:], items[start:], strict=True)
    left[start:] = [n for n, old in changed if n is old or n.message.blocks or role_of(n) == ASSISTANT]
    while left and role_of(left[-1]) == ASSISTANT:
        left.pop()
    return left


def answered(items: list[Item], start: int = 0) -> list[tuple[Block, int, int]]:
    """Calls from position ``start`` on with a result after them, as made: the call, its position, the result's."""
    late = list(enumerate(items[start:], start))
    result_at: dict[str, list[int]] = {}
    for position, item in late:
        for call_id in item.message.result_ids():
            result_at.setdefault(call_id, []).append(position)
    found: list[tuple[Block, int, int]] = []
    for position, item in late:
        for block in item.message.blocks:
            if block.kind is Kind.TOOL_USE and block.name != SPARED:
                later = next((at for at in result_at.get(block.call_id, ()) if at > position), None)
                if later is not None:
                    found.append((block, position, later))
    return found


def _without(view: View, item: Item, kind: Kind, call_id: str, *more: Block) -> Item:
    blocks = [block for block in item.message.blocks if block.kind is not kind or block.call_id != call_id]
    return view.tools.rewrite(item, [*blocks, *more])


POLICY = Policy(
    name="inspect_edit", label="Inspect edit",
    source="UKGovernmentBEIS/inspect_ai CompactionEdit 0.3.285",
    help="Removes old thinking and old tool results; every message stays.", estimator="inspect",
    params=Params, gate=gate, edit=edit,
    summary_calls=False, threshold_param="threshold", tier="differential",
)  # fmt: skip
