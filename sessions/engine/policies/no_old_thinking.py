"""Clears thinking alone: what the model thought more than three replies ago, once half of the window is filled."""

from __future__ import annotations

from sessions.engine.policies._parametric import preset

POLICY = preset(
    "no_old_thinking",
    "Old thinking cleared",
    "ctxweb: thinking of all but the last three replies goes at half the window",
    "Clears the thinking of older replies and nothing else.",
    "tiktoken_o200k",
    share=50.0,
    edit="clear thinking",
    keep_last=3,
    keep_unit="replies",
)
