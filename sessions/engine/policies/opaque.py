"""Opaque compression: one dense machine string stands for everything before the last messages (seeds 3.1)."""

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
    """All but the last messages become one string, an earlier string too."""
    return summarised(params, view, "opaque")


POLICY = Policy(
    name="opaque",
    label="Opaque compression",
    source="context-compression skill: opaque compression, 95 to 99 % removed, neither interpretable nor verifiable",
    help="Replaces everything before the last messages by one dense string that no reader can check.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    threshold_param="trigger",
    tier="founding",
)
