"""Letta's sliding window: evicts a growing share of the messages until enough is free (policies 11.9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessions.engine.policies._lists import apart
from sessions.engine.policies.params import PERCENT, param, when
from sessions.engine.policies.policy import Gate, Item, Policy, View, pair_safe_cut
from sessions.engine.transcript.types import Role

CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Params:
    """Letta's shares, in per cent."""

    trigger: int = when(90, "Trigger, above", "Share of the window", *PERCENT)
    free: int = param(30, "To be freed", "What stays is under the rest of the window", "%", 1, 99)
    step: int = param(10, "Step", "Eviction starts this far above and grows by this", "%", 1, 50)
    summary_chars: int = param(
        50_000, "Summary at most", "A longer one is cut", "chars", 0, 1_000_000, 1_000, group="summary"
    )


def gate(params: Params, view: View) -> Gate:
    """The estimate is over int(0.9 × window)."""
    return Gate.over(view.size, view.window * params.trigger // 100, f"{params.trigger}% of the window")


def cuts(params: Params, rest: list[Item]) -> Iterator[int]:
    """Where to cut, share by share: at the last assistant message at or before round(share × N)."""
    for percent in range(params.free + params.step, 100, params.step):
        at = min(round(percent * len(rest) / 100), len(rest) - 1)
        while at > 0 and rest[at].message.role is not Role.ASSISTANT:
            at -= 1
        if at > 0:
            yield pair_safe_cut(rest, at)


def edit(params: Params, view: View) -> list[Item]:
    """The summary of what is evicted, then what stays."""
    system, rest = apart(view.items)
    most = params.summary_chars // CHARS_PER_TOKEN
    fixed = sum(item.size for item in system)
    for cut in cuts(params, rest):
        if cut and (fixed + sum(item.size for item in rest[cut:])) * 100 < (100 - params.free) * view.window:
            return [*system, *view.summarize(rest[:cut], most=most), *rest[cut:]]
    return [*system, *view.summarize(rest, most=most)]


POLICY = Policy(
    name="letta", label="Letta sliding window",
    source="letta-ai/letta, archived: estimate > int(0.9 × window), eviction from 40% of the messages on",
    help="Evicts the oldest share of the messages, more until enough is free, and summarises what it evicted.",
    estimator="letta",
    params=Params, gate=gate, edit=edit,
    threshold_param="trigger", tier="preset",
)  # fmt: skip
