"""The layered pipeline as the current teaching code has it: one limit in characters, layers that stop at a target.

tool_result_budget → snip → micro → fit → auto compact, all but budget and snip only over the limit; reactive compact
after a refusal (seeds 1.2).
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import param
from sessions.engine.policies import _layered as layers
from sessions.engine.policy import Layer, Policy, View


@dataclass(frozen=True, slots=True)
class Params(layers.Layers):
    """Every number of the pipeline; defaults of the teaching code."""

    limit: int = param(
        50_000, label="Limit, above", help="Characters of the serialised list", unit="chars", group="when",
        low=1_000, high=10_000_000, step=1_000,
    )  # fmt: skip
    target: int = param(
        80,
        label="Target",
        help="Micro and fit stop under this share of the limit",
        unit="%",
        group="when",
        low=1,
        high=100,
    )
    fit_preview: int = param(1_000, label="Preview left by fit", unit="chars", low=0, high=100_000, step=100)


def limit(params: Params, view: View) -> int:
    """Characters that the list has to come under."""
    del view
    return params.limit


POLICY = Policy(
    name="layered_v2",
    label="Layered pipeline, v2",
    source="learn-claude-code s08, current teaching code: one limit of 50,000 characters, target 80 %",
    help="Cheap layers first, each stopping at a target: budget, snip, micro, fit; then one summary of everything.",
    estimator="serialized_chars",
    params=Params,
    layers=(
        Layer("tool_result_budget", "Tool-result budget", layers.budget_gate, layers.budget_edit, cheap=True),
        Layer("snip", "Snip", layers.snip_gate, layers.snip(1), cheap=True),
        Layer("micro", "Micro-compaction", layers.over_limit, layers.micro_to_target, cheap=True),
        Layer("fit", "Fit", layers.over_limit, layers.fit_edit, cheap=True),
        Layer("auto_compact", "Auto-compact", layers.over_limit, layers.auto(limit), drawn=True),
        Layer("reactive_compact", "Reactive compact", layers.reactive_gate, layers.reactive_edit, cheap=True),
    ),
    shares_prefix=True,
    threshold_param="limit",
    tier="founding",
)
