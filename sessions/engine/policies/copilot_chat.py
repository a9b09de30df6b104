"""VS Code Copilot Chat, the foreground path: summarises when the prompt would not fit its budget (policies 11.15).

Budget = floor(0.85 × (min(setting, max_prompt) − tool tokens)).  What we know of tools is the overhead, system prompt
included: it is taken off both sides.  The newest tool round stays out of the summary.  The background path (started at
0.75 of the budget, applied at the next rendering) is not replayed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._lists import apart, last_assistant
from sessions.engine.policies.params import when
from sessions.engine.policies.policy import EditFailed, Gate, Policy, pair_safe_cut

if TYPE_CHECKING:
    from sessions.engine.policies.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params:
    """The budget's share and the user's own limit."""

    share: int = when(85, "Budget", "Of the prompt limit without tools", "%", 1, 100)
    setting: int | None = when(None, "Prompt limit set", "None: the window's own", "tokens", 1_000, 10_000_000, 1_000)


def budget(params: Params, window: int, tool_tokens: int) -> int:
    """``floor(0.85 · (min(setting, window) − tool_tokens))``, at least 0."""
    limit = window if params.setting is None else min(params.setting, window)
    return max(0, (limit - tool_tokens) * params.share // 100)


def gate(params: Params, view: View) -> Gate:
    """The rendering is over the budget."""
    limit = budget(params, view.window, view.overhead)
    rendered = max(0, view.context - view.overhead)
    return Gate(rendered > limit, "rendering of the prompt", rendered, limit, ">", "tokens")


def edit(_params: object, view: View) -> list[Item]:
    """A summary of all before the newest reply, and what that reply began; raises EditFailed without anything else."""
    system, rest = apart(view.items)
    cut = max(0, last_assistant(rest))
    cut = pair_safe_cut(rest, cut, cut)
    if not any(not item.inserted for item in rest[:cut]):
        raise EditFailed("nothing but the newest tool round is left to summarise")
    return [*system, *view.summarize(rest[:cut]), *rest[cut:]]


POLICY = Policy(
    name="copilot_chat", label="VS Code Copilot Chat",
    source="microsoft/vscode-copilot-chat agentIntent.ts, 2026-03: over floor(0.85 × (limit − tools))",
    help="Summarises all but the newest tool round when the rendered prompt is over its budget.",
    params=Params, gate=gate, edit=edit,
    shares_prefix=True, threshold_param="share", tier="preset",
)  # fmt: skip
