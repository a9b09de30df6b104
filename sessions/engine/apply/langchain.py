"""LangChain: middleware of ``create_agent`` (policies 10)."""

from __future__ import annotations

from sessions.engine.apply._python import keep, model, names, number, trigger
from sessions.engine.wanted import CLEAR, SUMMARISE, Agent, Made, Wanted, built_in, not_tokens

SUMMARY = {
    "trigger_fraction", "trigger_tokens", "trigger_messages", "combine", "keep_messages", "keep_tokens",
    "keep_fraction", "summary_input",
}  # fmt: skip
CLEARING = {"trigger", "keep", "clear_at_least", "clear_tool_inputs", "exclude_tools"}


def make(setting: Wanted) -> Made:
    """The agent with its middleware, ready to be pasted."""
    if setting.edit == SUMMARISE:
        return _summary(setting)
    if setting.edit == CLEAR:
        return _clearing(setting)
    return Made(cannot=("LangChain's middleware summarises, or clears tool results; nothing else.",))


def _agent(setting: Wanted, imports: str, lines: list[str]) -> str:
    inner = "\n".join(f"        {line}" for line in lines)
    return (
        "from langchain.agents import create_agent\n"
        f"from langchain.agents.middleware import {imports}\n\n"
        f'agent = create_agent(\n    model="{model(setting)}",\n    tools=tools,\n'
        f"    middleware=[\n{inner}\n    ],\n)\n"
    )


def _summary(setting: Wanted) -> Made:
    when, stays = trigger(setting), keep(setting)
    if not when:
        return Made(cannot=(not_tokens(setting),))
    own = setting.policy.name == "langchain_summarization"
    lines = ["SummarizationMiddleware(", f'    model="{model(setting)}",', f"    trigger={when},"]
    if stays:
        lines.append(f"    keep={stays},")
    if own and "summary_input" in setting.changed:
        lines.append(f"    trim_tokens_to_summarize={number(setting.params.summary_input)},")
    cannot = list(built_in(setting, SUMMARY)) if own else []
    if not own and not stays:
        cannot.append("What it keeps is LangChain's default, 20 messages.")
    return Made(_agent(setting, "SummarizationMiddleware", [*lines, "),"]), setting.trigger, tuple(cannot))


def _clearing(setting: Wanted) -> Made:
    if setting.trigger is None:
        return Made(cannot=(not_tokens(setting),))
    own = setting.policy.name == "langchain_clear_tool_uses"
    lines = ["ContextEditingMiddleware(", "    edits=[", "        ClearToolUsesEdit("]
    lines.append(f"            trigger={number(setting.trigger)},")
    if setting.keep_results is not None:
        lines.append(f"            keep={number(setting.keep_results)},")
    if own and setting.params.clear_at_least:
        lines.append(f"            clear_at_least={number(setting.params.clear_at_least)},")
    inputs = getattr(setting.params, "clear_tool_inputs", "off") == "on"
    if inputs:
        lines.append("            clear_tool_inputs=True,")
    tools = getattr(setting.params, "exclude_tools", "")
    if tools:
        lines.append(f"            exclude_tools={names(tools)},")
    lines += ["        ),", "    ],", "),"]
    cannot = built_in(setting, CLEARING) if own else ()
    return Made(_agent(setting, "ClearToolUsesEdit, ContextEditingMiddleware", lines), setting.trigger, cannot)


AGENT = Agent(
    name="langchain",
    label="LangChain",
    file="your agent's Python",
    language="python",
    source="langchain 1.4.7 as installed, langchain/agents/middleware/summarization.py and context_editing.py",
    checked="2026-11-22",
    own=frozenset({"langchain_summarization", "langchain_clear_tool_uses"}),
    differs="LangChain writes a fresh summary each time and counts tokens by its own approximation.",
    make=make,
)
