"""Anchored iterative summarisation: only what is new is summarised and merged into the anchored summary (seeds 3.1).

The summary stands first, the last five messages stay raw; earlier content is never summarised a second time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._compression import Compression, gate, split
from sessions.engine.policy import Policy

if TYPE_CHECKING:
    from sessions.engine.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params(Compression):
    """The skill's trigger and keep-window."""


def edit(params: Compression, view: View) -> list[Item]:
    """What is neither the summary nor among the last messages is merged into the summary."""
    system, old, tail = split(view.items, params.keep_last)
    anchor = {item.id for item in view.state.last_summary}
    new = [item for item in old if item.id not in anchor]
    if not new:
        return list(view.items)
    return [*system, *view.summarize(new, mode="merge"), *tail]


POLICY = Policy(
    name="anchored_iterative",
    label="Anchored iterative",
    source="context-compression skill: anchored iterative summarisation (recommended); trigger 70 %, last 5 kept",
    help="Summarises only what is new and merges it into one anchored summary; the last messages stay as they are.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    threshold_param="trigger",
    tier="founding",
)
