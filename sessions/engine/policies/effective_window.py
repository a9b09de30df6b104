"""A share of the effective window: what system prompt and tools leave for messages (seeds 3.2)."""

from __future__ import annotations

from sessions.engine.policies._parametric import preset

POLICY = preset(
    "effective_window",
    "70 % of the effective window",
    "context-compression skill, effective window: the window without system prompt and tools",
    "Summarises at 70 % of what the window leaves for messages; ten messages stay.",
    "tiktoken_o200k",
    share=70.0,
    capacity="effective",
    keep_last=10,
)
