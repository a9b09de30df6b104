"""Codex CLI: config.toml (policies 6.1).

The limit is the lower of the one configured and nine tenths of the raw window.
"""

from __future__ import annotations

from sessions.engine.wanted import NOTHING, SUMMARISE, Agent, Made, Wanted, built_in, not_tokens

EXPRESSED = {"auto_compact_token_limit", "scope"}


def make(setting: Wanted) -> Made:
    """The two limits in tokens, and what they are counted over."""
    if setting.edit == NOTHING:
        return Made(cannot=("Codex has no switch that turns automatic compaction off.",))
    if setting.edit != SUMMARISE:
        return Made(cannot=("Codex compacts with a summary; clearing alone is not configurable.",))
    own = setting.policy.name in AGENT.own
    lines = []
    if setting.window != setting.own_window:
        lines.append(f"model_context_window = {setting.window}")
    wished = setting.params.auto_compact_token_limit if own else setting.trigger
    if wished is None and not own:
        return Made(cannot=(not_tokens(setting),))
    most = setting.window * 9 // 10
    at = most if wished is None else min(wished, most)
    if wished is not None:
        lines.append(f"model_auto_compact_token_limit = {at}")
    if own and setting.params.scope != "total":
        lines.append(f'model_auto_compact_token_limit_scope = "{setting.params.scope}"')
    cannot = built_in(setting, EXPRESSED) if own else ()
    text = "\n".join(lines) or f"# Codex's defaults: it compacts at nine tenths of the window, {most} tokens"
    return Made(text + "\n", at, cannot)


AGENT = Agent(
    name="codex",
    label="Codex",
    file="~/.codex/config.toml",
    language="toml",
    source="openai/codex, codex-rs/core/config.schema.json",
    checked="2026-11-22",
    own=frozenset({"codex_local", "codex_remote"}),
    differs="Codex keeps the newest user messages beside its summary and drops every other message.",
    make=make,
)
