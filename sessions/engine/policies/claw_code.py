"""claw-code: a mechanical summary of all but the last four messages (policies 11.17).

The original's summary needs no model: choose the ``extractive`` summarizer to see one.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._lists import apart
from sessions.engine.policies.params import param, when
from sessions.engine.policies.policy import Gate, Item, Policy, View, pair_safe_cut


@dataclass(frozen=True, slots=True)
class Params:
    """What stays and from what size."""

    preserve: int = param(4, "Last messages kept", "At the end of the list", "messages", 1, 1_000)
    tokens: int = when(10_000, "Estimate", "Of the messages behind the last summary", "tokens", 0, 10_000_000, 500)


def gate(params: Params, view: View) -> Gate:
    """More than ``preserve`` messages behind the last summary, and an estimate of them at or over the limit."""
    found = [item for item in view.items if item.message.role != "system" and not item.inserted]
    if len(found) <= params.preserve:
        return Gate(False, "messages behind the last summary", len(found), params.preserve, ">", "messages")
    size = sum(item.size for item in found)
    return Gate.at_least(size, params.tokens, "estimate of what is behind the last summary")


def edit(params: Params, view: View) -> list[Item]:
    """One summary, the last one folded in, then the last messages."""
    system, rest = apart(view.items)
    cut = pair_safe_cut(rest, len(rest) - params.preserve)
    if not any(not item.inserted for item in rest[:cut]):
        return list(view.items)
    return [*system, *view.summarize(rest[:cut], mode="merge", calls=0), *rest[cut:]]


POLICY = Policy(
    name="claw_code", label="claw-code compaction",
    source="ultraworkers/claw-code rust/crates/runtime/src/compact.rs, 2026-08",
    help="A deterministic summary of all but the last four messages from 10,000 estimated tokens on.",
    estimator="claw_code",
    params=Params, gate=gate, edit=edit,
    summary_calls=False, threshold_param="tokens", tier="preset",
)  # fmt: skip
