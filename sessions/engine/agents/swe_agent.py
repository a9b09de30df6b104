"""SWE-agent: all but the newest observations are elided (policies 11.6)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent

AGENT = Agent(name="swe_agent", label="SWE-agent", formats=("swe_agent",), policies=("swe_agent_last_n",))
