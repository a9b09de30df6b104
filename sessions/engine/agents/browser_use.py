"""Browser Use: a memory of the older steps (policies 11.16)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent

AGENT = Agent(name="browser_use", label="Browser Use", formats=("browser_use",), policies=("browser_use",))
