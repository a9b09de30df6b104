"""Grok CLI: its transcripts and where it keeps them (formats 41)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="grok_cli",
    label="Grok CLI",
    formats=("grok_cli",),
    places={"grok_cli": Place("~/.grok/sessions", ("*/*/chat_history.jsonl",))},
)
