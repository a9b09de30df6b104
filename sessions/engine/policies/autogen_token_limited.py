"""AutoGen TokenLimitedChatCompletionContext: messages leave from the middle until the count fits (policies 11.10).

microsoft/autogen ``autogen_core/model_context/_token_limited_chat_completion_context.py`` (0.7.5).  The context keeps
every message; for each request, while the count is > the limit, the message at ``len // 2`` is taken out; then one
leading function result.  Without a limit the original asks the model client for what remains of its window: here the
window.  The count is the model client's own: o200k tokens here.

The original splits tool pairs (``orphans``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.params import param
from sessions.engine.policies._client import client, shown
from sessions.engine.policies._pairs import mended, orphans_param
from sessions.engine.policies._roles import TOOL, role_of
from sessions.engine.policy import MAY_LOSE_THE_REQUEST, Gate, Layer, Policy, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item


@dataclass(frozen=True, slots=True)
class Params:
    """The limit."""

    token_limit: int | None = param(
        None, label="Token limit", help="Messages leave while the count is over it; none: the window", unit="tokens",
        group="when", low=1, high=10_000_000, step=1_000, optional=True,
    )  # fmt: skip
    orphans: str = orphans_param()


def fitting(items: Sequence[Item], size: int, limit: int) -> list[Item]:
    """``items`` of ``size`` without those in the middle, until they weigh ``limit`` or less."""
    if size <= limit:
        left = list(items)
    else:
        # What always leaves at len // 2 leaves a head and a tail of equal lengths, the head longer by the odd one.
        kept = 0
        total, n = 0, len(items)
        while kept < n:
            total += items[kept // 2].size if kept % 2 == 0 else items[n - 1 - kept // 2].size
            if total > limit:
                break
            kept += 1
        left = [*items[: (kept + 1) // 2], *items[n - kept // 2 :]]
    if left and role_of(left[0]) == TOOL:
        del left[0]
    return left


def gate(params: Params, view: View) -> Gate:
    """All messages together over the limit."""
    limit = view.window if params.token_limit is None else params.token_limit
    size = client(view).size
    return Gate(size > limit, "tokens of all messages", size, limit, ">", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """What is left of all messages."""
    held = client(view)
    limit = view.window if params.token_limit is None else params.token_limit
    left = fitting(held.items, held.size, limit)
    return shown(view, mended(view, held.halves, left) if params.orphans == "drop" else left)


POLICY = Policy(
    name="autogen_token_limited",
    label="AutoGen token limit",
    source="microsoft/autogen TokenLimitedChatCompletionContext 0.7.5",
    help="Takes messages out of the middle until the rest fits.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("autogen_token_limited", "Token limit", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="token_limit",
    tier="differential",
    caveats=(MAY_LOSE_THE_REQUEST,),
)
