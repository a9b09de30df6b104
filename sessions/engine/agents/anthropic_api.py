"""Anthropic API: it compacts at the trigger that a request gives, and is configured by the request (policies 5)."""

from __future__ import annotations

from typing import Any

from sessions.engine.agents._snippet import as_json
from sessions.engine.agents.agent import Agent, KnownSetting, PolicyFacts, stated
from sessions.engine.agents.setting import CLEAR, SUMMARISE, THINKING, Configuration, Rendering, Setting

LEAST_TRIGGER = 50_000
"""The smallest trigger that server-side compaction takes (policies 5.3)."""
ON_DEMAND = ("anthropic_on_demand", "anthropic_background")
ON_DEMAND_BETA = "compact-2026-09-04"
EDITING, COMPACTION = "context-management-2025-06-27", "compact-2026-01-12"


def make(setting: Setting) -> Rendering:
    """The edit as JSON; where it is not a trigger in tokens, what it takes in its place."""
    if setting.policy.name in ON_DEMAND:
        return _on_demand(setting)
    return {SUMMARISE: _compact, CLEAR: _clear, THINKING: _thinking}[setting.edit](setting)


def _on_demand(setting: Setting) -> Rendering:
    """The parameter of the request for a summary; when to send it, the client's program says."""
    cannot = [
        f"No parameter holds the limit: send it when input and output of a response exceed {setting.tokens:,} tokens."
    ]
    if setting.policy.name == "anthropic_background":
        cannot.append("Go on with the full history; put the block in place of exactly what that request held.")
    elif setting.params.keep_turns:
        cannot.append(f"Leave the newest {setting.params.keep_turns} turns out of it, and send them after the block.")
    return Rendering(as_json({"compaction": {"type": "summarize"}}), setting.trigger, cannot)


def _written(edit: dict[str, Any]) -> str:
    return as_json({"context_management": {"edits": [edit]}})


def _tokens(value: int) -> dict[str, Any]:
    return {"type": "input_tokens", "value": value}


def _compact(setting: Setting) -> Rendering:
    at = max(LEAST_TRIGGER, setting.tokens)
    edit: dict[str, Any] = {"type": "compact_20260112", "trigger": _tokens(at)}
    cannot: list[str] = []
    if setting.policy.name == "anthropic_compact":
        if setting.params.pause_after_compaction == "on":
            edit["pause_after_compaction"] = True
            cannot.append(f"Append the newest {setting.params.keep_last} messages yourself after the pause.")
    elif setting.keep_messages or setting.keep_tokens:
        edit["pause_after_compaction"] = True
        cannot.append("What is to be kept you append yourself after the pause; the API drops all before the summary.")
    return Rendering(_written(edit), at, cannot)


def _clear(setting: Setting) -> Rendering:
    own = setting.policy.name == "anthropic_clear_tool_uses"
    uses = setting.params.trigger_tool_uses if own else None
    trigger = _tokens(setting.tokens) if uses is None else {"type": "tool_uses", "value": uses}
    edit: dict[str, Any] = {"type": "clear_tool_uses_20250919", "trigger": trigger}
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
    if uses is not None:
        return Rendering(_written(edit), None, ("It takes one trigger: tool uses here, not tokens as well.",))
    return Rendering(_written(edit), setting.trigger)


def _thinking(setting: Setting) -> Rendering:
    edit: dict[str, Any] = {"type": "clear_thinking_20251015"}
    own = setting.policy.name == "anthropic_clear_thinking"
    turns = setting.params.keep if own else setting.keep_messages
    if turns:
        edit["keep"] = {"type": "thinking_turns", "value": turns}
    no_trigger = "It has no trigger: thinking of older turns is cleared at every request."
    return Rendering(_written(edit), None, () if own else (no_trigger,))


SETTINGS = (
    KnownSetting({}, "the defaults: a trigger of 150,000 tokens"),
    KnownSetting({"trigger": 50_000}, "a trigger of 50,000 tokens, the least the API takes"),
    KnownSetting({"trigger": 100_000}, "a trigger of 100,000 tokens"),
)

AGENT = Agent(
    name="anthropic_api", label="Anthropic API", formats=("anthropic_messages",),
    policies=("anthropic_compact", "anthropic_clear_tool_uses", "anthropic_clear_thinking", *ON_DEMAND),
    facts={
        "anthropic_compact": PolicyFacts(SETTINGS, stated("trigger")),
        "anthropic_clear_tool_uses": PolicyFacts(edit=CLEAR, keeps=(("results", "keep"),)),
        "anthropic_clear_thinking": PolicyFacts(edit=THINKING),
    },
    least_trigger=LEAST_TRIGGER, api="anthropic",
    configuration=Configuration(
        file=f"request body; header anthropic-beta: {COMPACTION} to compact ({ON_DEMAND_BETA} on demand), "
        f"{EDITING} to clear",
        language="json",
        source="anthropics/anthropic-sdk-python, src/anthropic/types/beta/beta_context_management_config_param.py",
        checked="2026-11-22", make=make,
        edits={SUMMARISE, CLEAR, THINKING},
        otherwise="The API compacts with a summary, or clears tool results or thinking; nothing else.",
        differs="the API edits the list on its own side, and your program keeps sending the full one.",
        own={
            "anthropic_compact": {"trigger", "pause_after_compaction", "keep_last"},
            "anthropic_clear_tool_uses": {
                "trigger", "trigger_tool_uses", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs",
                "input_tools",
            },
            "anthropic_clear_thinking": {"keep"},
            "anthropic_on_demand": {"compact_at", "keep_turns"},
            "anthropic_background": {"start_at", "arrives_after"},
        },
    ),
)  # fmt: skip
