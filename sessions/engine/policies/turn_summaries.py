"""Summarises by turns: after ten typed prompts, at the start of a turn, all but the last two turns."""

from __future__ import annotations

from sessions.engine.policies._parametric import preset

POLICY = preset(
    "turn_summaries",
    "Summary every ten turns",
    "ctxweb: by turns, at turn ends only",
    "Summarises all but the last two turns after every ten typed prompts.",
    "tiktoken_o200k",
    share=None,
    turns=10,
    moment="turn-end",
    keep_last=2,
    keep_unit="turns",
)
