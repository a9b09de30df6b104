"""LangChain SummarizationMiddleware: everything before a cut becomes one summary (policies 10.2).

langchain-ai/langchain ``langchain/agents/middleware/summarization.py`` (1.4.7).  It fires where a trigger is reached
(``>=``) by the count or by what the provider reported with the last reply, and something stands before the cut.  The
count is LangChain's approximate one, scaled by the last usage by 1 to 1.25.  The cut keeps the newest messages, or the
longest suffix that fits a budget; on a tool result it moves back to the reply that made the call.  The summary is a
user message; an earlier summary is summarised like any message.

The original has no trigger unless it is given one; 80 % of the window is the example of its documentation.  Of what is
summarised, its summary call is shown the last 4,000 tokens alone; when that call overflows it is retried with less.
System messages are not part of its list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.params import param, usage_param
from sessions.engine.policies._langchain import counted, message_cut, reached, share, token_cut
from sessions.engine.policies._roles import SYSTEM, role_of
from sessions.engine.policy import Gate, Policy, View

if TYPE_CHECKING:
    from sessions.engine.policy import Item


@dataclass(frozen=True, slots=True)
class Params:
    """Triggers (any or all of those given) and what is kept (the first given of share, tokens, messages)."""

    trigger_fraction: float | None = param(
        0.8, label="Trigger, share of the window", help="None: no such trigger", unit="of the window", group="when",
        low=0.01, high=1, step=0.01, optional=True,
    )  # fmt: skip
    trigger_tokens: int | None = param(
        None, label="Trigger, tokens", help="None: no such trigger", unit="tokens", group="when", low=1,
        high=10_000_000, step=1_000, optional=True,
    )  # fmt: skip
    trigger_messages: int | None = param(
        None, label="Trigger, messages", help="None: no such trigger", unit="messages", group="when", low=1,
        high=100_000, optional=True,
    )  # fmt: skip
    combine: str = param(
        "any", label="Triggers given", help="Any of them is enough, or all must be reached", group="when",
        choices=("any", "all"),
    )  # fmt: skip
    keep_messages: int = param(20, label="Keep messages", help="Newest ones", unit="messages", low=1, high=100_000)
    keep_tokens: int | None = param(
        None, label="Keep tokens", help="In place of messages: the newest that fit", unit="tokens", low=1,
        high=10_000_000, step=1_000, optional=True,
    )  # fmt: skip
    keep_fraction: float | None = param(
        None, label="Keep a share", help="In place of both: the newest that fit this share of the window",
        unit="of the window", low=0.01, high=1, step=0.01, optional=True,
    )  # fmt: skip
    usage: str = usage_param()


def cut(params: Params, view: View, items: list[Item]) -> int:
    """Messages before this position are summarised."""
    if params.keep_fraction is not None:
        return token_cut(items, share(view.window, params.keep_fraction), counted(view))
    if params.keep_tokens is not None:
        return token_cut(items, params.keep_tokens, counted(view))
    return message_cut(items, params.keep_messages)


def conversation(view: View) -> list[Item]:
    """The list without system messages."""
    return [item for item in view.items if role_of(item) != SYSTEM]


def gate(params: Params, view: View) -> Gate:
    """A trigger is reached and something stands before the cut."""
    count = counted(view)
    limits = [] if params.trigger_tokens is None else [params.trigger_tokens]
    if params.trigger_fraction is not None:
        limits.append(share(view.window, params.trigger_fraction))
    met = [reached(view, count, limit) for limit in limits]
    if params.trigger_messages is not None:
        met.append(len(view.items) >= params.trigger_messages)
    fires = bool(met) and (all(met) if params.combine == "all" else any(met))
    if fires:
        items = conversation(view)
        fires = cut(params, view, items) > 0
    if limits:
        limit = max(limits) if params.combine == "all" else min(limits)
        reported = 0 if view.usage is None else view.usage.input + view.usage.output
        return Gate(fires, "approximate or reported tokens", max(count, reported), limit, ">=", "tokens")
    return Gate(fires, "messages in the list", len(view.items), params.trigger_messages or 0, ">=", "messages")


def edit(params: Params, view: View) -> list[Item]:
    """A summary, then what is kept."""
    items = conversation(view)
    position = cut(params, view, items)
    system = [item for item in view.items if role_of(item) == SYSTEM]
    return [*system, *view.summarize(items[:position]), *items[position:]]


POLICY = Policy(
    name="langchain_summarization",
    label="LangChain summarization",
    source="langchain-ai/langchain SummarizationMiddleware 1.4.7",
    help="Summarises everything but the newest messages when a trigger is reached.",
    estimator="langchain",
    params=Params,
    gate=gate,
    edit=edit,
    threshold_param="trigger_fraction",
    tier="differential",
)
