"""Codex CLI, local compaction: user messages and a summary stay, all else goes (policies 6.1, 6.2, 6.5).

openai/codex ``codex-rs/core/src/compact.rs``, ``compact_token_budget.rs``, ``session/turn.rs`` and
``protocol/src/openai_models.rs``, as carried in ``just-every/code`` (2026-08-12).  The limit is nine tenths of the raw
window; real user messages are kept newest first within 20,000 tokens, the first that overflows is middle-truncated,
and the summary follows as a user message.  In the middle of a turn the initial context (AGENTS.md, environment) comes
back before the last user message; between turns the next turn brings it, after the summary.  In token-budget mode
nothing is summarised: a fresh window starts with the initial context.

Not replayed: compaction on a change to a model with a smaller window (a replay has one model) and the retries of a
summary call that is too long itself.  A prompt typed since the last reply is not yet in the history that is compacted.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import param, usage_param
from sessions.engine.policies import _codex
from sessions.engine.policy import Gate, Item, Policy, View


@dataclass(frozen=True, slots=True)
class Params:
    """The limit's configuration and what stays."""

    auto_compact_token_limit: int | None = _codex.limit_param()
    scope: str = _codex.scope_param()
    mode: str = param(
        "summary", label="Mode", help="Summarise, or (token budget) start a fresh window without a summary",
        choices=("summary", "token_budget"),
    )  # fmt: skip
    user_message_tokens: int = param(
        20_000, label="User messages kept", help="Newest first, by UTF-8 bytes / 4", unit="tokens", low=0,
        high=1_000_000, step=500,
    )  # fmt: skip
    usage: str = usage_param()


def gate(params: Params, view: View) -> Gate:
    """Active tokens ≥ min(configured, ⌊window·9/10⌋)."""
    return _codex.gate(view, params.auto_compact_token_limit, params.scope)


def edit(params: Params, view: View) -> list[Item]:
    """Retained user messages, the initial context in its place, the summary; in token-budget mode a fresh window."""
    found = _codex.parts(view.items)
    if not found.history:
        return list(view.items)
    if params.mode == "token_budget":
        return [*found.system, *found.initial, *found.live]
    users = _codex.retained(view, found.history, params.user_message_tokens)
    summary = view.summarize(found.history)
    if found.live:
        return [*found.system, *users, *summary, *found.initial, *found.live]
    if users:
        return [*found.system, *users[:-1], *found.initial, users[-1], *summary]
    return [*found.system, *found.initial, *summary]


POLICY = Policy(
    name="codex_local",
    label="Codex local compaction",
    source="openai/codex codex-rs/core compact.rs, session/turn.rs (as in just-every/code, 2026-08-12)",
    help="At nine tenths of the window keeps 20,000 tokens of user messages and a summary.",
    estimator="codex",
    params=Params,
    gate=gate,
    edit=edit,
    shares_prefix=True,
    threshold_param="auto_compact_token_limit",
    tier="golden",
)
