"""AutoGen HeadAndTailChatCompletionContext: the first n and the last m messages around a marker (policies 11.10).

microsoft/autogen ``autogen_core/model_context/_head_and_tail_chat_completion_context.py`` (0.7.5).  Nothing happens
while skipped = all − head − tail is 0 or less.  Else: the head without a trailing message that makes calls, a user
message "Skipped N messages.", the tail without a leading function result.  N does not count those two.  AutoGen holds
all results of one reply in one message; where ours are several, a pair that the head's end splits is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.edits import marker
from sessions.engine.params import param
from sessions.engine.policies._client import client, shown
from sessions.engine.policies._pairs import mended
from sessions.engine.policies._roles import TOOL, has_calls, role_of
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, Draft, Gate, Layer, Policy, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item


@dataclass(frozen=True, slots=True)
class Params:
    """Head and tail; the original has no defaults."""

    head_size: int = param(
        5, label="Head", help="Oldest messages shown", unit="messages", group="when", low=1, high=100_000
    )
    tail_size: int = param(
        20, label="Tail", help="Newest messages shown", unit="messages", group="when", low=1, high=100_000
    )


def spans(items: Sequence[Item], head_size: int, tail_size: int) -> tuple[int, int]:
    """Where the head ends and where the tail starts."""
    head = min(head_size, len(items))
    if head and has_calls(items[head - 1]):
        head -= 1
    tail = max(0, len(items) - tail_size)
    while tail < len(items) and role_of(items[tail]) == TOOL:
        tail += 1
    return head, tail


def gate(params: Params, view: View) -> Gate:
    """More messages than head and tail hold together."""
    held = len(client(view).items)
    limit = params.head_size + params.tail_size
    return Gate(held > limit, "all messages of the context", held, limit, ">", "messages")


def edit(params: Params, view: View) -> list[Item]:
    """Head, marker, tail."""
    everything = client(view)
    held = everything.items
    head, tail = spans(held, params.head_size, params.tail_size)
    text = f"Skipped {len(held) - params.head_size - params.tail_size} messages."
    note = view.tools.draft(Draft(text, marker(text).n_tokens, text))
    return shown(view, mended(view, everything.halves, [*held[:head], note, *held[tail:]]))


POLICY = Policy(
    name="autogen_head_tail",
    label="AutoGen head and tail",
    source="microsoft/autogen HeadAndTailChatCompletionContext 0.7.5",
    help="Shows the model the first and the last messages and says how many it skipped.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("autogen_head_tail", "Head and tail", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="tail_size",
    tier="differential",
    caveats=(MAY_LOSE_THE_REQUEST,),
)
