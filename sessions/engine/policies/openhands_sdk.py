"""OpenHands SDK LLMSummarizingCondenser: a summary between whole units, or a hard reset (policies 9.2).

OpenHands/software-agent-sdk ``openhands-sdk/openhands/sdk/context/condenser/llm_summarizing_condenser.py`` (1.58.0).
Reasons: more than ``max_size`` events; more tokens than ``max_tokens`` or the model's limit, the lesser; a request that
the provider refused.  Each wants a number of newest events to stay, the smallest counts: ``max_size // 2 − keep_first −
1``; half of the events likewise; or so many that what goes weighs over total − limit // 2.  Both edges of what is
forgotten move forward to the next place that splits no unit: calls with their results, the calls of one reply, a tool
loop that began with thinking.  Under a tenth of the events, or where there is no such place: nothing for the first
reason, else a hard reset, which summarises everything after the system prompt.

80 events with 4 kept: at 81, 35 newest stay and 42 are forgotten.  240 and 2: at 241, 117 and 122.  The count there is
of the tokenizer, o200k here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.policies._openhands import keep_first_param, max_size_param
from sessions.engine.policies._roles import SYSTEM, has_calls, role_of
from sessions.engine.policies.params import param, when
from sessions.engine.policies.policy import Gate, Policy, View
from sessions.engine.transcript.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policies.policy import Item


@dataclass(frozen=True, slots=True)
class Params:
    """Defaults of the default agent; the class alone has 240 and 2, the planning agent 100 and 6."""

    max_size: int = max_size_param(80)
    keep_first: int = keep_first_param(4)
    max_tokens: int | None = when(
        None, "Tokens, over", "At most the window; none: the window", "tokens", 1, 10_000_000, 1_000
    )
    minimum_progress: float = param(
        0.1, "Least progress", "Share of the events that must be forgotten", "of events", 0.01, 0.99, 0.01
    )


class Stretch(NamedTuple):
    """What is forgotten: positions from start to before end."""

    start: int
    end: int


def places(items: Sequence[Item]) -> list[int]:
    """Where the list may be cut or something put in, in order; the end counts."""
    bad: set[int] = set()
    pending: set[str] = set()
    in_loop = False
    for position, item in enumerate(items):
        calls, results = item.message.call_ids(), item.message.result_ids()
        if has_calls(item) and any(block.kind is Kind.THINKING for block in item.message.blocks):
            in_loop = True
        elif calls or results:
            if in_loop:
                bad.add(position)
        else:
            in_loop = False
        if calls and position and _same_reply(items[position - 1], item):
            bad.add(position)
        pending = (pending | calls) - results
        if pending:
            bad.add(position + 1)
    return [place for place in range(len(items) + 1) if place not in bad]


def _same_reply(left: Item, right: Item) -> bool:
    return has_calls(left) and left.step == right.step and not left.inserted


def tail(params: Params, view: View) -> int | None:
    """How many of the newest events are to stay; None where there is no reason to condense."""
    n, wanted = len(view.items), []
    if view.rejected:
        wanted.append(n // 2 - params.keep_first - 1)
    if n > params.max_size:
        wanted.append(params.max_size // 2 - params.keep_first - 1)
    limit = _limit(params, view)
    if view.size > limit:
        wanted.append(token_tail(view.items[params.keep_first :], view.size - limit // 2))
    return min(wanted) if wanted else None


def token_tail(items: Sequence[Item], reduction: int) -> int:
    """How many of the newest stay when the shortest beginning that weighs more than ``reduction`` goes."""
    total = 0
    for n, item in enumerate(items, 1):
        total += item.size
        if total > reduction:
            return len(items) - n
    return 0


def _limit(params: Params, view: View) -> int:
    return view.window if params.max_tokens is None else min(params.max_tokens, view.window)


def span(params: Params, view: View, n_tail: int) -> Stretch | None:
    """What is forgotten; None where nothing can be, or too little."""
    n = len(view.items)
    system = next((p + 1 for p, item in enumerate(view.items) if role_of(item) == SYSTEM), 0)
    found = places(view.items)
    start = next((place for place in found if place >= max(params.keep_first, system)), None)
    end = next((place for place in found if place >= n - n_tail), None)
    if start is None or end is None or end <= start or end - start < n * params.minimum_progress:
        return None
    return Stretch(start, end)


def plan(params: Params, view: View) -> Stretch | None:
    """What is forgotten at this request, a hard reset included."""
    n_tail = tail(params, view)
    if n_tail is None:
        return None
    found = span(params, view, n_tail)
    if found is None and (view.rejected or view.size > _limit(params, view)):
        system = next((p + 1 for p, item in enumerate(view.items) if role_of(item) == SYSTEM), 0)
        return Stretch(system, len(view.items))
    return found


def gate(params: Params, view: View) -> Gate:
    """A reason to condense, and something to forget."""
    fires = plan(params, view) is not None
    if view.size > _limit(params, view):
        return Gate(fires, "tokens of the view", view.size, _limit(params, view), ">", "tokens")
    return Gate(fires, "events in the view", len(view.items), params.max_size, ">", "events")


def edit(params: Params, view: View) -> list[Item]:
    """The summary in place of what is forgotten."""
    found = plan(params, view)
    if found is None:
        return list(view.items)
    forgotten = view.items[found.start : found.end]
    return [*view.items[: found.start], *view.summarize(forgotten), *view.items[found.end :]]


POLICY = Policy(
    name="openhands_sdk", label="OpenHands SDK summarizing",
    source="OpenHands/software-agent-sdk LLMSummarizingCondenser 1.58.0",
    help="Over a number of events or tokens, summarises whole units in the middle; else resets.",
    params=Params, gate=gate, edit=edit,
    threshold_param="max_size", tier="differential",
)  # fmt: skip
