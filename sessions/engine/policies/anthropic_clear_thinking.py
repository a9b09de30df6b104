"""The Messages API's ``clear_thinking_20251015``: thinking of older turns is cleared on the server (policies 5.2).

Anthropic's documentation of context editing and ``anthropic-sdk-python`` ``types/beta/beta_clear_thinking_*``
(2026-08-07).  ``keep`` is a number of turns with thinking, or all; by default all on models that keep thinking (Opus
from 4.5, Sonnet from 4.6), else the last turn.  A turn with a tool loop is one assistant turn.

Models that do not keep thinking drop that of earlier turns by themselves: a recording of one shows it already, so
nothing fires there.  A larger ``keep`` would bring thinking back that the recorded contexts lack; a replay cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.edits import drop_thinking
from sessions.engine.params import param, usage_param
from sessions.engine.policy import Gate, Item, Layer, Policy, View
from sessions.engine.types import Kind


@dataclass(frozen=True, slots=True)
class Params:
    """The edit's one field."""

    keep: int | None = param(
        None, label="Keep thinking of", help="Newest turns with thinking that stay; none: the model's default, all",
        unit="turns", group="when", low=1, high=1_000, optional=True,
    )  # fmt: skip
    usage: str = usage_param()


def thinking_turns(view: View) -> list[list[int]]:
    """Positions of messages with thinking, one list per turn, oldest first.

    Looks only at what came since the request before (``memory["turns"]``); a list made anew is looked at whole.
    """
    memory = view.state.memory
    turns, seen, in_turn = memory.get("turns", ([], 0, False))
    last_id = memory.get("turns_last", "")
    if seen > len(view.items) or (seen and view.items[seen - 1].id != last_id):
        turns, seen, in_turn = [], 0, False
    for position in range(seen, len(view.items)):
        message = view.items[position].message
        if message.typed or message.summary:
            in_turn = False
        elif any(block.kind is Kind.THINKING for block in message.blocks):
            if not in_turn:
                turns.append([])
                in_turn = True
            turns[-1].append(position)
    memory["turns"], memory["turns_last"] = (turns, len(view.items), in_turn), view.items[-1].id if view.items else ""
    return [list(turn) for turn in turns]


def gate(params: Params, view: View) -> Gate:
    """Fires when thinking stands in more turns than are kept."""
    if not view.model.keeps_thinking:
        return Gate(False, "this model's API drops earlier thinking itself; the recording shows it", 0, 1, ">", "turns")
    standing = [turn for turn in thinking_turns(view) if any(_thinks(view.items[p]) for p in turn)]
    if params.keep is None:
        return Gate(False, "this model keeps all thinking by default", len(standing), len(standing), ">", "turns")
    return Gate(len(standing) > params.keep, "turns with thinking", len(standing), params.keep, ">", "turns")


def _thinks(item: Item) -> bool:
    return any(block.kind is Kind.THINKING for block in item.message.blocks)


def edit(params: Params, view: View) -> dict[int, Item]:
    """Thinking of all but the newest ``keep`` turns goes, in place."""
    keep = params.keep or 1
    stale = [position for turn in thinking_turns(view)[:-keep] for position in turn]
    patch = {position: drop_thinking(view, view.items[position]) for position in stale}
    return {position: item for position, item in patch.items() if item is not view.items[position]}


POLICY = Policy(
    name="anthropic_clear_thinking",
    label="Anthropic API: clear thinking",
    source="Anthropic context editing, clear_thinking_20251015; anthropic-sdk-python beta types",
    help="Clears the thinking of all but the newest turns, on models that would keep it; no model call.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("clear_thinking", "Clear thinking", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="keep",
    tier="golden",
)
