"""OpenHands V0 ConversationWindowCondenser: after a refused request, half of the history (policies 9.1).

All-Hands-AI/OpenHands ``openhands/memory/condenser/impl/conversation_window_condenser.py`` (0.62.0).  It acts on
request alone: when the provider refused the context.  Essential are system messages, the first user message and the
recall that belongs to it (call and observation); of the others, the newest ``max(1, n // 2)`` count back from the
end, without leading observations.  Everything else is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._pairs import mended
from sessions.engine.policies._roles import SYSTEM, TOOL, USER, roles
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, Gate, Policy, View
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item

RECALL = "recall"


@dataclass(frozen=True, slots=True)
class Params:
    """No parameters: the rule has no numbers."""


def kept(items: Sequence[Item]) -> list[int]:
    """Positions that stay; all where there is no user message."""
    kinds = roles(items)
    if USER not in kinds:
        return list(range(len(items)))
    first_user = kinds.index(USER)
    essential = {*[n for n, kind in enumerate(kinds) if kind == SYSTEM][:1], first_user, *_recall(items, first_user)}
    start = max(0, len(items) - max(1, (len(items) - len(essential)) // 2))
    while start < len(items) and kinds[start] == TOOL:
        start += 1
    return sorted(essential | set(range(start, len(items))))


def _recall(items: Sequence[Item], first_user: int) -> list[int]:
    """The first recall after the first user message, and its observation."""
    for position in range(first_user + 1, len(items)):
        for block in items[position].message.blocks:
            if block.kind is Kind.TOOL_USE and block.name == RECALL:
                later = range(position + 1, len(items))
                answer = next((n for n in later if block.call_id in items[n].message.result_ids()), None)
                return [position] if answer is None else [position, answer]
    return []


def gate(params: Params, view: View) -> Gate:
    """The provider would refuse the request."""
    del params
    return Gate(view.rejected, "the context is over the window", view.context, view.window, ">", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """What is essential and the newest half."""
    del params
    return mended(view, view.items, [view.items[position] for position in kept(view.items)])


POLICY = Policy(
    name="openhands_window",
    label="OpenHands V0 conversation window",
    source="All-Hands-AI/OpenHands ConversationWindowCondenser 0.62.0",
    help="When the provider refuses a request, forgets all but the start and the newest half.",
    estimator="tiktoken_o200k",
    params=Params,
    gate=gate,
    edit=edit,
    summary_calls=False,
    tier="differential",
    caveats=(MAY_LOSE_THE_REQUEST,),
)
