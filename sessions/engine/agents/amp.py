"""Amp: its transcripts and where it keeps them (formats 42)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="amp", label="Amp", formats=("amp",), places={"amp": Place("~/.local/share/amp/threads", ("T-*.json",))}
)
