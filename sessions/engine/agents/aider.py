"""aider: it summarises a chat history that is over its own limit (policies 11.5)."""

from __future__ import annotations

from sessions.engine.agents.agent import Agent, PolicyFacts

FACTS = PolicyFacts(counts="tokens of its chat history")

AGENT = Agent(name="aider", label="aider", formats=("aider",), policies=("aider",), facts={"aider": FACTS})
