"""Letta: an estimate of the list over nine tenths of the window (policies 11.9, formats 62)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Trigger

AGENT = Agent(
    name="letta", label="Letta", rank=10, formats=("letta",), policies=("letta",),
    triggers=(
        Trigger(
            "letta", "Letta", "policies 11.9", "letta",
            note="Counts the messages; the system prompt and the tools are not in its estimate here.",
        ),
    ),
)  # fmt: skip
