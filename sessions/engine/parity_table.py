"""Which policies a recording is compared with, and which settings of theirs real clients have had: data of parity."""

from __future__ import annotations

from typing import NamedTuple


class Setting(NamedTuple):
    """Parameters that some client or user is known to have had, and what to call them."""

    params: dict[str, object]
    words: str


POLICIES: dict[str, tuple[str, ...]] = {
    "claude_code": ("claude_code",),
    "codex": ("codex_local", "codex_remote"),
    "openai_responses": ("codex_remote",),
    "anthropic_messages": ("anthropic_compact",),
    "opencode": ("opencode_compaction", "opencode_compaction_v2"),
    "pi": ("pi",),
    "gemini_cli": ("gemini_compression",),
    "openhands": ("openhands_llm_summarizing", "openhands_sdk"),
    "goose": ("goose",),
    "cline": ("cline_agentic", "cline_classic", "roo_code"),
    "swe_agent": ("swe_agent_last_n",),
    "langchain": ("langchain_summarization",),
    "inspect": ("inspect_summary", "inspect_trim"),
    "browser_use": ("browser_use",),
    "mini_swe_agent": ("mini_swe_agent_summary",),
}
"""Policies by the format whose client acts so; the first that is registered is compared unless one is named.

A Codex recording whose compaction left an opaque item is compared with the remote one.
"""

REMOTE = "codex_remote"

SETTINGS: dict[str, tuple[Setting, ...]] = {
    "claude_code": (
        Setting({}, "the defaults: an output reserve capped at 20,000 tokens"),
        Setting({"output_reserve_cap": None, "max_output": 32_000}, "an output reserve of 32,000 tokens"),
        Setting({"output_reserve_cap": None}, "an output reserve of all the model may write"),
        Setting({"max_output": 8_192}, "an output reserve of 8,192 tokens"),
        *(Setting({"pct_override": p}, f"a percent override of {p} %") for p in range(95, 45, -5)),
    ),
    "codex_local": (Setting({}, "the defaults: nine tenths of the raw window"),),
    "codex_remote": (Setting({}, "the defaults: nine tenths of the raw window"),),
    "anthropic_compact": (
        Setting({}, "the defaults: a trigger of 150,000 tokens"),
        Setting({"trigger": 50_000}, "a trigger of 50,000 tokens, the least the API takes"),
        Setting({"trigger": 100_000}, "a trigger of 100,000 tokens"),
    ),
    "opencode_compaction": (
        Setting({}, "the defaults"),
        Setting({"max_output": 8_192}, "a maximum output of 8,192 tokens"),
        Setting({"max_output": 16_384}, "a maximum output of 16,384 tokens"),
    ),
    "goose": (
        Setting({}, "the defaults: 80 % of the window"),
        *(Setting({"threshold": p / 100}, f"a threshold of {p} %") for p in (50, 60, 70, 90)),
    ),
    "roo_code": (
        Setting({}, "the defaults"),
        *(Setting({"condense_percent": p}, f"a threshold of {p} %") for p in (50, 60, 70, 75, 80, 90)),
    ),
}
"""Settings tried by policy when the parameters are calibrated on a recording; the defaults alone for others."""
DEFAULTS = (Setting({}, "the defaults"),)
