"""Qwen Code: its transcripts and where it keeps them (formats 22)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, Place

AGENT = Agent(
    name="qwen_code",
    label="Qwen Code",
    formats=("qwen_code",),
    places={"qwen_code": Place("~/.qwen/projects", ("*/chats/*.jsonl",))},
)
