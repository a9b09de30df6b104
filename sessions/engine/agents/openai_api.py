"""OpenAI API: compaction on the provider's side, which leaves an opaque item (policies 6.4)."""

from __future__ import annotations

from sessions.engine.agent import Agent

AGENT = Agent(
    name="openai_api", label="OpenAI API", formats=("openai_responses",), policies=("codex_remote",),
    opaque_policy="codex_remote",
)  # fmt: skip
