"""opencode's prune: old tool outputs are cleared when a turn ends (policies 8.2).

anomalyco/opencode ``packages/opencode/src/session/compaction.ts`` (``PRUNE_PROTECT``, ``PRUNE_MINIMUM``).  Opt-in now,
on by default earlier.  Messages are walked newest to oldest; before the two newest turns, the outputs of completed
tools are added up; once the sum exceeds 40,000 tokens each one, the crossing one included, is marked, until an
assistant summary or an output already pruned; more than 20,000 marked tokens are pruned.

It runs when a turn ends, so a replay asks when the next prompt has been typed; that prompt is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._lists import ResultPlace, call_names, results_of
from sessions.engine.policies._looked import added_up
from sessions.engine.policies.edits import clear_results, result_chars
from sessions.engine.policies.params import Told, param, when
from sessions.engine.policies.policy import Gate, Item, Layer, Policy, View

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Block

MARKER = "[Old tool result content cleared]"


@dataclass(frozen=True, slots=True)
class Params(Told):
    """What is protected and the least that is worth it."""

    protect: int = when(40_000, "Protected", "Newest tool outputs up to this stay", "tokens", 0, 1_000_000, 1_000)
    minimum: int = when(
        20_000, "Minimum, exceeded", "Prunes only when more than this is marked", "tokens", 0, 1_000_000, 1_000
    )
    turns: int = param(2, "Turns skipped", "Newest turns whose outputs are not looked at", "turns", 0, 100)
    protected_tools: str = param("skill", "Never prune", "Names of tools", words=True)


def gate(params: Params, view: View) -> Gate:
    """At a turn's end: tokens of the marked outputs > the minimum."""
    if not view.newest_typed:
        return Gate(False, "asked when a turn ends", 0, params.minimum, ">", "tokens")
    # All outputs since the list was made, pruned ones too.
    outputs = added_up(view, "outputs", lambda item: sum(_size(item, block) for block in results_of(item)))
    found = marked(params, view) if outputs > params.protect else []
    size = sum(_size(view.items[place.position], place.block) for place in found)
    return Gate(size > params.minimum, "marked tool outputs", size, params.minimum, ">", "tokens")


def marked(params: Params, view: View) -> list[ResultPlace]:
    """The outputs to prune, newest first."""
    names = call_names(view)
    protected = set(params.protected_tools.split())
    end = len(view.items) - 1
    pruned: set[str] = view.state.memory.get("pruned", set())
    n_turns, total = 0, 0
    found: list[ResultPlace] = []
    for position in reversed(range(end)):
        item = view.items[position]
        n_turns += item.message.typed
        if n_turns < params.turns:
            continue
        if item.message.summary:
            break
        for block in reversed(list(results_of(item))):
            if names.get(block.call_id) in protected:
                continue
            if item.edited and block.call_id in pruned:
                return found
            total += _size(item, block)
            if total > params.protect:
                found.append(ResultPlace(position, block))
    return found


def _size(item: Item, block: Block) -> int:
    """Tokens of an output in the gate's unit; of one beside others in its message by its characters / 4."""
    if len(item.message.blocks) == 1:
        return item.size
    return (2 * result_chars(block) + 4) // 8


def edit(params: Params, view: View) -> dict[int, Item]:
    """Marked outputs become a marker, their attachments go."""
    patch: dict[int, Item] = {}
    for found in marked(params, view):
        item = patch.get(found.position, view.items[found.position])
        patch[found.position] = clear_results(view, item, {found.block.call_id}, MARKER)
        view.state.memory.setdefault("pruned", set()).add(found.block.call_id)
    return patch


POLICY = Policy(
    name="opencode_prune", label="opencode prune",
    source="anomalyco/opencode packages/opencode/src/session/compaction.ts (prune)",
    help="When a turn ends, clears tool outputs beyond the newest 40,000 tokens if more than 20,000 would go.",
    estimator="opencode",
    params=Params, layers=(Layer("prune", "Prune", gate, edit, cheap=True),),
    summary_calls=False, threshold_param="minimum", tier="golden",
)  # fmt: skip
