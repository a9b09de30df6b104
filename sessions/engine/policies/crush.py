"""crush: compacts by what remains of the window, by another rule for large ones (policies 11.20)."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._lists import apart, used
from sessions.engine.policies.params import MANY_TOKENS, TOKENS, Told, when
from sessions.engine.policies.policy import Gate, Item, Policy, View


@dataclass(frozen=True, slots=True)
class Params(Told):
    """What has to remain free."""

    large_window: int = when(
        200_000, "Large window, above", "In a larger window a fixed reserve has to remain", *MANY_TOKENS
    )
    large_left: int = when(20_000, "Left in a large window", "Compacts where this or less remains", *TOKENS)
    small_share: int = when(20, "Left in another", "Compacts where this share or less remains", "%", 0, 99)


def threshold(params: Params, window: int) -> int:
    """Tokens in use from which too little remains."""
    left = params.large_left if window > params.large_window else window * params.small_share // 100
    return window - left


def gate(params: Params, view: View) -> Gate:
    """What remains is at most what has to: in use ≥ window − that."""
    return Gate.at_least(used(view, overhead=False), threshold(params, view.window), "what is left of the window")


def edit(_params: object, view: View) -> list[Item]:
    """Everything becomes one summary."""
    system, rest = apart(view.items)
    return [*system, *view.summarize(rest)]


POLICY = Policy(
    name="crush", label="crush compaction",
    source="charmbracelet/crush: remaining ≤ 20,000 over a 200,000 window, else ≤ 20%",
    help="Restarts the conversation at a summary when too little of the window remains.",
    params=Params, gate=gate, edit=edit,
    threshold_param="small_share", tier="preset",
)  # fmt: skip
