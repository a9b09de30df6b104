"""Anchored iterative summarisation: only what is new is summarised and merged into the anchored summary (seeds 3.1).

The summary stands first, the last five messages stay raw; earlier content is never summarised a second time.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._compression import Compression, gate, merged
from sessions.engine.policy import Policy


@dataclass(frozen=True, slots=True)
class Params(Compression):
    """The skill's trigger and keep-window."""


POLICY = Policy(
    name="anchored_iterative",
    label="Anchored iterative",
    source="context-compression skill: anchored iterative summarisation (recommended); trigger 70 %, last 5 kept",
    help="Summarises only what is new and merges it into one anchored summary; the last messages stay as they are.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=merged,
    threshold_param="trigger",
    tier="founding",
)
