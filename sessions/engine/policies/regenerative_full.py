"""Regenerative full summary: each time a fresh summary of everything in the context (seeds 3.1).

The last summary is not extended: it is read as one more message, so each round may lose more (the telephone game).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._compression import Compression, gate, summarised
from sessions.engine.policy import Policy

if TYPE_CHECKING:
    from sessions.engine.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params(Compression):
    """The skill's trigger and keep-window."""


def edit(params: Params, view: View) -> list[Item]:
    """All but the last messages, the last summary among them, become a new summary."""
    return summarised(params, view, "fresh")


POLICY = Policy(
    name="regenerative_full",
    label="Regenerative full summary",
    source="context-compression skill: regenerative full summary, 70 to 85 % removed, partly verifiable",
    help="Writes a fresh summary of everything each time; what one summary leaves out, the next cannot know.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    threshold_param="trigger",
    tier="founding",
)
