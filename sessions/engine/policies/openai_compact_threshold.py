"""The Responses API's server-side compaction: ``compact_threshold`` of ``context_management`` (policies 6.7).

Whether reaching the threshold is crossing it is not documented: ``crosses`` is a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._lists import apart
from sessions.engine.policies.params import Told, choice, when
from sessions.engine.policies.policy import Gate, Item, Policy, View


@dataclass(frozen=True, slots=True)
class Params(Told):
    """The threshold, and what crossing it means."""

    compact_threshold: int = when(200_000, "Threshold", "Rendered tokens of the request", "tokens", 1, 2_000_000, 1_000)
    crosses: str = choice(
        ("reached", "exceeded"), "Crossed when", "At the threshold or only above it (not documented)", group="when"
    )


def gate(params: Params, view: View) -> Gate:
    """Rendered tokens ≥ the threshold, or > where crossing means to exceed it."""
    crossed = Gate.at_least if params.crosses == "reached" else Gate.over
    return crossed(view.context, params.compact_threshold, "rendered tokens")


def edit(_params: object, view: View) -> list[Item]:
    """One opaque item from the assistant in place of all before it."""
    system, rest = apart(view.items)
    return [*system, *view.summarize(rest, mode="opaque", role="assistant")] if rest else list(view.items)


POLICY = Policy(
    name="openai_compact_threshold", label="OpenAI API: compact threshold",
    source="OpenAI's guide to compaction: context_management with compact_threshold",
    help="The server replaces the whole input by one encrypted item when its rendered tokens cross the threshold.",
    params=Params, gate=gate, edit=edit,
    shares_prefix=True, threshold_param="compact_threshold", tier="golden",
)  # fmt: skip
