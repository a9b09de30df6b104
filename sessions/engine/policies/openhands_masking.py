"""OpenHands V0 ObservationMaskingCondenser: older observations become "<MASKED>" (policies 9.1).

All-Hands-AI/OpenHands ``openhands/memory/condenser/impl/observation_masking_condenser.py`` (0.62.0).  Every observation
that is not among the newest ``attention_window`` events is masked, at every request.  An observation is a message with
tool results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.edits import clear_results
from sessions.engine.params import param
from sessions.engine.policy import Gate, Layer, Policy, View

if TYPE_CHECKING:
    from sessions.engine.policy import Item

MASKED = "<MASKED>"


@dataclass(frozen=True, slots=True)
class Params:
    """The window of the configuration; the class alone has 5."""

    attention_window: int = param(
        100, label="Attention window", help="Newest events whose observations stay", unit="events", group="when", low=1,
        high=100_000,
    )  # fmt: skip


def due(params: Params, view: View) -> list[int]:
    """Positions to mask now, newest first: masked ones are all older."""
    edge = len(view.items) - params.attention_window
    waiting: list[int] = []
    for position in reversed(view.results):
        if position >= edge:
            continue
        if view.items[position].edited:
            break
        waiting.append(position)
    return waiting


def gate(params: Params, view: View) -> Gate:
    """An observation stands outside the window."""
    n_waiting = len(due(params, view))
    return Gate(n_waiting > 0, "observations outside the window", n_waiting, 0, ">", "observations")


def edit(params: Params, view: View) -> dict[int, Item]:
    """Mask them."""
    found = [(position, view.items[position]) for position in due(params, view)]
    return {position: clear_results(view, item, item.message.result_ids(), MASKED) for position, item in found}


POLICY = Policy(
    name="openhands_masking",
    label="OpenHands V0 observation masking",
    source="All-Hands-AI/OpenHands ObservationMaskingCondenser 0.62.0",
    help="Masks observations older than the newest events.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("openhands_masking", "Mask observations", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="attention_window",
    tier="differential",
)
