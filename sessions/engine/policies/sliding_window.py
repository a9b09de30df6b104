"""The sliding window of the context-compression skill: no summary, the oldest messages go (seeds 3.1, 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import param, usage_param
from sessions.engine.policy import Gate, Item, Policy, View, pair_safe_cut


@dataclass(frozen=True, slots=True)
class Params:
    """Trigger, target and what is always kept; defaults of the skill."""

    trigger: int = param(
        70, label="Trigger, at or above", help="Share of the window at which the oldest messages go", unit="%",
        group="when", low=1, high=100,
    )  # fmt: skip
    min_messages: int = param(
        10, label="Messages since the last one", help="At least this many new messages before the next compaction",
        unit="messages", group="when", low=0, high=1_000,
    )  # fmt: skip
    capacity: str = param(
        "static",
        label="Share of",
        help="The model's whole window, or the effective one: the window without the system overhead",
        group="when",
        choices=("static", "effective"),
    )
    target: int = param(
        50, label="Target after", help="Oldest messages go until this share of the window is left", unit="%",
        low=0, high=100,
    )  # fmt: skip
    keep_last: int = param(
        5, label="Keep last messages", help="Always kept, whatever they weigh", unit="messages", low=1, high=1_000
    )
    max_messages: int | None = param(
        None, label="Keep at most", help="Keep just the last N messages (the skill suggests 20); none: no such cap",
        unit="messages", low=1, high=10_000, optional=True,
    )  # fmt: skip
    usage: str = usage_param()


def capacity(params: Params, view: View) -> int:
    """Tokens that count as 100 %: the window, or the window without overhead (never below 1)."""
    return max(1, view.window - view.overhead) if params.capacity == "effective" else view.window


def used(params: Params, view: View) -> int:
    """Tokens in use: last usage and its reply plus what came after by the estimator; without usage, all by it.

    The overhead is part of the static window and taken off both sides for the effective one.
    """
    overhead = view.overhead if params.capacity == "effective" else 0
    if view.usage is None:
        return view.size + view.overhead - overhead
    return max(0, view.usage.input + view.usage.output + view.usage.tail - overhead)


def gate(params: Params, view: View) -> Gate:
    """In use ≥ trigger % of the capacity, and at least ``min_messages`` new messages since the last compaction."""
    measure = used(params, view)
    limit = capacity(params, view) * params.trigger // 100
    ready = view.state.messages_since_event >= params.min_messages
    reason = f"{params.trigger} % of the {params.capacity} window"
    if measure >= limit and not ready:
        reason += f"; waiting for {params.min_messages} new messages"
    return Gate(measure >= limit and ready, reason, measure, limit, ">=", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """Drop the oldest until the target is met or only the last ``keep_last`` are left; never split a tool pair."""
    system = [item for item in view.items if item.message.role == "system"]
    rest = [item for item in view.items if item.message.role != "system"]
    latest = max(0, len(rest) - params.keep_last)
    goal = capacity(params, view) * params.target // 100
    excess = view.context - (view.overhead if params.capacity == "effective" else 0) - goal
    cut = 0
    while cut < latest and excess > 0:
        excess -= rest[cut].tokens
        cut += 1
    if params.max_messages is not None:
        cut = min(latest, max(cut, len(rest) - params.max_messages))
    return [*system, *rest[pair_safe_cut(rest, cut, latest) :]]


POLICY = Policy(
    name="sliding_window",
    label="Sliding window",
    source="context-compression skill: sliding window; trigger 70 %, target 50 %, last 5 kept, 10 new messages",
    help="Drops the oldest messages, without a summary, until the target is met.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    summary_calls=False,
    threshold_param="trigger",
)
