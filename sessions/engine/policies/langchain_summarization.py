"""LangChain SummarizationMiddleware: everything before a cut becomes one summary (policies 10.2).

langchain-ai/langchain ``langchain/agents/middleware/summarization.py`` (1.4.7).  It fires where a trigger is reached
(``>=``) by the count or by what the provider reported with the last reply, and something stands before the cut.  The
count is LangChain's approximate one, scaled by the last usage by 1 to 1.25.  The cut keeps the newest messages, or the
longest suffix that fits a budget; on a tool result it moves back to the reply that made the call.  The summary is a
user message; an earlier summary is summarised like any message.

Of what is summarised, the summary call is shown the longest end within ``summary_input`` tokens, from its first user
message on.  Where no user message stands there, no call is made: the summary is one fixed sentence that says so.  The
original counts there with the scale of an old reply, which is nearly always its cap: 1.25 here; a prompt that fits in
part is taken as left out, an earlier summary that fits without its frame as seen.  When the call overflows, the
original retries with less.

The original has no trigger unless it is given one; 80% of the window is the example of its documentation.  System
messages are not part of its list.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from sessions.engine.policies._langchain import MOST_SCALED, counted, measured, message_cut, share, token_cut
from sessions.engine.policies._lists import apart
from sessions.engine.policies._roles import USER, role_of
from sessions.engine.policies.edits import marker
from sessions.engine.policies.params import Told, choice, param, when
from sessions.engine.policies.policy import Draft, Gate, Policy, View

if TYPE_CHECKING:
    from sessions.engine.policies.policy import Item

FRAME = "Here is a summary of the conversation to date:\n\n"
FRAME_TOKENS = len(FRAME) // 4
UNSEEN = "Previous conversation was too long to summarize."


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Triggers (any or all of those given) and what is kept (the first given of share, tokens, messages)."""

    trigger_fraction: float | None = when(
        0.8, "Trigger, share of the window", "None: no such trigger", "of the window", 0.01, 1, 0.01, optional=True
    )
    trigger_tokens: int | None = when(None, "Trigger, tokens", "None: no such trigger", "tokens", 1, 10_000_000, 1_000)
    trigger_messages: int | None = when(None, "Trigger, messages", "None: no such trigger", "messages", 1, 100_000)
    combine: str = choice(
        ("any", "all"), "Triggers given", "Any of them is enough, or all must be reached", group="when"
    )
    keep_messages: int = param(20, "Keep messages", "Newest ones", "messages", 1, 100_000)
    keep_tokens: int | None = param(
        None, "Keep tokens", "In place of messages: the newest that fit", "tokens", 1, 10_000_000, 1_000
    )
    keep_fraction: float | None = param(
        None, "Keep a share", "In place of both: the newest that fit this share of the window",
        "of the window", 0.01, 1, 0.01,
    )  # fmt: skip
    summary_input: int | None = param(
        4_000, "Tokens the summary call sees", "Of the end of what is summarised; none: all of it",
        "tokens", 1, 10_000_000, 500, group="summary", optional=True,
    )  # fmt: skip


def cut(params: Params, view: View, items: list[Item]) -> int:
    """Messages before this position are summarised."""
    if params.keep_fraction is not None:
        return token_cut(items, share(view.window, params.keep_fraction), counted(view))
    if params.keep_tokens is not None:
        return token_cut(items, params.keep_tokens, counted(view))
    return message_cut(items, params.keep_messages)


def gate(params: Params, view: View) -> Gate:
    """A trigger is reached and something stands before the cut."""
    measure = measured(view, counted(view))
    limits = [] if params.trigger_tokens is None else [params.trigger_tokens]
    if params.trigger_fraction is not None:
        limits.append(share(view.window, params.trigger_fraction))
    met = [measure >= limit for limit in limits]
    if params.trigger_messages is not None:
        met.append(len(view.items) >= params.trigger_messages)
    fires = bool(met) and (all(met) if params.combine == "all" else any(met))
    if fires:
        fires = cut(params, view, apart(view.items)[1]) > 0
    if limits:
        limit = max(limits) if params.combine == "all" else min(limits)
        return Gate(fires, "approximate or reported tokens", measure, limit, ">=", "tokens")
    return Gate(fires, "messages in the list", len(view.items), params.trigger_messages or 0, ">=", "messages")


def edit(params: Params, view: View) -> list[Item]:
    """A summary, then what is kept."""
    system, items = apart(view.items)
    position = cut(params, view, items)
    if not seen(params, view, items[:position]):
        note = Draft(FRAME + UNSEEN, marker(FRAME + UNSEEN).n_tokens, FRAME + UNSEEN, summary=True)
        return [*system, view.tools.draft(note), *items[position:]]
    return [*system, *view.summarize(items[:position]), *items[position:]]


def seen(params: Params, view: View, items: list[Item]) -> bool:
    """Whether a user message stands within what the summary call is shown."""
    if params.summary_input is None:
        return True
    scale = MOST_SCALED if view.usage is not None else 1.0
    size = 0
    for item in reversed(items):
        size += item.size
        if ceil(size * scale) > params.summary_input:
            return item.message.summary and ceil((size - FRAME_TOKENS) * scale) <= params.summary_input
        if role_of(item) == USER:
            return True
    return False


POLICY = Policy(
    name="langchain_summarization", label="LangChain summarization",
    source="langchain-ai/langchain SummarizationMiddleware 1.4.7",
    help="Summarises everything but the newest messages when a trigger is reached.", estimator="langchain",
    params=Params, gate=gate, edit=edit,
    threshold_param="trigger_fraction", tier="differential", slack=MOST_SCALED,
)  # fmt: skip
