"""The Messages API's compaction on demand, between turns and in the background (policies 5.5, 5.6).

The limit is the client's own: 150,000 is the default of the threshold edit, and ours.  How long a summary takes in the
background is the provider's business: the number of requests, ``arrives_after``, is an assumption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sessions.engine.policies._lists import apart, is_answer, last_assistant, last_spent, turn_starts
from sessions.engine.policies.params import PROMPT, Told, param, when
from sessions.engine.policies.policy import Gate, Item, Policy, View

REASON = "input and output of the last response"


@dataclass(frozen=True, slots=True)
class OnDemandParams(Told):
    """The client's limit, and how many turns it keeps."""

    compact_at: int = when(150_000, "Limit, exceeded", "Input and output of the last response; your own", *PROMPT)
    keep_turns: int = param(0, "Turns kept", "Newest turns left out of the summary", "turns", 0, 1_000)


def on_demand_gate(params: OnDemandParams, view: View) -> Gate:
    """Input + output of the last response > the limit, asked before a turn."""
    measure = last_spent(params, view, view.context)
    if not view.newest_typed:
        return Gate(False, f"{REASON}; asked between turns", measure, params.compact_at, ">", "tokens")
    return Gate.over(measure, params.compact_at, REASON)


def on_demand_edit(params: OnDemandParams, view: View) -> list[Item] | None:
    """One block for the conversation up to the last reply, then the turns kept and the new prompt."""
    system, rest = apart(view.items)
    history, live = _split(rest)
    starts = turn_starts(history) if history else []
    if len(starts) <= params.keep_turns:
        return None
    cut = starts[-params.keep_turns] if params.keep_turns else len(history)
    return [*system, *view.summarize(history[:cut], role="assistant"), *history[cut:], *live]


def _split(rest: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """What was said so far, and what was typed since the last reply or result."""
    stop = last_assistant(rest) + 1
    while stop < len(rest) and is_answer(rest[stop]):
        stop += 1
    return list(rest[:stop]), list(rest[stop:])


@dataclass(frozen=True, slots=True)
class BackgroundParams(Told):
    """When the summary is asked for, and when it is there."""

    start_at: int = when(150_000, "Limit, exceeded", "Input and output of the last response; your own", *PROMPT)
    arrives_after: int = param(1, "Arrives after", "Requests sent with the full history meanwhile", "requests", 1, 100)


class Awaited(NamedTuple):
    """A summary under way (``memory["awaited"]``): asked for at a request, of the list up to ``last``.

    ``memory["swapped"]`` is the request that was sent with the last one's block: no other is asked for there.
    """

    request: int
    last: str
    measure: int


def background_gate(params: BackgroundParams, view: View) -> Gate:
    """Fires when a summary is there; asks for one where input + output of the last response > the limit."""
    memory, limit = view.state.memory, params.start_at
    awaited: Awaited | None = memory.get("awaited")
    if awaited is not None and all(item.id != awaited.last for item in view.items):
        awaited = memory["awaited"] = None
    if awaited is None:
        measure = last_spent(params, view, view.context)
        if measure > limit and view.items and memory.get("swapped") != view.request:
            memory["awaited"] = Awaited(view.request, view.items[-1].id, measure)
            return Gate(False, f"{REASON}; a summary is asked for", measure, limit, ">", "tokens")
        return Gate(False, REASON, measure, limit, ">", "tokens")
    if view.request - awaited.request < params.arrives_after:
        return Gate(False, f"{REASON}; a summary is under way", awaited.measure, limit, ">", "tokens")
    reason = f"{REASON} when a summary was asked for, at request {awaited.request}"
    return Gate(True, reason, awaited.measure, limit, ">", "tokens")


def background_edit(_params: object, view: View) -> list[Item] | None:
    """The block in place of exactly what its request held; what came since stays."""
    awaited: Awaited | None = view.state.memory.pop("awaited", None)
    if awaited is None:
        return None
    view.state.memory["swapped"] = view.request
    system, rest = apart(view.items)
    cut = next((n + 1 for n, item in enumerate(rest) if item.id == awaited.last), 0)
    return [*system, *view.summarize(rest[:cut], role="assistant"), *rest[cut:]] if cut else None


ON_DEMAND = Policy(
    name="anthropic_on_demand", label="Anthropic API: compaction on demand",
    source="Anthropic's documentation of compaction on demand, beta compact-2026-09-04",
    help="Between turns the client asks for a block in place of the conversation once its own limit is exceeded.",
    params=OnDemandParams, gate=on_demand_gate, edit=on_demand_edit,
    shares_prefix=True, threshold_param="compact_at", tier="golden",
)  # fmt: skip
BACKGROUND = Policy(
    name="anthropic_background", label="Anthropic API: background compaction",
    source="Anthropic's documentation of compaction in the background, beta compact-2026-09-04",
    help="A summary is written while the conversation goes on; its block replaces exactly what it was asked of.",
    params=BackgroundParams, gate=background_gate, edit=background_edit,
    shares_prefix=True, threshold_param="start_at", tier="golden",
)  # fmt: skip

POLICIES = (ON_DEMAND, BACKGROUND)
