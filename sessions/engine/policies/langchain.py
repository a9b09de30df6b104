"""LangChain's summarization, trimming and clearing (policies 10); deepagents builds on its cut points and counts.

``langchain_summarization`` (policies 10.2): where the summary call would see no user message, the original counts with
the scale of an old reply, which is nearly always its cap: 1.25 here; a prompt that fits in part is taken as left out,
an earlier summary that fits without its frame as seen.  It has no trigger unless it is given one; 80% of the window is
the example of its documentation.  System messages are not part of its list.

``langchain_trim`` (policies 10.1): the binary search of the original finds the same length, counts being never
negative.  The budget has no default there; 80% of the window here.  ``allow_partial`` (a message cut at a line) needs
texts and is not offered.  The original splits tool pairs (``orphans``), which is what ``start_on`` is for.

``langchain_clear_tool_uses`` (policies 10.3): what is cleared once stays cleared: the history only grows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY
from sessions.engine.policies._client import client, shown_cut
from sessions.engine.policies._lists import SYSTEM, TOOL, USER, apart, results_of, role_of
from sessions.engine.policies._looked import looked, looked_at
from sessions.engine.policies._pairs import orphans_param
from sessions.engine.policies.edits import clear_results, edit_blocks, marker, with_text
from sessions.engine.policies.params import LIMIT, MANY_TOKENS, MESSAGES, SHARE, Told, choice, param, when
from sessions.engine.policies.policy import Draft, Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Block, Kind, Role

MOST_SCALED = 1.25
"""The estimate is scaled by the last usage, by 1 to this."""


def counted(view: View, size: int | None = None) -> int:
    """The list's size by estimate, or ``size``, scaled by 1 to 1.25 as the provider counted it up to the last reply."""
    size = view.size if size is None else size
    if view.usage is None or len(view.items) < 2:
        return size
    up_to_reply = size - view.usage.tail
    if up_to_reply <= 0:
        return size
    scale = view.usage.spent / up_to_reply
    return ceil(size * min(MOST_SCALED, max(1.0, scale)))


def measured(view: View, count: int) -> int:
    """What a limit in tokens is held against: the count, or what the provider reported with the last reply."""
    return max(count, 0 if view.usage is None else view.usage.spent)


def share(window: int, fraction: float) -> int:
    """``int(window × fraction)`` tokens, at least 1."""
    return max(1, int(window * fraction))


def message_cut(items: Sequence[Item], keep: int) -> int:
    """Messages before this position go when the newest ``keep`` are to stay; 0 for none."""
    return 0 if len(items) <= keep else safe_cut(items, len(items) - keep)


def token_cut(items: Sequence[Item], budget: int, count: int) -> int:
    """The earliest position whose suffix weighs at most ``budget``, 0 where ``count`` does; the newest always stays."""
    if not items or count <= budget:
        return 0
    cut, weight = len(items), 0
    while cut and weight + items[cut - 1].size <= budget:
        cut -= 1
        weight += items[cut].size
    if cut == len(items):
        if len(items) == 1:
            return 0
        cut -= 1
    return safe_cut(items, cut)


def safe_cut(items: Sequence[Item], cut: int) -> int:
    """A cut on a tool result moves back to the reply that made the call, forward over the results where none did."""
    if cut >= len(items) or role_of(items[cut]) != TOOL:
        return cut
    wanted: set[str] = set()
    end = cut
    while end < len(items) and role_of(items[end]) == TOOL:
        wanted |= items[end].message.result_ids()
        end += 1
    for position in reversed(range(cut)):
        if wanted & items[position].message.call_ids():
            return position
    return end


FRAME = "Here is a summary of the conversation to date:\n\n"
FRAME_TOKENS = len(FRAME) // 4
UNSEEN = "Previous conversation was too long to summarize."


@dataclass(frozen=True, slots=True)
class SummarizationParams(Told):
    """Triggers (any or all of those given) and what is kept (the first given of share, tokens, messages)."""

    trigger_fraction: float | None = when(
        0.8, "Trigger, share of the window", "None: no such trigger", *SHARE, optional=True
    )
    trigger_tokens: int | None = when(None, "Trigger, tokens", "None: no such trigger", *LIMIT)
    trigger_messages: int | None = when(None, "Trigger, messages", "None: no such trigger", *MESSAGES)
    combine: str = choice(
        ("any", "all"), "Triggers given", "Any of them is enough, or all must be reached", group="when"
    )
    keep_messages: int = param(20, "Keep messages", "Newest ones", *MESSAGES)
    keep_tokens: int | None = param(None, "Keep tokens", "In place of messages: the newest that fit", *LIMIT)
    keep_fraction: float | None = param(
        None, "Keep a share", "In place of both: the newest that fit this share of the window", *SHARE
    )
    summary_input: int | None = param(
        4_000, "Tokens the summary call sees", "Of the end of what is summarised; none: all of it",
        "tokens", 1, 10_000_000, 500, group="summary", optional=True,
    )  # fmt: skip


def cut(params: SummarizationParams, view: View, items: list[Item]) -> int:
    """Messages before this position are summarised."""
    if params.keep_fraction is not None:
        return token_cut(items, share(view.window, params.keep_fraction), counted(view))
    if params.keep_tokens is not None:
        return token_cut(items, params.keep_tokens, counted(view))
    return message_cut(items, params.keep_messages)


def summarization_gate(params: SummarizationParams, view: View) -> Gate:
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


def summarization_edit(params: SummarizationParams, view: View) -> list[Item]:
    """A summary, then what is kept."""
    system, items = apart(view.items)
    position = cut(params, view, items)
    if not seen(params, view, items[:position]):
        note = Draft(FRAME + UNSEEN, marker(FRAME + UNSEEN).n_tokens, FRAME + UNSEEN, summary=True)
        return [*system, view.tools.draft(note), *items[position:]]
    return [*system, *view.summarize(items[:position]), *items[position:]]


def seen(params: SummarizationParams, view: View, items: list[Item]) -> bool:
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


SUMMARIZATION = Policy(
    name="langchain_summarization", label="LangChain summarization",
    source="langchain-ai/langchain SummarizationMiddleware 1.4.7",
    help="Summarises everything but the newest messages when a trigger is reached.", estimator="langchain",
    params=SummarizationParams, gate=summarization_gate, edit=summarization_edit,
    threshold_param="trigger_fraction", tier="differential", slack=MOST_SCALED,
)  # fmt: skip


TYPES = ("any", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class TrimParams:
    """Budget, side and the types that the result may start and end with."""

    max_tokens: int | None = when(None, "Budget", "Approximate tokens; none: 80% of the window", *MANY_TOKENS)
    strategy: str = choice(("last", "first"), "Keep", "The end or the start of the history")
    include_system: str = choice(
        ("on", "off"), "Keep a leading system message", "With last alone; the original's default is off"
    )
    start_on: str = choice(TYPES, "Start on", "With last alone", default="any")
    end_on: str = choice(TYPES, "End on", "Messages after the last of this type go", default="any")
    orphans: str = orphans_param()


def trimmed(params: TrimParams, items: Sequence[Item], until: Sequence[int], budget: int) -> list[tuple[int, int]]:
    """What is sent of the whole history as stretches (from, to); its first n messages have the size ``until[n]``."""
    if params.strategy == "first":
        stop = bisect_right(until, budget) - 1
        return [(0, _ended(items, stop, params.end_on))]
    stop = _ended(items, len(items), params.end_on)
    start = int(params.include_system == "on" and stop > 0 and role_of(items[0]) == SYSTEM)
    if start:
        budget = max(0, budget - items[0].size)
    first = bisect_left(until, until[stop] - budget, start, stop)
    while params.start_on != "any" and first < stop and role_of(items[first]) != params.start_on:
        first += 1
    return [(0, start), (first, stop)]


def _ended(items: Sequence[Item], stop: int, kind: str) -> int:
    """Where the list ends so that its last message is of the type asked for."""
    while kind != "any" and stop and role_of(items[stop - 1]) != kind:
        stop -= 1
    return stop


def _budget(params: TrimParams, view: View) -> int:
    return view.window * 8 // 10 if params.max_tokens is None else params.max_tokens


def trim_gate(params: TrimParams, view: View) -> Gate:
    """The whole history over the budget, or a message at its end or start that is not of the type asked for."""
    held, budget = client(view), _budget(params, view)
    fires = held.size > budget
    if not fires and (params.end_on != "any" or params.start_on != "any"):
        spans = trimmed(params, held.items, held.until, budget)
        sent = [item.id for start, stop in spans for item in held.items[start:stop]]
        fires = sent != [item.id for item in view.items]
    return Gate(fires, "approximate tokens of the whole history", held.size, budget, ">", "tokens")


def trim_edit(params: TrimParams, view: View) -> list[Item]:
    """What is sent."""
    everything = client(view)
    spans = trimmed(params, everything.items, everything.until, _budget(params, view))
    return shown_cut(view, spans, orphans=params.orphans)


TRIM = Policy(
    name="langchain_trim", label="LangChain trim messages",
    source="langchain-ai/langchain trim_messages, core 1.7.2",
    help="Sends the longest end (or start) of the history that fits a budget.", estimator="langchain",
    params=TrimParams, layers=(Layer("langchain_trim", "Trim", trim_gate, trim_edit, cheap=True),),
    summary_calls=False, threshold_param="max_tokens", tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)  # fmt: skip


PLACEHOLDER, EMPTY = "[cleared]", "{}"


@dataclass(frozen=True, slots=True)
class ClearParams:
    """Trigger, what is kept, how much must be cleared."""

    trigger: int = when(100_000, "Trigger, over", "Approximate tokens of the whole history", *MANY_TOKENS)
    keep: int = param(3, "Keep", "Newest results that are never cleared", "results", 0, 10_000)
    clear_at_least: int = param(
        0, "Clear at least", "Stops as soon as so much is cleared; 0: clears all it may", *MANY_TOKENS
    )
    clear_tool_inputs: str = choice(
        ("on", "off"), "Clear arguments too", "Empties the arguments of calls whose result is cleared", default="off"
    )
    exclude_tools: str = param("", "Never clear", "Names of tools whose results stay; they use up keep", words=True)


def saved(view: View) -> int:
    """What this policy's clearing has taken off the list as it stands, in the trigger's unit."""
    return int(view.state.memory.get("saved", 0)) if view.unedited > view.context else 0


def waiting(params: ClearParams, view: View) -> Iterator[tuple[int, int, str]]:
    """Results that may be cleared, oldest first: their position, that of the reply that called, the call id."""
    start = looked_at(view, "waiting_from")
    excluded = frozenset(params.exclude_tools.split())
    stop, left = _first_kept(view, params.keep)
    cleared = view.state.memory.get("cleared", ())
    waits = False
    for n in range(start, min(stop + 1, len(view.results))):
        position = view.results[n]
        item = view.items[position]
        found = list(results_of(item))
        for block in found[:left] if n == stop else found:
            if item.edited and block.call_id in cleared:
                continue
            reply = position - 1
            while reply >= 0 and view.items[reply].message.role is not Role.ASSISTANT:
                reply -= 1
            if reply >= 0 and _may_go(view.items[reply], block.call_id, excluded):
                if not waits:
                    looked(view, "waiting_from", n)
                waits = True
                yield position, reply, block.call_id
    if not waits:
        looked(view, "waiting_from", max(start, stop))


def _may_go(reply: Item, call_id: str, excluded: frozenset[str]) -> bool:
    """Whether a reply makes this call, of a tool that is not excluded."""
    calls = [b.name for b in reply.message.blocks if b.kind is Kind.TOOL_USE and b.call_id == call_id]
    return bool(call_id and calls) and calls[0] not in excluded


def _first_kept(view: View, keep: int) -> tuple[int, int]:
    """Where in ``View.results`` the newest ``keep`` results start, and how many of that message are older."""
    if not keep:
        return len(view.results), 0
    for n in reversed(range(len(view.results))):
        held = len(list(results_of(view.items[view.results[n]])))
        if held >= keep:
            return n, held - keep
        keep -= held
    return 0, 0


def clear_gate(params: ClearParams, view: View) -> Gate:
    """The whole history's count over the trigger, and something left to clear."""
    taken = saved(view)
    whole = view.size + taken
    fires = whole > params.trigger and not (params.clear_at_least and taken >= params.clear_at_least)
    if fires:
        found = view.state.memory["waiting"] = list(waiting(params, view))
        fires = bool(found)
    return Gate(fires, "approximate tokens of the whole history", whole, params.trigger, ">", "tokens")


def clear_edit(params: ClearParams, view: View) -> dict[int, Item]:
    """Clear, oldest first, what the trigger found (``memory["waiting"]``)."""
    taken = saved(view)
    patch: dict[int, Item] = {}

    def change(position: int, new: Item) -> None:
        nonlocal taken
        taken += patch.get(position, view.items[position]).size - new.size
        patch[position] = new

    found = view.state.memory.pop("waiting", None)
    for position, reply, call_id in list(waiting(params, view)) if found is None else found:
        item = patch.get(position, view.items[position])
        view.state.memory.setdefault("cleared", set()).add(call_id)
        change(position, clear_results(view, item, {call_id}, PLACEHOLDER))
        if params.clear_tool_inputs == "on":
            change(reply, _without_arguments(view, patch.get(reply, view.items[reply]), call_id))
        if params.clear_at_least and taken >= params.clear_at_least:
            break
    view.state.memory["saved"] = taken
    return patch


def _without_arguments(view: View, item: Item, call_id: str) -> Item:
    def is_full(block: Block) -> bool:
        return block.kind is Kind.TOOL_USE and block.call_id == call_id and block.n_chars > len(EMPTY)

    return edit_blocks(view, item, lambda block: with_text(block, EMPTY) if is_full(block) else block)


CLEAR = Policy(
    name="langchain_clear_tool_uses", label="LangChain clear tool uses",
    source="langchain-ai/langchain ContextEditingMiddleware, ClearToolUsesEdit 1.4.7",
    help="Clears the oldest tool results of each request while the whole history is over a trigger.",
    estimator="langchain",
    params=ClearParams,
    layers=(Layer("langchain_clear_tool_uses", "Clear tool results", clear_gate, clear_edit, cheap=True),),
    summary_calls=False, threshold_param="trigger", tier="differential",
)  # fmt: skip

POLICIES = (SUMMARIZATION, TRIM, CLEAR)
