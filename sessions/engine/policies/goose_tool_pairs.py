"""goose's summaries of old tool pairs: the oldest ten become one line each (policies 11.8).

block/goose ``crates/goose/src/context_mgmt/mod.rs``; gated in some versions.  The cutoff follows the limit:
``clamp(int(3·floor(0.8·limit)/20,000), 10, 500)``.  Pairs of the current turn are not eligible; when the eligible ones
exceed cutoff + batch, the oldest ``batch`` are replaced, call and response, by one line each.

Each line is a small model call of its own there; those calls are not billed here, and what a line weighs is a
parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import param, usage_param, when
from sessions.engine.policies._lists import prompts
from sessions.engine.policy import Draft, Gate, Item, Layer, Policy, View
from sessions.engine.types import Kind


@dataclass(frozen=True, slots=True)
class Params:
    """How the cutoff follows the limit, and the batch."""

    threshold: float = when(
        0.8, "Share of the limit", "The share that auto-compact fires at", "of the window", 0, 1, 0.05
    )
    cutoff: int | None = when(
        None, "Pairs kept", "None: three for each 20,000 tokens of the share, 10 to 500", "pairs", 0, 10_000
    )
    batch: int = when(10, "Pairs at a time", "", "pairs", 1, 1_000)
    line_tokens: int = param(40, "A line weighs", "Not established", "tokens", 0, 10_000)
    usage: str = usage_param()


def cutoff(params: Params, window: int) -> int:
    """``clamp(int(3·floor(0.8·limit)/20,000), 10, 500)`` pairs."""
    if params.cutoff is not None:
        return params.cutoff
    return max(10, min(500, 3 * int(params.threshold * window) // 20_000))


def gate(params: Params, view: View) -> Gate:
    """Eligible pairs > cutoff + batch; counted anew when a turn starts or the list changed."""
    limit = cutoff(params, view.window) + params.batch
    mark = (view.n_turns, view.state.n_events)
    memory = view.state.memory
    if memory.get("mark") != mark or view.state.requests_since_event <= 1:
        memory["mark"], memory["eligible"] = mark, len(_pairs(view))
    return Gate(memory["eligible"] > limit, "pairs before this turn", memory["eligible"], limit, ">", "pairs")


def _pairs(view: View) -> list[str]:
    """The eligible pairs, found once for a list and a turn."""
    found: list[str]
    items, n_turns, found = view.state.memory.get("pairs", (None, 0, []))
    if items is not view.items or n_turns != view.n_turns:
        found = eligible(view.items)
        view.state.memory["pairs"] = (view.items, view.n_turns, found)
    return found


def eligible(items: list[Item]) -> list[str]:
    """Call ids of the answered calls before the current turn, oldest first."""
    end = (prompts(items) or [0])[-1]
    calls: list[str] = []
    answered: set[str] = set()
    for item in items[:end]:
        for block in item.message.blocks:
            if block.kind is Kind.TOOL_USE:
                calls.append(block.call_id)
            elif block.kind is Kind.TOOL_RESULT:
                answered.add(block.call_id)
    return [call for call in calls if call in answered]


def edit(params: Params, view: View) -> list[Item]:
    """The oldest pairs go; a line stands where each call stood."""
    chosen = _pairs(view)[: params.batch]
    gone = set(chosen)
    after: list[Item] = []
    for item in view.items:
        mine = [b for b in item.message.blocks if b.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT) and b.call_id in gone]
        if not mine:
            after.append(item)
            continue
        n_lines = sum(block.kind is Kind.TOOL_USE for block in mine)
        after += [view.tools.draft(Draft("[tool call, in one line]", params.line_tokens)) for _ in range(n_lines)]
        others = [b for b in item.message.blocks if b not in mine]
        if any(block.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT) for block in others):
            after.append(view.tools.rewrite(item, others))
    return after


POLICY = Policy(
    name="goose_tool_pairs",
    label="goose tool pairs",
    source="block/goose crates/goose/src/context_mgmt/mod.rs (tool pair summarization)",
    help="Replaces the oldest ten tool calls and responses by one line each once too many stand.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("tool_pairs", "Tool pairs", gate, edit, cheap=True),),
    summary_calls=False,
    threshold_param="cutoff",
    tier="golden",
)
