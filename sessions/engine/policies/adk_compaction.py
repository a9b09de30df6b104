"""Google ADK's event compaction: by tokens, by invocations, or both (policies 11.14).

An event is a message, an invocation a prompt and what follows it.  The original has no defaults: 80% of the window, 20
events, 3 and 1 here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessions.engine.policies._caveats import MAY_START_WITH_A_REPLY
from sessions.engine.policies._lists import ASSISTANT, SYSTEM, USER, role_of, tool_names
from sessions.engine.policies.params import LIMIT, Told, choice, param, when
from sessions.engine.policies.policy import Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Kind

CONTENT_FRAME = {ASSISTANT: len('{"parts":[],"role":"model"}')}
USER_FRAME = len('{"parts":[],"role":"user"}')
TEXT_FRAME = len('{"text":""}')
CALL_FRAME = len('{"function_call":{"id":"","args":,"name":""}}')
RESPONSE_FRAME = len('{"function_response":{"id":"","name":"","response":{"result":""}}}')


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Both triggers."""

    trigger: str = choice(("tokens", "invocations", "both"), "Compacts by", "Both: tokens first", group="when")
    token_threshold: int | None = when(None, "Tokens", "Of the last prompt; none: 80% of the window", *LIMIT)
    retention: int = param(20, "Keep events", "By tokens: newest ones", "events", 0, 10_000)
    interval: int = when(3, "Invocations", "That have ended since the last summary", "invocations", 1, 10_000)
    overlap: int = param(1, "Overlap", "Invocations of the last summary covered again", "invocations", 0, 10_000)


def invocations(view: View) -> dict[str, int]:
    """The number of the invocation of every message in the list, by id; remembered, as prompts may be gone."""
    known: dict[str, int] = view.state.memory.setdefault("invocations", {})
    new = len(view.items)
    while new and view.items[new - 1].id not in known:
        new -= 1
    number = view.state.memory.get("invocation", -1)
    for item in view.items[new:]:
        number += role_of(item) == USER and not item.inserted
        known[item.id] = max(0, number)
    view.state.memory["invocation"] = number
    return known


def raw(items: Sequence[Item]) -> list[Item]:
    """Events that no summary stands for."""
    return [item for item in items if role_of(item) != SYSTEM and not item.message.summary]


def split_index(items: Sequence[Item], retention: int) -> int:
    """How many of the oldest are compacted so that ``retention`` and the calls of their results stay."""
    at = len(items) - retention
    if at <= 0:
        return 0
    unmatched: set[str] = set()
    for position in reversed(range(len(items))):
        message = items[position].message
        unmatched = (unmatched | message.result_ids()) - message.call_ids()
        if not unmatched and position <= at:
            return position
    return 0


def closed_prefix(items: Sequence[Item], ignored: frozenset[str] = frozenset()) -> int:
    """Length of the longest beginning after which no call is open."""
    open_calls: set[str] = set()
    safe = 0
    for position, item in enumerate(items, 1):
        open_calls -= item.message.result_ids()
        open_calls |= item.message.call_ids() - ignored
        if not open_calls:
            safe = position
    return safe


def self_contained(view: View, items: Sequence[Item]) -> list[Item]:
    """The longest beginning that may be summarised; calls that can never be answered are passed over."""
    safe, number = closed_prefix(items), invocations(view)
    if safe == len(items) or (safe and number[items[safe - 1].id] != number[items[safe].id]):
        return list(items[:safe])
    answered = {call for item in view.items for call in item.message.result_ids()}
    newest = number[view.items[-1].id]
    dead = {call for item in items if number[item.id] != newest for call in item.message.call_ids()} - answered
    return list(items[: max(safe, closed_prefix(items, frozenset(dead)))]) if dead else list(items[:safe])


def by_tokens(params: Params, view: View) -> list[Item]:
    """What the token trigger would summarise, the last summary first."""
    events = raw(view.items)
    if len(events) <= params.retention:
        return []
    n = split_index(events, params.retention) if params.retention else len(events)
    found = self_contained(view, events[:n])
    last = [item for item in view.items if item.message.summary][-1:]
    return [*last, *found] if found else []


def by_invocations(params: Params, view: View) -> list[Item]:
    """What the interval would summarise: summaries covered whole first."""
    number = invocations(view)
    ended = view.items[: _n_ended(view)]
    events = raw(ended)
    fresh = sorted({number[item.id] for item in events})
    if len(fresh) < params.interval:
        return []
    start = max(0, fresh[0] - params.overlap)
    found = self_contained(view, events)
    summaries = [item for item in ended if item.message.summary]
    starts: Mapping[str, int] = view.state.memory.get("starts", {})
    covered = [item for item in summaries if starts.get(item.id, 0) >= start]
    gone = json_length(view, [*found, *covered]) - CONTENT_FRAME[ASSISTANT]
    if not found or gone <= json_length(view, summaries[-1:]):
        return []
    return [*covered, *found]


def _n_ended(view: View) -> int:
    """Messages before the newest prompt."""
    n = len(view.items)
    while n and role_of(view.items[n - 1]) == USER and not view.items[n - 1].inserted:
        n -= 1
    return n


def json_length(view: View, items: Sequence[Item]) -> int:
    """Characters of messages as JSON; exact for text without characters that JSON escapes."""
    names = tool_names(view.items)
    total = 0
    for item in items:
        total += CONTENT_FRAME.get(role_of(item), USER_FRAME) + max(0, len(item.message.blocks) - 1)
        for block in item.message.blocks:
            n_chars = sum(leaf.n_chars for leaf in block.leaves())
            if block.kind is Kind.TOOL_USE:
                total += CALL_FRAME + len(block.call_id) + len(block.name) + n_chars
            elif block.kind is Kind.TOOL_RESULT:
                total += RESPONSE_FRAME + len(block.call_id) + len(names.get(block.call_id, "")) + n_chars
            else:
                total += TEXT_FRAME + n_chars
    return total


def tokens_gate(params: Params, view: View) -> Gate:
    """Prompt tokens at or over the threshold, and something to summarise."""
    invocations(view)
    measure = view.size if view.usage is None else view.usage.input
    limit = view.window * 8 // 10 if params.token_threshold is None else params.token_threshold
    fires = params.trigger != "invocations" and measure >= limit and bool(by_tokens(params, view))
    return Gate(fires, "prompt tokens last reported", measure, limit, ">=", "tokens")


def invocations_gate(params: Params, view: View) -> Gate:
    """Enough invocations have ended, the newest message is a prompt, and it is worth it."""
    n_fresh = _n_fresh(view)
    asked = params.trigger != "tokens" and bool(view.items) and role_of(view.items[-1]) == USER
    fires = asked and n_fresh >= params.interval and bool(by_invocations(params, view))
    return Gate(fires, "invocations ended since the last summary", n_fresh, params.interval, ">=", "invocations")


def _n_fresh(view: View) -> int:
    """How many invocations have ended since the last summary; looks at what is new (``memory["fresh"]``)."""
    number, n_ended, fresh = invocations(view), _n_ended(view), set[int]()
    items, start, known = view.state.memory.get("fresh", (None, 0, fresh))
    if items is view.items:
        fresh = known
    else:
        start = 0
    fresh.update([number[item.id] for item in raw(view.items[start:n_ended])])
    view.state.memory["fresh"] = (view.items, n_ended, fresh)
    return len(fresh)


def _summarized(view: View, dropped: Sequence[Item], start: int) -> list[Item]:
    """The list with a summary in place of the newest of what it stands for."""
    ids = {item.id for item in dropped}
    made = view.summarize(dropped, role=ASSISTANT)
    starts = view.state.memory.setdefault("starts", {})
    known = invocations(view)
    for item in made:
        starts[item.id], known[item.id] = start, known[dropped[-1].id]
    last = max(position for position, item in enumerate(view.items) if item.id in ids)
    before = [item for item in view.items[:last] if item.id not in ids]
    return [*before, *made, *view.items[last + 1 :]]


def edit_by_tokens(params: Params, view: View) -> list[Item]:
    """The summary and the events kept; it covers what the last one covered."""
    dropped = by_tokens(params, view)
    first, starts = dropped[0], view.state.memory.get("starts", {})
    return _summarized(view, dropped, starts.get(first.id, invocations(view)[first.id]))


def edit_by_invocations(params: Params, view: View) -> list[Item]:
    """The summary in place of what has ended; it covers the overlap too."""
    dropped = by_invocations(params, view)
    first = min(invocations(view)[item.id] for item in raw(dropped))
    return _summarized(view, dropped, max(0, first - params.overlap))


POLICY = Policy(
    name="adk_compaction", label="Google ADK",
    source="google/adk-python EventsCompactionConfig 2.13.0",
    help="Summarises older events by prompt tokens, or ended invocations by number.",
    estimator="chars_per_4", params=Params,
    layers=(
        Layer("invocations", "By invocations", invocations_gate, edit_by_invocations),
        Layer("tokens", "By tokens", tokens_gate, edit_by_tokens),
    ),
    threshold_param="token_threshold", tier="differential", caveats=(MAY_START_WITH_A_REPLY,),
)  # fmt: skip
