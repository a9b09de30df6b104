"""Kimi Code: its transcripts and where it keeps them (formats 40)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="kimi_code",
    label="Kimi Code",
    formats=("kimi_code",),
    places={"kimi_code": Place("~/.kimi-code/sessions", ("*/*/agents/*/wire.jsonl",))},
)
