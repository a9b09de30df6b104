"""The Messages API's ``compact_20260112``: the server summarises and everything before is ignored (policies 5.3).

Anthropic's documentation of compaction and ``anthropic-sdk-python`` ``types/beta/beta_compact_*`` (2026-08-07).  When
the input reaches the trigger (at least 50,000 tokens, the only type), the same model writes a ``compaction`` block at
the start of its reply; sampling goes on with that block alone, and later requests ignore everything before it.  With
``pause_after_compaction`` the client gets the word and may append messages that it wants to keep.

The compaction is an iteration of its own in ``usage.iterations``, billed beside the reply.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import param, usage_param
from sessions.engine.policies._lists import apart
from sessions.engine.policy import Gate, Item, Policy, View, pair_safe_cut


@dataclass(frozen=True, slots=True)
class Params:
    """The edit's fields, under the API's names and defaults."""

    trigger: int = param(
        150_000, label="Trigger, at or above", help="Input tokens; the API takes no less than 50,000", unit="tokens",
        group="when", low=50_000, high=2_000_000, step=1_000,
    )  # fmt: skip
    pause_after_compaction: str = param(
        "off", label="Pause after it", help="The client appends its newest messages before sampling goes on",
        choices=("off", "on"),
    )  # fmt: skip
    keep_last: int = param(
        5, label="Messages appended", help="Newest messages that the client appends when it pauses", unit="messages",
        low=0, high=1_000,
    )  # fmt: skip
    usage: str = usage_param()


def gate(params: Params, view: View) -> Gate:
    """Input tokens at the start of sampling ≥ the trigger."""
    return Gate(view.context >= params.trigger, "input tokens", view.context, params.trigger, ">=", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """One compaction block from the assistant; where the client pauses, its newest messages after it."""
    system, rest = apart(view.items)
    cut = len(rest)
    if params.pause_after_compaction == "on" and params.keep_last:
        start = max(0, len(rest) - params.keep_last)
        cut = pair_safe_cut(rest, start, start)
    if not cut:
        return list(view.items)
    return [*system, *view.summarize(rest[:cut], role="assistant"), *rest[cut:]]


POLICY = Policy(
    name="anthropic_compact",
    label="Anthropic API: compaction",
    source="Anthropic server-side compaction, compact_20260112; anthropic-sdk-python beta types",
    help="Replaces everything before the reply by one compaction block once the input reaches the trigger.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    shares_prefix=True,
    threshold_param="trigger",
    tier="golden",
)
