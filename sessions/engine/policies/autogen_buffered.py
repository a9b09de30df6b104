"""AutoGen BufferedChatCompletionContext: the last N messages, not starting with a tool result (policies 11.10).

microsoft/autogen ``autogen_core/model_context/_buffered_chat_completion_context.py`` (0.7.5).  The context keeps every
message and shows the model the last ``buffer_size``; where the first of them is a function result, that one message is
left out.  AutoGen holds all results of one reply in one message; where ours are several, all that lead are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.params import param
from sessions.engine.policies._pairs import mended
from sessions.engine.policies._roles import TOOL, role_of
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY, Gate, Layer, Policy, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item


@dataclass(frozen=True, slots=True)
class Params:
    """The buffer."""

    buffer_size: int = param(
        10, label="Buffer", help="Newest messages shown to the model; the original has no default", unit="messages",
        group="when", low=1, high=100_000,
    )  # fmt: skip


def start(items: Sequence[Item], buffer_size: int) -> int:
    """Position of the first message shown: the last ``buffer_size``, leading tool results left out."""
    first = max(0, len(items) - buffer_size)
    while first < len(items) and role_of(items[first]) == TOOL:
        first += 1
    return first


def gate(params: Params, view: View) -> Gate:
    """More messages than the buffer holds, or a tool result at its start."""
    first = start(view.items, params.buffer_size)
    return Gate(first > 0, "messages in the list", len(view.items), params.buffer_size, ">", "messages")


def edit(params: Params, view: View) -> list[Item]:
    """The messages shown."""
    return mended(view, view.items, view.items[start(view.items, params.buffer_size) :])


POLICY = Policy(
    name="autogen_buffered",
    label="AutoGen buffered context",
    source="microsoft/autogen BufferedChatCompletionContext 0.7.5",
    help="Shows the model only the last N messages.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("autogen_buffered", "Buffer", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="buffer_size",
    tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)
