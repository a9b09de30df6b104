"""Codex CLI, remote compaction: the server returns an opaque item (policies 6.3, 6.4).

openai/codex ``codex-rs/core/src/compact_remote.rs`` and ``compact_remote_v2.rs``, as carried in ``just-every/code``
(2026-08-12).  The limit is that of local compaction.  Version 1 (``/responses/compact``) installs what the server
returns: user messages and the compaction item; which messages it returns is the server's business, all typed ones are
assumed, as in the public recordings of that endpoint.  Version 2 retains user messages itself, newest first within
64,000 tokens, images at no cost and every message at one token or more, and puts exactly one compaction item last.

Messages of other agents (version 2 keeps up to 10,000 tokens of each) are not told apart in transcripts and go.
Shrinking the newest tool outputs so that the call fits changes the call alone, not what stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import param, usage_param
from sessions.engine.policies import _codex
from sessions.engine.policy import Gate, Item, Policy, View


@dataclass(frozen=True, slots=True)
class Params:
    """The limit's configuration, the version, and what stays."""

    auto_compact_token_limit: int | None = _codex.limit_param()
    scope: str = _codex.scope_param()
    version: str = param(
        "v2", label="Version", help="v1: the server chooses what stays; v2: the client retains user messages",
        choices=("v1", "v2"),
    )  # fmt: skip
    retained_tokens: int = param(
        64_000, label="Messages retained", help="Version 2: user messages, newest first", unit="tokens", low=0,
        high=1_000_000, step=1_000,
    )  # fmt: skip
    usage: str = usage_param()


def gate(params: Params, view: View) -> Gate:
    """Active tokens ≥ min(configured, ⌊window·9/10⌋)."""
    return _codex.gate(view, params.auto_compact_token_limit, params.scope)


def edit(params: Params, view: View) -> list[Item]:
    """User messages, then one opaque item; the initial context as in local compaction."""
    found = _codex.parts(view.items)
    if not found.history:
        return list(view.items)
    if params.version == "v1":
        users = [item for item in found.history if item.message.typed]
    else:
        users = _codex.retained(view, found.history, params.retained_tokens, least=1, media=True)
    opaque = view.summarize(found.history, mode="opaque", role="assistant")
    if found.live:
        return [*found.system, *users, *opaque, *found.initial, *found.live]
    if users:
        return [*found.system, *users[:-1], *found.initial, users[-1], *opaque]
    return [*found.system, *found.initial, *opaque]


POLICY = Policy(
    name="codex_remote",
    label="Codex remote compaction",
    source="openai/codex codex-rs/core compact_remote.rs, compact_remote_v2.rs (as in just-every/code, 2026-08-12)",
    help="At nine tenths of the window keeps user messages and one opaque item written by the server.",
    estimator="codex",
    params=Params,
    gate=gate,
    edit=edit,
    shares_prefix=True,
    threshold_param="auto_compact_token_limit",
    tier="golden",
)
