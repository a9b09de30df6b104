"""The sliding window of the context-compression skill: no summary, the oldest messages go (seeds 3.1, 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.params import param
from sessions.engine.policies._compression import Compression, gate
from sessions.engine.policies._conditions import capacity
from sessions.engine.policies._lists import apart
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY, Policy, pair_safe_cut

if TYPE_CHECKING:
    from sessions.engine.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params(Compression):
    """Trigger, target and what is always kept; defaults of the skill."""

    target: int = param(
        50, label="Target after", help="Oldest messages go until this share of the window is left", unit="%",
        low=0, high=100,
    )  # fmt: skip
    max_messages: int | None = param(
        None, label="Keep at most", help="Keep just the last N messages (the skill suggests 20); none: no such cap",
        unit="messages", low=1, high=10_000, optional=True,
    )  # fmt: skip


def edit(params: Params, view: View) -> list[Item]:
    """Drop the oldest until the target is met or only the last ``keep_last`` are left; never split a tool pair."""
    system, rest = apart(view.items)
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
    tier="founding",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)
