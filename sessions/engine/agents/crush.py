"""Crush: its database, and when it restarts a conversation at a summary (formats 48, policies 11.20)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="crush", label="Crush", formats=("crush",), policies=("crush",), places={"crush": Place("<project>/.crush")}
)
