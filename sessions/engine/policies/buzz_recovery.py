"""buzz-agent's reactive ladder: after a refusal, forced handoffs within half, a quarter, an eighth … (seeds 2.6).

The budget of each try bounds what the summary is written from and what may stand afterwards, in pressure bytes of the
history that was refused.  At most three tries; it gives up where the next budget is under the floor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._handoff import hand_off, image_charge_param
from sessions.engine.policies.params import param
from sessions.engine.policies.policy import EditFailed, Gate, Policy, SummaryFailed

if TYPE_CHECKING:
    from sessions.engine.policies.policy import Item, View


@dataclass(frozen=True, slots=True)
class Params:
    """How often and how far it retries."""

    attempts: int = param(3, "Tries", "Forced handoffs after one refusal", "tries", 1, 10)
    floor: int = param(
        4_096, "Smallest budget", "Gives up where the next budget is smaller", "bytes", 0, 16 * 1024 * 1024, 1_024
    )
    image_charge: int = image_charge_param()


def gate(_params: object, view: View) -> Gate:
    """The provider refuses the request: the context is over the window."""
    return Gate(view.rejected, "refused: over the window", view.context, view.window, ">", "tokens", "rejected")


def budgets(params: Params, rejected: int) -> list[int]:
    """Pressure bytes allowed at each try: rejected / 2, / 4, / 8 …, down to the floor."""
    halves = [rejected // 2**n for n in range(1, params.attempts + 1)]
    return [budget for budget in halves if budget >= params.floor]


def edit(params: Params, view: View) -> list[Item]:
    """The first handoff that fits the window; raises EditFailed where none does."""
    for budget in budgets(params, view.size):
        try:
            made = hand_off(view, budget)
        except SummaryFailed:
            continue
        if view.overhead + sum(item.tokens for item in made) <= view.window:
            return made
    raise EditFailed("gave up: no handoff within the tries and the floor fits the window")


POLICY = Policy(
    name="buzz_recovery", label="buzz-agent recovery",
    source="buzz-agent, later release: reactive handoffs within half, a quarter, an eighth of what was refused",
    help="Does nothing until the provider refuses a request, then hands over within ever smaller budgets.",
    estimator="pressure_bytes",
    params=Params, gate=gate, edit=edit,
    tier="founding",
)  # fmt: skip
