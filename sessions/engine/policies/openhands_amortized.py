"""OpenHands V0 AmortizedForgettingCondenser: over a limit, half of the events are forgotten (policies 9.1).

All-Hands-AI/OpenHands ``openhands/memory/condenser/impl/amortized_forgetting_condenser.py`` (0.62.0).  Over
``max_size`` events: the first ``keep_first`` and the newest ``max_size // 2 − kept`` stay, without a summary.  A tool
pair that the cut splits leaves the request altogether, as unmatched calls do there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._openhands import events_gate, keep_first_param, max_size_param
from sessions.engine.policies._pairs import mended, orphans_param
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY, Policy

if TYPE_CHECKING:
    from sessions.engine.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params:
    """Defaults of the class."""

    max_size: int = max_size_param(100)
    keep_first: int = keep_first_param(0)
    orphans: str = orphans_param()


def edit(params: Params, view: View) -> list[Item]:
    """Head and tail."""
    head = view.items[: params.keep_first]
    n_tail = max(1, params.max_size // 2 - len(head))
    after = [*head, *view.items[max(len(head), len(view.items) - n_tail) :]]
    return mended(view, view.items, after) if params.orphans == "drop" else after


POLICY = Policy(
    name="openhands_amortized",
    label="OpenHands V0 amortized forgetting",
    source="All-Hands-AI/OpenHands AmortizedForgettingCondenser 0.62.0",
    help="Over a number of events, forgets the older half.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=events_gate,
    edit=edit,
    summary_calls=False,
    threshold_param="max_size",
    tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)
