"""Which layers of which policies are cheap, drawn, and read the cache: a table of all."""

from __future__ import annotations

import pytest

from sessions.engine.base import registry

CHEAP = {
    "agent_framework": "collapse truncate", "ag2_history_limiter": "ag2_history_limiter",
    "ag2_token_limiter": "ag2_token_limiter", "anthropic_clear_thinking": "clear_thinking",
    "anthropic_clear_tool_uses": "clear_tool_uses", "autogen_buffered": "autogen_buffered",
    "autogen_head_tail": "autogen_head_tail", "autogen_token_limited": "autogen_token_limited",
    "buzz_handoff": "truncate_history", "buzz_truncate": "truncate_history", "claude_code": "budget micro",
    "cline_basic": "basic", "cline_classic": "classic", "deepagents_summarization": "evict arguments",
    "gemini_masking": "gemini_masking", "goose_tool_pairs": "tool_pairs",
    "langchain_clear_tool_uses": "langchain_clear_tool_uses", "langchain_trim": "langchain_trim",
    "layered_v1": "tool_result_budget snip micro reactive_compact",
    "layered_v2": "tool_result_budget snip micro fit reactive_compact", "opencode_prune": "prune",
    "openhands_masking": "openhands_masking", "openhands_recent": "openhands_recent",
    "swe_agent_last_n": "swe_agent_last_n",
}  # fmt: skip
"""Layers that are asked at every request and whose failure is none: what trims what is sent."""
DRAWN = {
    "buzz_handoff": "buzz_handoff",
    "claude_code": "auto",
    "layered_v1": "auto_compact",
    "layered_v2": "auto_compact",
}
"""Where not the last layer's trigger is the policy's own."""
PREFIX = {
    "anthropic_background", "anthropic_compact", "anthropic_on_demand", "anthropic_sdk_compaction", "claude_code",
    "claude_code_partial", "codex_local", "codex_remote", "copilot_chat", "layered_v1", "layered_v2",
    "openai_compact_threshold",
}  # fmt: skip
"""Their summary call is the conversation with one more message: it reads the cache (policies 4 to 6, 11)."""


@pytest.mark.parametrize("name", sorted(registry.plugins("policies")))
def test_layers(name):
    policy = registry.get("policies", name)
    assert " ".join(layer.name for layer in policy.pipeline if layer.cheap) == CHEAP.get(name, "")
    assert policy.drawn.name == DRAWN.get(name, policy.pipeline[-1].name)
    assert policy.shares_prefix is (name in PREFIX)
