"""Antigravity: its transcripts and where it keeps them (formats 25)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="antigravity",
    label="Antigravity",
    formats=("antigravity",),
    places={"antigravity": Place("~/.gemini/antigravity", ("brain/*/.system_generated/logs/transcript.jsonl",))},
)
