"""Anthropic API: it compacts at the trigger that a request gives, and is configured by the request (policies 5)."""

from __future__ import annotations

import json
from typing import Any

from sessions.engine.agent import Agent, KnownSetting, PolicyFacts
from sessions.engine.setting import CLEAR, SUMMARISE, THINKING, Configuration, Rendering, Setting, built_in, not_tokens

LEAST_TRIGGER = 50_000
"""The smallest trigger that server-side compaction takes (policies 5.3)."""
EDITING, COMPACTION = "context-management-2025-06-27", "compact-2026-01-12"
EXPRESSED = {
    "trigger", "trigger_tool_uses", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs", "input_tools",
    "pause_after_compaction", "keep_last",
}  # fmt: skip


def make(setting: Setting) -> Rendering:
    """The edit as JSON; where it is not a trigger in tokens, what it takes in its place."""
    if setting.edit == SUMMARISE:
        return _compact(setting)
    if setting.edit == CLEAR:
        return _clear(setting)
    if setting.edit == THINKING:
        return _thinking(setting)
    return Rendering(cannot=("The API compacts with a summary, or clears tool results or thinking; nothing else.",))


def _written(edit: dict[str, Any]) -> str:
    return json.dumps({"context_management": {"edits": [edit]}}, indent=2) + "\n"


def _tokens(value: int) -> dict[str, Any]:
    return {"type": "input_tokens", "value": value}


def _compact(setting: Setting) -> Rendering:
    if setting.trigger is None:
        return Rendering(cannot=(not_tokens(setting),))
    at = max(LEAST_TRIGGER, setting.trigger)
    edit: dict[str, Any] = {"type": "compact_20260112", "trigger": _tokens(at)}
    cannot: list[str] = []
    if setting.policy.name == "anthropic_compact":
        if setting.params.pause_after_compaction == "on":
            edit["pause_after_compaction"] = True
            cannot.append(f"Append the newest {setting.params.keep_last} messages yourself after the pause.")
        cannot += built_in(setting, EXPRESSED)
    elif setting.keep_messages or setting.keep_tokens:
        edit["pause_after_compaction"] = True
        cannot.append("What is to be kept you append yourself after the pause; the API drops all before the summary.")
    return Rendering(_written(edit), at, tuple(cannot))


def _clear(setting: Setting) -> Rendering:
    own = setting.policy.name == "anthropic_clear_tool_uses"
    edit: dict[str, Any] = {"type": "clear_tool_uses_20250919"}
    uses = setting.params.trigger_tool_uses if own else None
    if setting.trigger is None and uses is None:
        return Rendering(cannot=(not_tokens(setting),))
    trigger = setting.params.trigger if own else setting.trigger or 0
    edit["trigger"] = {"type": "tool_uses", "value": uses} if uses is not None else _tokens(trigger)
    if setting.keep_results is not None:
        edit["keep"] = {"type": "tool_uses", "value": setting.keep_results}
    if not own:
        return Rendering(_written(edit), setting.trigger)
    params = setting.params
    if params.clear_at_least is not None:
        edit["clear_at_least"] = _tokens(params.clear_at_least)
    if params.exclude_tools:
        edit["exclude_tools"] = params.exclude_tools.split()
    if params.clear_tool_inputs != "off":
        named = params.clear_tool_inputs == "named"
        edit["clear_tool_inputs"] = params.input_tools.split() if named else True
    cannot = list(built_in(setting, EXPRESSED))
    if uses is not None:
        cannot.append("It takes one trigger: tool uses here, not tokens as well.")
    return Rendering(_written(edit), None if uses is not None else setting.trigger, tuple(cannot))


def _thinking(setting: Setting) -> Rendering:
    edit: dict[str, Any] = {"type": "clear_thinking_20251015"}
    turns = setting.params.keep if setting.policy.name == "anthropic_clear_thinking" else setting.keep_messages
    if turns:
        edit["keep"] = {"type": "thinking_turns", "value": turns}
    cannot = () if setting.policy.name == "anthropic_clear_thinking" else (
        "It has no trigger: thinking of older turns is cleared at every request.",
    )  # fmt: skip
    return Rendering(_written(edit), None, cannot)


AGENT = Agent(
    name="anthropic_api",
    label="Anthropic API",
    formats=("anthropic_messages",),
    policies=("anthropic_compact", "anthropic_clear_tool_uses", "anthropic_clear_thinking"),
    facts={
        "anthropic_compact": PolicyFacts(
            (
                KnownSetting({}, "the defaults: a trigger of 150,000 tokens"),
                KnownSetting({"trigger": 50_000}, "a trigger of 50,000 tokens, the least the API takes"),
                KnownSetting({"trigger": 100_000}, "a trigger of 100,000 tokens"),
            )
        ),
        "anthropic_clear_tool_uses": PolicyFacts(edit=CLEAR, keeps=(("results", "keep"),)),
        "anthropic_clear_thinking": PolicyFacts(edit=THINKING),
    },
    least_trigger=LEAST_TRIGGER,
    api="anthropic",
    configuration=Configuration(
        file=f"request body; header anthropic-beta: {COMPACTION} to compact, {EDITING} to clear",
        language="json",
        source="anthropics/anthropic-sdk-python, src/anthropic/types/beta/beta_context_management_config_param.py",
        checked="2026-11-22",
        differs="the API edits the list on its own side, and your program keeps sending the full one.",
        make=make,
        exact_for=frozenset({"anthropic_clear_tool_uses", "anthropic_clear_thinking", "anthropic_compact"}),
    ),
)
