"""AG2 MessageHistoryLimiter: the last messages, the first kept on demand (policies 11.10).

ag2ai/ag2 ``autogen/agentchat/contrib/capabilities/transforms.py`` (0.14.0; 1.x has another design).  Applied to a
copy of the history at every call.  Nothing happens up to ``max_messages``.  Else messages are taken newest first, never
the very first; for the last free place a tool message is passed over (the place stays empty), and what takes it is put
at position 1: so without ``keep_first_message`` the oldest one kept stands *after* the second oldest.  ``order`` says
whether that is replayed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.params import param
from sessions.engine.policies._client import client, shown
from sessions.engine.policies._pairs import mended, orphans_param
from sessions.engine.policies._roles import TOOL, roles
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY, Gate, Layer, Policy, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item


@dataclass(frozen=True, slots=True)
class Params:
    """How many messages; the original has no default for it."""

    max_messages: int = param(
        20, label="Messages", help="At most so many are sent", unit="messages", group="when", low=1, high=100_000
    )
    keep_first_message: str = param(
        "off", label="Keep the first message", help="Whatever its age", choices=("on", "off")
    )
    order: str = param(
        "original",
        label="Order",
        help="Original: the oldest message kept trades places with the one after it; straight: it does not",
        choices=("original", "straight"),
    )
    orphans: str = orphans_param()


def kept(roles_: Sequence[str], max_messages: int, *, keep_first: bool, straight: bool = False) -> list[int]:
    """Positions of the messages sent, in the order sent."""
    if len(roles_) <= max_messages:
        return list(range(len(roles_)))
    found = [0] if keep_first else []
    left = max_messages - len(found)
    for position in range(len(roles_) - 1, 0, -1):
        if left > 1:
            found.insert(1 if keep_first else 0, position)
        if left == 1 and roles_[position] != TOOL:
            found.insert(1, position)
        left -= 1
        if left == 0:
            break
    return sorted(found) if straight else found


def gate(params: Params, view: View) -> Gate:
    """More messages than the limit."""
    held = len(client(view).items)
    return Gate(held > params.max_messages, "all messages of the history", held, params.max_messages, ">", "messages")


def edit(params: Params, view: View) -> list[Item]:
    """The messages sent."""
    everything = client(view)
    held = everything.items
    n_older = max(0, len(held) - params.max_messages)
    positions = kept(
        [*[""] * n_older, *roles(held[n_older:])],
        params.max_messages,
        keep_first=params.keep_first_message == "on",
        straight=params.order == "straight",
    )
    left = [held[position] for position in positions]
    return shown(view, mended(view, everything.halves, left) if params.orphans == "drop" else left)


POLICY = Policy(
    name="ag2_history_limiter",
    label="AG2 message history limiter",
    source="ag2ai/ag2 MessageHistoryLimiter 0.14.0",
    help="Sends only the last messages, the first one too if asked to.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("ag2_history_limiter", "History limit", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="max_messages",
    tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)
