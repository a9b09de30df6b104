"""OpenHands' condensers: five of V0 (policies 9.1), and the SDK's (policies 9.2).

A tool pair that a cut of V0's splits leaves the request altogether, as unmatched calls do there.  An observation is a
message with tool results.

``openhands_recent``: with fewer events than that the original sends the first ones twice; a replay does not.  With
``max_events`` no greater than ``keep_first`` its tail is the whole history.

``openhands_window`` acts on request alone, when the provider refused the context.

``openhands_sdk``: the count there is of the tokenizer, o200k here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY
from sessions.engine.policies._client import client, shown_cut
from sessions.engine.policies._lists import SYSTEM, TOOL, USER, has_calls, role_of
from sessions.engine.policies._pairs import mended, orphans_param
from sessions.engine.policies.edits import clear_results
from sessions.engine.policies.params import LIMIT, NoParams, param, when
from sessions.engine.policies.policy import Gate, Item, Layer, Policy, View, when_refused
from sessions.engine.transcript.types import Kind


def max_size_param(default: int) -> Any:
    """The number of events over which a condenser acts."""
    return when(default, "Events, over", "An event is a message of the list", "events", 2, 100_000)


def keep_first_param(default: int) -> Any:
    """How many events at the start are never forgotten; under half of the limit less one."""
    return param(default, "Keep first", "Events at the start that stay", "events", 0, 10_000)


def events_gate(params: Any, view: View) -> Gate:
    """More events than the limit."""
    return Gate.over(len(view.items), params.max_size, "events in the view", "events")


@dataclass(frozen=True, slots=True)
class AmortizedParams:
    """Defaults of the class."""

    max_size: int = max_size_param(100)
    keep_first: int = keep_first_param(0)
    orphans: str = orphans_param()


def amortized_edit(params: AmortizedParams, view: View) -> list[Item]:
    """Head and tail."""
    head = view.items[: params.keep_first]
    n_tail = max(1, params.max_size // 2 - len(head))
    after = [*head, *view.items[max(len(head), len(view.items) - n_tail) :]]
    return mended(view, view.items, after) if params.orphans == "drop" else after


AMORTIZED = Policy(
    name="openhands_amortized", label="OpenHands V0 amortized forgetting",
    source="All-Hands-AI/OpenHands AmortizedForgettingCondenser 0.62.0",
    help="Over a number of events, forgets the older half.",
    params=AmortizedParams, gate=events_gate, edit=amortized_edit,
    summary_calls=False, threshold_param="max_size", tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SummarizingParams:
    """Defaults of the default pipeline; the class alone has 100 and 1."""

    max_size: int = max_size_param(120)
    keep_first: int = keep_first_param(4)
    orphans: str = orphans_param()


def tail(max_size: int, n_head: int) -> int:
    """How many of the newest events stay; at least one."""
    return max(1, max_size // 2 - n_head - 1)


def summarizing_edit(params: SummarizingParams, view: View) -> list[Item]:
    """Head, summary, tail."""
    head = view.items[: params.keep_first]
    cut = max(len(head), len(view.items) - tail(params.max_size, len(head)))
    forgotten = [item for item in view.items[len(head) : cut] if not item.message.summary]
    after = [*head, *view.summarize(forgotten, mode="merge"), *view.items[cut:]]
    return mended(view, view.items, after) if params.orphans == "drop" else after


SUMMARIZING = Policy(
    name="openhands_llm_summarizing", label="OpenHands V0 summarizing",
    source="All-Hands-AI/OpenHands LLMSummarizingCondenser 0.62.0",
    help="Over a number of events, summarises all between the first few and the newest half.",
    params=SummarizingParams, gate=events_gate, edit=summarizing_edit,
    threshold_param="max_size", tier="differential",
)  # fmt: skip


MASKED = "<MASKED>"


@dataclass(frozen=True, slots=True)
class MaskingParams:
    """The window of the configuration; the class alone has 5."""

    attention_window: int = when(100, "Attention window", "Newest events whose observations stay", "events", 1, 100_000)


def due(params: MaskingParams, view: View) -> list[int]:
    """Positions to mask now, newest first: masked ones are all older."""
    edge = len(view.items) - params.attention_window
    outside = (position for position in reversed(view.results) if position < edge)
    return list(takewhile(lambda position: not view.items[position].edited, outside))


def masking_gate(params: MaskingParams, view: View) -> Gate:
    """An observation stands outside the window."""
    return Gate.over(len(due(params, view)), 0, "observations outside the window", "observations")


def masking_edit(params: MaskingParams, view: View) -> dict[int, Item]:
    """Mask them."""
    return {
        n: clear_results(view, view.items[n], view.items[n].message.result_ids(), MASKED) for n in due(params, view)
    }


MASKING = Policy(
    name="openhands_masking", label="OpenHands V0 observation masking",
    source="All-Hands-AI/OpenHands ObservationMaskingCondenser 0.62.0",
    help="Masks observations older than the newest events.",
    params=MaskingParams,
    layers=(Layer("openhands_masking", "Mask observations", masking_gate, masking_edit, cheap=True),),
    summary_calls=False, threshold_param="attention_window", tier="differential",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecentParams:
    """The limit of the configuration; the class alone has 10."""

    max_events: int = when(100, "Events", "At most so many are sent", "events", 1, 100_000)
    keep_first: int = keep_first_param(1)
    orphans: str = orphans_param()


def recent_gate(params: RecentParams, view: View) -> Gate:
    """More events than are sent."""
    n = len(client(view).items)
    fires = n > params.max_events > params.keep_first
    return Gate(fires, "events of the whole history", n, params.max_events, ">", "events")


def recent_edit(params: RecentParams, view: View) -> list[Item]:
    """Head and tail."""
    n = len(client(view).items)
    head = min(params.keep_first, n)
    return shown_cut(view, [(0, head), (max(head, n - (params.max_events - head)), n)], orphans=params.orphans)


RECENT = Policy(
    name="openhands_recent", label="OpenHands V0 recent events",
    source="All-Hands-AI/OpenHands RecentEventsCondenser 0.62.0",
    help="Sends the first and the newest events.",
    params=RecentParams, layers=(Layer("openhands_recent", "Recent events", recent_gate, recent_edit, cheap=True),),
    summary_calls=False, threshold_param="max_events", tier="differential", caveats=(MAY_LOSE_THE_REQUEST,),
)  # fmt: skip


RECALL = "recall"


def kept(items: Sequence[Item]) -> list[int]:
    """Positions that stay; all where there is no user message."""
    kinds = [role_of(item) for item in items]
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


def window_edit(_params: object, view: View) -> list[Item]:
    """What is essential and the newest half."""
    return mended(view, view.items, [view.items[position] for position in kept(view.items)])


WINDOW = Policy(
    name="openhands_window", label="OpenHands V0 conversation window",
    source="All-Hands-AI/OpenHands ConversationWindowCondenser 0.62.0",
    help="When the provider refuses a request, forgets all but the start and the newest half.",
    params=NoParams, gate=when_refused("the context is over the window"), edit=window_edit,
    summary_calls=False, tier="differential", caveats=(MAY_LOSE_THE_REQUEST,),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SdkParams:
    """Defaults of the default agent; the class alone has 240 and 2, the planning agent 100 and 6."""

    max_size: int = max_size_param(80)
    keep_first: int = keep_first_param(4)
    max_tokens: int | None = when(None, "Tokens, over", "At most the window; none: the window", *LIMIT)
    minimum_progress: float = param(
        0.1, "Least progress", "Share of the events that must be forgotten", "of events", 0.01, 0.99, 0.01
    )


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


def sdk_tail(params: SdkParams, view: View) -> int | None:
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


def _limit(params: SdkParams, view: View) -> int:
    return view.window if params.max_tokens is None else min(params.max_tokens, view.window)


def sdk_span(params: SdkParams, view: View, n_tail: int) -> tuple[int, int] | None:
    """What is forgotten, from one position to before another; None where nothing can be, or too little."""
    n = len(view.items)
    system = next((p + 1 for p, item in enumerate(view.items) if role_of(item) == SYSTEM), 0)
    found = places(view.items)
    start = next((place for place in found if place >= max(params.keep_first, system)), None)
    end = next((place for place in found if place >= n - n_tail), None)
    if start is None or end is None or end <= start or end - start < n * params.minimum_progress:
        return None
    return start, end


def sdk_plan(params: SdkParams, view: View) -> tuple[int, int] | None:
    """What is forgotten at this request, a hard reset included."""
    n_tail = sdk_tail(params, view)
    if n_tail is None:
        return None
    found = sdk_span(params, view, n_tail)
    if found is None and (view.rejected or view.size > _limit(params, view)):
        system = next((p + 1 for p, item in enumerate(view.items) if role_of(item) == SYSTEM), 0)
        return system, len(view.items)
    return found


def sdk_gate(params: SdkParams, view: View) -> Gate:
    """A reason to condense, and something to forget."""
    fires = sdk_plan(params, view) is not None
    if view.size > _limit(params, view):
        return Gate(fires, "tokens of the view", view.size, _limit(params, view), ">", "tokens")
    return Gate(fires, "events in the view", len(view.items), params.max_size, ">", "events")


def sdk_edit(params: SdkParams, view: View) -> list[Item]:
    """The summary in place of what is forgotten."""
    found = sdk_plan(params, view)
    if found is None:
        return list(view.items)
    start, end = found
    return [*view.items[:start], *view.summarize(view.items[start:end]), *view.items[end:]]


SDK = Policy(
    name="openhands_sdk", label="OpenHands SDK summarizing",
    source="OpenHands/software-agent-sdk LLMSummarizingCondenser 1.58.0",
    help="Over a number of events or tokens, summarises whole units in the middle; else resets.",
    params=SdkParams, gate=sdk_gate, edit=sdk_edit,
    threshold_param="max_size", tier="differential",
)  # fmt: skip

POLICIES = (AMORTIZED, SUMMARIZING, MASKING, RECENT, WINDOW, SDK)
