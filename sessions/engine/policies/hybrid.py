"""Hybrid: an anchored summary of all but the last few messages, once there are more than twenty (seeds 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.params import param
from sessions.engine.policies._compression import merged
from sessions.engine.policies._looked import n_conversation
from sessions.engine.policy import Gate, Policy

if TYPE_CHECKING:
    from sessions.engine.policy import View


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
    n = n_conversation(view)
    return Gate(n > params.max_messages, "messages in the list", n, params.max_messages, ">", "messages")


POLICY = Policy(
    name="hybrid",
    label="Hybrid: summary and window",
    source="context-compression skill: hybrid, anchored summary of all but the last 5 once there are more than 20",
    help="Keeps a window of raw messages behind an anchored summary of all others, by message count.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=merged,
    threshold_param="max_messages",
    tier="founding",
)
