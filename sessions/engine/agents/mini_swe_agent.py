"""mini-SWE-agent: a summary at a number of prompt tokens (policies 11.21)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent

AGENT = Agent(
    name="mini_swe_agent", label="mini-SWE-agent", formats=("mini_swe_agent",), policies=("mini_swe_agent_summary",)
)
