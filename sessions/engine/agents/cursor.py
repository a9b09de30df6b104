"""Cursor: its transcripts and where it keeps them (formats 24 and 49)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="cursor",
    label="Cursor",
    formats=("cursor", "cursor_db"),
    places={
        "cursor": Place("~/.cursor/projects", ("*/agent-transcripts/*/*.jsonl",)),
        "cursor_db": Place("~/.config/Cursor/User/globalStorage"),
    },
)
