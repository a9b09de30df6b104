"""Every default that a source states in figures; "ours" are stated by the policy's own words."""

from __future__ import annotations

import pytest

from sessions.engine.base import registry
from sessions.engine.policies.params import build

WRITE_UP = {
    "results_limit": 200_000, "large_result": 30_000, "preview": 2_000, "max_messages": 50, "head": 3,
    "keep_results": 3, "min_chars": 120, "summary_cap": 20_000, "reactive_keep": 5, "breaker": 3,
}  # fmt: skip
"""seeds 1.2."""
ANCHORED = {"trigger": 70, "min_messages": 10, "keep_last": 5}
"""seeds 3.2."""
PUT_BACK = {
    "max_files": 5, "file_tokens": 5_000, "files_budget": 50_000, "skill_tokens": 5_000, "skills_budget": 25_000,
}  # fmt: skip
"""policies 4.9."""
PLAIN = {"min_messages": 0, "keep_first": 0, "min_chars": 120, "breaker": 3}
"""What a preset leaves as it is: ours."""
OTHERS = {
    "ag2_history_limiter": {"max_messages": 20},
    "ag2_token_limiter": {"max_tokens_per_message": 4_000, "min_tokens": 0},
    "autogen_buffered": {"buffer_size": 10},
    "autogen_head_tail": {"head_size": 5, "tail_size": 20},
    "importance_sampling": {
        "path_score": 2, "decision_score": 3, "error_score": 3, "acknowledgement_score": -2, "redundancy_score": -2,
    },
    "swe_agent_last_n": {"n": 5, "polling": 1},
    "cline_basic": {"notice_tokens": 300},
    "goose_tool_pairs": {"line_tokens": 40},
    "deepagents_summarization": {"max_output": 0},
}  # fmt: skip
"""Where the original has no default, or a figure is not established: ours, or of its own configurations."""
STATED = {
    "layered_v1": {**WRITE_UP, "buffer": 13_000},
    "layered_v2": {**WRITE_UP, "limit": 50_000, "target": 80, "fit_preview": 1_000},
    "buzz_handoff": {
        "max_output": 32_768, "max_history_bytes": 16_777_216, "image_charge": 16_384, "max_handoffs": 10,
    },
    "buzz_truncate": {"max_history_bytes": 16_777_216},
    "buzz_recovery": {"attempts": 3, "floor": 4_096, "image_charge": 16_384},
    "anchored_iterative": ANCHORED,
    "opaque": ANCHORED,
    "regenerative_full": ANCHORED,
    "sliding_window": {**ANCHORED, "target": 50, "max_messages": None},
    "importance_sampling": {**ANCHORED, "keep_best": 10},
    "hybrid": {"max_messages": 20, "keep_last": 5},
    "claude_code": {
        **PUT_BACK, "output_reserve_cap": 20_000, "buffer": 13_000, "warn_buffer": 20_000, "blocked_buffer": 3_000,
        "micro_gap": 60, "micro_saved": 20_000, "micro_keep": 5, "preview_chars": 2_000, "notes_first": 10_000,
        "notes_growth": 5_000, "notes_calls": 3, "notes_tokens": 12_000, "keep_tokens": 10_000, "keep_messages": 5,
        "keep_most": 40_000, "breaker": 3, "rapid_refills": 3, "rapid_turns": 3,
    },
    "claude_code_partial": {**PUT_BACK, "turns": 2},
    "anthropic_clear_tool_uses": {"trigger": 100_000, "keep": 3},
    "anthropic_compact": {"trigger": 150_000, "keep_last": 5},
    "anthropic_sdk_compaction": {"context_token_threshold": 100_000},
    "anthropic_on_demand": {"compact_at": 150_000, "keep_turns": 0},
    "anthropic_background": {"start_at": 150_000, "arrives_after": 1},
    "codex_local": {"user_message_tokens": 20_000},
    "codex_remote": {"retained_tokens": 64_000},
    "openai_compact_threshold": {"compact_threshold": 200_000},
    "gemini_compression": {"threshold": 0.5, "preserve": 0.3, "response_budget": 50_000, "response_chars": 40_000},
    "gemini_masking": {"protect": 50_000, "least": 30_000},
    "opencode_prune": {"protect": 40_000, "minimum": 20_000, "turns": 2},
    "opencode_compaction": {"tail_turns": 2, "recent_cap": 15_000},
    "opencode_compaction_v2": {"buffer": 20_000, "keep_tokens": 15_000, "tool_output_chars": 2_000},
    "openhands_masking": {"attention_window": 100},
    "openhands_recent": {"keep_first": 1, "max_events": 100},
    "openhands_amortized": {"max_size": 100, "keep_first": 0},
    "openhands_llm_summarizing": {"max_size": 120, "keep_first": 4},
    "openhands_sdk": {"max_size": 80, "keep_first": 4, "minimum_progress": 0.1},
    "langchain_summarization": {"keep_messages": 20, "summary_input": 4_000, "trigger_fraction": 0.8},
    "langchain_clear_tool_uses": {"trigger": 100_000, "keep": 3, "clear_at_least": 0},
    "deepagents_summarization": {
        "trigger": 0.85, "keep": 0.10, "max_argument": 2_000, "evict_result": 20_000, "evict_prompt": 50_000,
        "preview": 1_000,
    },
    "pi": {"reserve": 16_384, "keep_recent": 20_000},
    "cline_agentic": {"trigger": 90, "target": 70, "preserve_recent_tokens": 20_000, "summary_tokens": 4_096},
    "cline_basic": {"trigger": 90, "target": 70},
    "cline_classic": {"enough": 30},
    "roo_code": {"condense_percent": 100, "buffer_percent": 10, "hide_percent": 50},
    "aider": {"share": 16, "least": 1_024, "most": 8_192, "min_split": 4},
    "summarize_every_n_turns": {"n": 21, "keep_last": 10},
    "goose": {"threshold": 0.8},
    "goose_tool_pairs": {"threshold": 0.8, "batch": 10},
    "letta": {"trigger": 90, "free": 30, "step": 10, "summary_chars": 50_000},
    "inspect_edit": {"threshold": 0.9, "keep_thinking_turns": 1, "keep_tool_uses": 3},
    "inspect_trim": {"threshold": 0.9, "preserve": 0.8},
    "inspect_summary": {"threshold": 0.9},
    "agent_framework": {"eviction": 0.5, "truncation": 0.8, "keep_last": 4},
    "adk_compaction": {"retention": 20, "interval": 3, "overlap": 1},
    "copilot_chat": {"share": 85},
    "browser_use": {"steps": 25, "chars": 40_000, "keep_last": 6, "summary_chars": 6_000},
    "claw_code": {"preserve": 4, "tokens": 10_000},
    "kimi": {"share": 85.0, "reserve": 50_000, "keep_last": 2, "keep_first": 0},
    "crush": {"large_window": 200_000, "large_left": 20_000, "small_share": 20},
    "smolagents_screenshots": {"share": None, "messages": 1, "keep_last": 2},
    "mini_swe_agent_summary": {"share": None, "tokens": 28_000, "keep_first": 1, "keep_last": 2},
    "parametric": {"share": 80.0, "keep_last": 10, **PLAIN},
    "batched_masking": {"share": 25.0, "keep_last": 10, "reclaim": 20, **PLAIN},
    "cold_cache": {"share": 40.0, "idle_minutes": 5, "combine": "all", "keep_last": 10, **PLAIN},
    "effective_window": {"share": 70.0, "capacity": "effective", "keep_last": 10, **PLAIN},
    "head_and_tail": {"share": 80.0, "keep_first": 3, "keep_last": 20},
    "no_old_thinking": {"share": 50.0, "keep_last": 3},
    "turn_summaries": {"share": None, "turns": 10, "keep_last": 2, **PLAIN},
}  # fmt: skip


@pytest.mark.parametrize("policy", STATED)
def test_every_number_is_the_source_s(policy):
    """seeds 1.2, 2.2 to 2.6, 3.1, 3.2; policies 4 to 11; presets of ours as their help says."""
    given = build(registry.get("policies", policy).params, {})
    assert {name: getattr(given, name) for name in STATED[policy]} == STATED[policy]


@pytest.mark.parametrize("policy", OTHERS)
def test_every_number_of_ours_is_as_its_help_says(policy):
    given = build(registry.get("policies", policy).params, {})
    assert {name: getattr(given, name) for name in OTHERS[policy]} == OTHERS[policy]


NO_CALL = {
    "none", "buzz_truncate", "sliding_window", "importance_sampling", "anthropic_clear_tool_uses",
    "anthropic_clear_thinking", "gemini_masking", "opencode_prune", "openhands_masking", "openhands_recent",
    "openhands_amortized", "openhands_window", "langchain_trim", "langchain_clear_tool_uses", "cline_basic",
    "cline_classic", "swe_agent_last_n", "inspect_edit", "inspect_trim", "autogen_buffered", "autogen_head_tail",
    "autogen_token_limited", "ag2_history_limiter", "ag2_token_limiter", "agent_framework", "claw_code",
    "batched_masking", "no_old_thinking", "smolagents_screenshots", "head_and_tail", "goose_tool_pairs",
}  # fmt: skip


def test_only_these_call_no_model():
    """They clear, mask, cut or drop; all others ask a model for a summary (seeds 2.5, 3.1; policies 5 to 11).

    goose's calls for a line are not billed: its own words say so.
    """
    assert {name for name, policy in registry.plugins("policies").items() if not policy.summary_calls} == NO_CALL
