"""Codex CLI: nine tenths of the raw window, or the lower limit of its config.toml (policies 6.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sessions.engine.agents.agent import Agent, Beside, KnownSetting, Place, PolicyFacts, Trigger
from sessions.engine.agents.setting import NOTHING, SWITCHED, Configuration, Rendering, Setting
from sessions.engine.policies import codex as policy
from sessions.engine.transcript.types import Message

KEYS = {"auto_compact_token_limit", "scope"}
OWN = {"codex_local": KEYS, "codex_remote": KEYS}
FACTS = PolicyFacts((KnownSetting({}, "the defaults: nine tenths of the raw window"),))


def beside(messages: Sequence[Message], reported: Mapping[int, int]) -> Beside:
    """Encrypted reasoning of earlier turns (policies 6.1), of which a file may hold no more than what was reported."""
    whole, held = policy.stored_before(messages, reported), policy.stored_before(messages, {})
    return Beside(whole, whole - held)


def make(setting: Setting) -> Rendering:
    """The two limits in tokens, and what they are counted over."""
    if setting.edit == NOTHING:
        return Rendering(cannot=("Codex has no switch that turns automatic compaction off.",))
    own = setting.policy.name in OWN
    wished = setting.params.auto_compact_token_limit if own else setting.tokens
    at = policy.limit(setting.window, wished)
    lines = []
    if setting.window != setting.own_window:
        lines.append(f"model_context_window = {setting.window}")
    if wished is not None:
        lines.append(f"model_auto_compact_token_limit = {at}")
    if own and setting.params.scope != "total":
        lines.append(f'model_auto_compact_token_limit_scope = "{setting.params.scope}"')
    text = "\n".join(lines) or f"# Codex's defaults: it compacts at nine tenths of the window, {at} tokens"
    return Rendering(text + "\n", at)


AGENT = Agent(
    name="codex", label="Codex", rank=2, formats=("codex", "codex_exec"), policies=("codex_local", "codex_remote"),
    opaque_policy="codex_remote", usable=95, beside=beside, facts={"codex_local": FACTS, "codex_remote": FACTS},
    triggers=(
        Trigger(
            "codex", "Codex CLI", "policies 6.1", "codex_local", words="Codex's limit, 0.9 of the raw window"
        ),
    ),
    places={"codex": Place("~/.codex/sessions", ("**/rollout-*.jsonl*",))},
    configuration=Configuration(
        file="~/.codex/config.toml", language="toml", checked="2026-11-22", make=make, own=OWN,
        source="openai/codex, codex-rs/core/config.schema.json",
        edits=SWITCHED, otherwise="Codex compacts with a summary; clearing alone is not configurable.",
        differs="Codex keeps the newest user messages beside its summary and drops every other message.",
    ),
)  # fmt: skip
