"""Hermes: its transcripts and where it keeps them (formats 50)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="hermes",
    label="Hermes",
    formats=("hermes",),
    places={"hermes": Place("~/.hermes", ("state.db", "sessions/*.json*"))},
)
