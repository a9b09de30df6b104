"""VS Code's Copilot Chat and the Copilot CLI: all but the newest tool round becomes a summary (policies 11.15, 11.22).

``copilot_chat``, the foreground path: what we know of tools is the overhead, system prompt included: it is taken off
both sides.  ``copilot_cli``: what is written while a compaction runs beside the work is the newest round here; waiting
for it, from 95% on, changes no list.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._lists import apart, last_assistant
from sessions.engine.policies.params import PERCENT, when
from sessions.engine.policies.policy import EditFailed, Gate, Item, Policy, View, pair_safe_cut


@dataclass(frozen=True, slots=True)
class ChatParams:
    """The budget's share and the user's own limit."""

    share: int = when(85, "Budget", "Of the prompt limit without tools", *PERCENT)
    setting: int | None = when(None, "Prompt limit set", "None: the window's own", "tokens", 1_000, 10_000_000, 1_000)


def budget(params: ChatParams, window: int, tool_tokens: int) -> int:
    """``floor(0.85 · (min(setting, window) − tool_tokens))``, at least 0."""
    limit = window if params.setting is None else min(params.setting, window)
    return max(0, (limit - tool_tokens) * params.share // 100)


def chat_gate(params: ChatParams, view: View) -> Gate:
    """The rendering is over the budget."""
    limit = budget(params, view.window, view.overhead)
    return Gate.over(max(0, view.context - view.overhead), limit, "rendering of the prompt")


def edit(_params: object, view: View) -> list[Item]:
    """A summary of all before the newest reply, and what that reply began; raises EditFailed without anything else."""
    system, rest = apart(view.items)
    cut = pair_safe_cut(rest, max(0, last_assistant(rest)))
    if not any(not item.inserted for item in rest[:cut]):
        raise EditFailed("nothing but the newest tool round is left to summarise")
    return [*system, *view.summarize(rest[:cut]), *rest[cut:]]


CHAT = Policy(
    name="copilot_chat", label="VS Code Copilot Chat",
    source="microsoft/vscode-copilot-chat agentIntent.ts, 2026-03: over floor(0.85 × (limit − tools))",
    help="Summarises all but the newest tool round when the rendered prompt is over its budget.",
    params=ChatParams, gate=chat_gate, edit=edit,
    shares_prefix=True, threshold_param="share", tier="preset",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CliParams:
    """The share of the window at which it starts."""

    share: int = when(80, "Threshold", "Of the context window, by the client's own count", *PERCENT)


def cli_gate(params: CliParams, view: View) -> Gate:
    """The client's count ≥ ``⌊share · window⌋``: as it wrote it down, else the list and what stands before it."""
    measure = view.size + view.overhead if view.told is None else view.told
    gate = Gate.at_least(measure, view.window * params.share // 100, "the client's own count")
    return gate._replace(is_told=view.told is not None)


CLI = Policy(
    name="copilot_cli", label="GitHub Copilot CLI",
    source="Copilot SDK, infinite sessions: background compaction at 0.80; recorded at 160,194 of 200,000",
    help="At 80% of the window, by its own count, everything but the newest round becomes a summary.",
    params=CliParams, gate=cli_gate, edit=edit,
    threshold_param="share", tier="golden",
)  # fmt: skip

POLICIES = (CHAT, CLI)
