"""learn-claude-code: it saves its transcript and names the file in the summary (seeds 1, formats 15)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent

AGENT = Agent(
    name="learn_claude_code", label="learn-claude-code", formats=("role_content",), api="anthropic", is_chained=True
)
