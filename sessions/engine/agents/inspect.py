"""Inspect: the compaction of its ``react`` agent, an option (policies 11.12)."""

from __future__ import annotations

from sessions.engine.agents._snippet import names, number
from sessions.engine.agents.agent import Agent, PolicyFacts, Trigger
from sessions.engine.agents.setting import CLEAR, SUMMARISE, THINKING, TRIM, Configuration, Rendering, Setting

WHEN = {"threshold", "threshold_tokens"}
OWN = {
    "inspect_edit": {*WHEN, "keep_thinking_turns", "keep_tool_uses", "keep_tool_inputs"}, "inspect_summary": WHEN,
    "inspect_trim": {*WHEN, "preserve"},
}  # fmt: skip
CLASSES = {SUMMARISE: "CompactionSummary", CLEAR: "CompactionEdit", THINKING: "CompactionEdit", TRIM: "CompactionTrim"}


def make(setting: Setting) -> Rendering:
    """The agent with its compaction."""
    name, own = CLASSES[setting.edit], setting.policy.name in OWN
    # A share as a decimal below 1, tokens as a whole number.
    at = (setting.params.threshold_tokens or setting.params.threshold) if own else setting.tokens
    arguments = [f"threshold={number(at)}", *_more(setting, own=own)]
    inner = "\n".join(f"        {argument}," for argument in arguments)
    text = (
        "from inspect_ai.agent import react\n"
        f"from inspect_ai.model import {name}\n\n"
        f"agent = react(\n    tools=tools,\n    compaction={name}(\n{inner}\n    ),\n)\n"
    )
    if not own and setting.edit == SUMMARISE and (setting.keep_messages or setting.keep_tokens):
        cannot = ("It keeps the sample's input beside the summary, and no newest messages.",)
        return Rendering(text, setting.trigger, cannot)
    return Rendering(text, setting.trigger)


def _more(setting: Setting, *, own: bool) -> list[str]:
    if setting.policy.name == "inspect_edit":
        params = setting.params
        turns = '"all"' if params.keep_thinking_turns is None else number(params.keep_thinking_turns)
        found = [f"keep_thinking_turns={turns}", f"keep_tool_uses={number(params.keep_tool_uses)}"]
        return found if params.keep_tool_inputs == "on" else [*found, "keep_tool_inputs=False"]
    if setting.policy.name == "inspect_trim":
        return [f"preserve={number(setting.params.preserve)}"]
    if own or setting.edit in {SUMMARISE, TRIM}:
        return []
    if setting.edit == THINKING:
        return [] if setting.keep_messages is None else [f"keep_thinking_turns={number(setting.keep_messages)}"]
    kept = [] if setting.keep_results is None else [f"keep_tool_uses={number(setting.keep_results)}"]
    tools = getattr(setting.params, "exclude_tools", "")
    return ['keep_thinking_turns="all"', *kept, *([f"exclude_tools={names(tools)}"] if tools else [])]


AGENT = Agent(
    name="inspect", label="Inspect", rank=9, formats=("inspect",),
    policies=("inspect_summary", "inspect_trim", "inspect_edit"),
    facts={"inspect_edit": PolicyFacts(edit=CLEAR, keeps=(("results", "keep_tool_uses"),))},
    triggers=(Trigger("inspect", "Inspect AI", "policies 11.12", "inspect_summary", is_default=False),),
    configuration=Configuration(
        file="your task's Python", language="python", checked="2026-11-22", make=make, own=OWN,
        source="https://inspect.aisi.org.uk/compaction.html",
        edits=CLASSES, otherwise="Inspect summarises, edits or trims; nothing else.",
        differs="Inspect keeps the sample's input, and leaves the message history itself untouched.",
    ),
)  # fmt: skip
