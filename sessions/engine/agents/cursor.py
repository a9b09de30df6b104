"""Cursor: its transcripts and where it keeps them (formats 24)."""

from __future__ import annotations

from sessions.engine.agent import Agent

AGENT = Agent(name="cursor", label="Cursor", formats=("cursor",), folder="~/.cursor/projects")
