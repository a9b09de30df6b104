"""The layered pipeline as first written up: token threshold for the summary, cheap layers at every request (seeds 1).

tool_result_budget → snip → micro → auto compact; reactive compact only after a refusal.  The order is fixed: large
results are saved in full before ``micro`` makes placeholders of them.  The auto threshold reserves the model's whole
output, uncapped, and is passed with ``>``; the ``claude_code`` policy is another one.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import param
from sessions.engine.policies import _layered as layers
from sessions.engine.policy import Gate, Layer, Policy, View

DEFAULT_MAX_OUTPUT = 32_000


@dataclass(frozen=True, slots=True)
class Params(layers.Layers):
    """Every number of the pipeline; defaults of the write-up."""

    max_output: int | None = param(
        None, label="Model's maximum output", help="None: the model's own, else 32,000", unit="tokens", group="when",
        low=0, high=200_000, step=1_000, optional=True,
    )  # fmt: skip
    buffer: int = param(
        13_000, label="Auto-compact buffer", help="Summarises over window − maximum output − this", unit="tokens",
        group="when", low=0, high=200_000, step=500,
    )  # fmt: skip


def threshold(params: Params, view: View) -> int:
    """``window − max_output − buffer`` in tokens."""
    max_output = params.max_output
    if max_output is None:
        max_output = view.model.max_output or DEFAULT_MAX_OUTPUT
    return view.window - max_output - params.buffer


def gate(params: Params, view: View) -> Gate:
    """Estimated tokens over the threshold."""
    limit = threshold(params, view)
    return Gate(view.size > limit, "estimated tokens of the list", view.size, limit, ">", "tokens")


POLICY = Policy(
    name="layered_v1",
    label="Layered pipeline, v1",
    source="learn-claude-code s08: budget, snip, micro, auto compact over window − max output − 13,000",
    help="Cheap layers first: saves large results, snips the middle, clears old results, then summarises everything.",
    estimator="chars_per_4",
    params=Params,
    layers=(
        Layer("tool_result_budget", "Tool-result budget", layers.budget_gate, layers.budget_edit, cheap=True),
        Layer("snip", "Snip", layers.snip_gate, layers.snip(0), cheap=True),
        Layer("micro", "Micro-compaction", layers.micro_gate, layers.micro_edit, cheap=True),
        Layer("auto_compact", "Auto-compact", gate, layers.auto(threshold), drawn=True),
        Layer("reactive_compact", "Reactive compact", layers.reactive_gate, layers.reactive_edit, cheap=True),
    ),
    shares_prefix=True,
    threshold_param="buffer",
    tier="founding",
)
