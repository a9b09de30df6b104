"""Hybrid: an anchored summary of all but the last few messages, once there are more than twenty (seeds 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.params import param
from sessions.engine.policies._compression import split
from sessions.engine.policy import Gate, Policy

if TYPE_CHECKING:
    from sessions.engine.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params:
    """When there are enough messages, and how many stay raw."""

    max_messages: int = param(
        20, label="More than", help="Messages in the list, system messages not counted", unit="messages",
        group="when", low=1, high=10_000,
    )  # fmt: skip
    keep_last: int = param(5, label="Window", help="Last messages kept as they are", unit="messages", low=1, high=1_000)


def gate(params: Params, view: View) -> Gate:
    """More messages than ``max_messages``."""
    n = sum(item.message.role != "system" for item in view.items)
    return Gate(n > params.max_messages, "messages in the list", n, params.max_messages, ">", "messages")


def edit(params: Params, view: View) -> list[Item]:
    """What is neither the summary nor in the window is merged into the summary."""
    system, old, tail = split(view.items, params.keep_last)
    anchor = {item.id for item in view.state.last_summary}
    new = [item for item in old if item.id not in anchor]
    if not new:
        return list(view.items)
    return [*system, *view.summarize(new, mode="merge"), *tail]


POLICY = Policy(
    name="hybrid",
    label="Hybrid: summary and window",
    source="context-compression skill: hybrid, anchored summary of all but the last 5 once there are more than 20",
    help="Keeps a window of raw messages behind an anchored summary of all others, by message count.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    threshold_param="max_messages",
    tier="founding",
)
