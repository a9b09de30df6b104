"""LangChain: middleware of ``create_agent``, and the trigger that deepagents gives it (policies 10)."""

from __future__ import annotations

from sessions.engine.agents._snippet import keep, model, names, number, trigger
from sessions.engine.agents.agent import Agent, PolicyFacts, Trigger
from sessions.engine.agents.setting import CLEAR, SUMMARISE, Configuration, Rendering, Setting

OWN = {
    "langchain_summarization": {
        "trigger_fraction", "trigger_tokens", "trigger_messages", "combine", "keep_messages", "keep_tokens",
        "keep_fraction", "summary_input",
    },
    "langchain_clear_tool_uses": {"trigger", "keep", "clear_at_least", "clear_tool_inputs", "exclude_tools"},
}  # fmt: skip


def make(setting: Setting) -> Rendering:
    """The agent with its middleware, ready to be pasted."""
    return _summary(setting) if setting.edit == SUMMARISE else _clearing(setting)


def _agent(setting: Setting, imports: str, lines: list[str]) -> str:
    inner = "\n".join(f"        {line}" for line in lines)
    return (
        "from langchain.agents import create_agent\n"
        f"from langchain.agents.middleware import {imports}\n\n"
        f'agent = create_agent(\n    model="{model(setting)}",\n    tools=tools,\n'
        f"    middleware=[\n{inner}\n    ],\n)\n"
    )


def _summary(setting: Setting) -> Rendering:
    when, stays = trigger(setting), keep(setting)
    own = setting.policy.name == "langchain_summarization"
    lines = ["SummarizationMiddleware(", f'    model="{model(setting)}",', f"    trigger={when},"]
    if stays:
        lines.append(f"    keep={stays},")
    if own and "summary_input" in setting.changed:
        lines.append(f"    trim_tokens_to_summarize={number(setting.params.summary_input)},")
    cannot = () if own or stays else ("What it keeps is LangChain's default, 20 messages.",)
    return Rendering(_agent(setting, "SummarizationMiddleware", [*lines, "),"]), setting.trigger, cannot)


def _clearing(setting: Setting) -> Rendering:
    own = setting.policy.name == "langchain_clear_tool_uses"
    lines = ["ContextEditingMiddleware(", "    edits=[", "        ClearToolUsesEdit("]
    lines.append(f"            trigger={number(setting.tokens)},")
    if setting.keep_results is not None:
        lines.append(f"            keep={number(setting.keep_results)},")
    if own and setting.params.clear_at_least:
        lines.append(f"            clear_at_least={number(setting.params.clear_at_least)},")
    if getattr(setting.params, "clear_tool_inputs", "off") == "on":
        lines.append("            clear_tool_inputs=True,")
    tools = getattr(setting.params, "exclude_tools", "")
    if tools:
        lines.append(f"            exclude_tools={names(tools)},")
    lines += ["        ),", "    ],", "),"]
    return Rendering(_agent(setting, "ClearToolUsesEdit, ContextEditingMiddleware", lines), setting.trigger)


AGENT = Agent(
    name="langchain", label="LangChain", rank=8, formats=("langchain",),
    policies=("langchain_summarization", "langchain_clear_tool_uses", "langchain_trim"),
    facts={
        "langchain_summarization": PolicyFacts(
            keeps=(("tokens", "keep_tokens"), ("share", "keep_fraction"), ("messages", "keep_messages"))
        ),
        "langchain_clear_tool_uses": PolicyFacts(edit=CLEAR, keeps=(("results", "keep"),)),
    },
    triggers=(
        Trigger(
            "deepagents", "LangChain summarization (deepagents' default)", "policies 10.2, 10.4",
            "deepagents_summarization",
            note="SummarizationMiddleware itself has no default trigger; deepagents sets 0.85 of the input limit.",
        ),
    ),
    configuration=Configuration(
        file="your agent's Python", language="python", checked="2026-11-22", make=make, own=OWN,
        source="langchain 1.4.7 as installed, langchain/agents/middleware/summarization.py and context_editing.py",
        edits={SUMMARISE, CLEAR}, otherwise="LangChain's middleware summarises, or clears tool results; nothing else.",
        differs="LangChain writes a fresh summary each time and counts tokens by its own approximation.",
    ),
)  # fmt: skip
