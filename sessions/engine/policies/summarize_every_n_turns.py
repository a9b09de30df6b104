"""SummarizeEveryNTurns: whenever n + keep turns are not summarised, the first n become a checkpoint (policies 11.7).

``checkpoints`` chooses whether the newest stands alone, as in the call that triggers there, or all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.engine.policies._lists import ASSISTANT, role_of
from sessions.engine.policies._pairs import mended
from sessions.engine.policies.params import choice, param, when
from sessions.engine.policies.policy import Gate, Item, Policy, View
from sessions.engine.transcript.types import Role


@dataclass(frozen=True, slots=True)
class Params:
    """How many turns are summarised at once, and how many stay."""

    n: int = when(21, "Turns at once", "Become one checkpoint", "turns", 1, 10_000)
    keep_last: int = param(10, "Keep turns", "Newest ones, at least", "turns", 0, 10_000)
    checkpoints: str = choice(("newest", "all"), "Checkpoints shown", "The newest alone, or every one")


def turns(items: Sequence[Item]) -> list[int]:
    """Where each turn starts: at a reply that is no checkpoint."""
    messages = [item.message for item in items]
    return [n for n, message in enumerate(messages) if message.role is Role.ASSISTANT and not message.summary]


def gate(params: Params, view: View) -> Gate:
    """As many turns as are summarised and kept together."""
    return Gate.at_least(len(turns(view.items)), params.n + params.keep_last, "turns not summarised", "turns")


def edit(params: Params, view: View) -> list[Item]:
    """The first n turns become a checkpoint."""
    starts = [*turns(view.items), len(view.items)]
    before, dropped, after = (
        view.items[: starts[0]],
        view.items[starts[0] : starts[params.n]],
        view.items[starts[params.n] :],
    )
    if params.checkpoints == "newest":
        before = [item for item in before if not (item.message.summary and role_of(item) == ASSISTANT)]
    made = view.summarize(dropped, mode="merge", role=ASSISTANT)
    return mended(view, view.items, [*before, *made, *after])


POLICY = Policy(
    name="summarize_every_n_turns", label="Summarise every N turns",
    source="Complexity Trap fork of SWE-agent (arXiv 2508.21433)",
    help="Turns the oldest 21 turns into a checkpoint whenever 31 have piled up.",
    params=Params, gate=gate, edit=edit,
    threshold_param="n", tier="golden",
)  # fmt: skip
