"""Factory Droid: its transcripts and where it keeps them (formats 26)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="factory_droid",
    label="Factory Droid",
    formats=("factory_droid",),
    places={"factory_droid": Place("~/.factory/sessions", ("*/*.jsonl",))},
)
