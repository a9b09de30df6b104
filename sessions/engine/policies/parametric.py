"""The policy of an agent of one's own: any triggers with any edit, every number a parameter.

Triggers that are set are joined by any or all; guards (messages since the last one, worth it, calls expected) must
hold besides.  The edit leaves the first and the last messages alone and never splits a tool pair.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sessions.engine.base.comparisons import reaches
from sessions.engine.policies._lists import apart, turn_starts, used
from sessions.engine.policies._looked import n_conversation
from sessions.engine.policies.edits import MEDIA, clear_results, drop_media, drop_thinking, result_chars, thinks
from sessions.engine.policies.params import LIMIT, MESSAGES, PERCENT, TOKENS, Told, choice, param, stop_after, when
from sessions.engine.policies.policy import EditFailed, Gate, Item, Policy, View, cut_to, pair_safe_cut
from sessions.engine.transcript.types import Kind, Role

TRIGGERS = ("share", "tokens", "reserve", "kilobytes", "messages", "turns", "idle_minutes")
"""Parameters that are a trigger where they are set."""
CLEARED = "[Old tool result content cleared]"
DROPPED = "[image removed]"
CUTS = ("summarise", "truncate")
"""Edits that take messages out; the others change them in place."""
EDITS = (*CUTS, "mask results", "clear thinking", "drop images")


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Any triggers with any edit; those left at none do not count."""

    share: float | None = when(
        80.0, "Share of the window", "Of the static or the effective window", "%", 1, 100, 0.5, optional=True
    )
    capacity: str = choice(
        ("static", "effective"), "Window", "The whole window, or the window without the system overhead", group="when"
    )
    tokens: int | None = when(None, "Tokens in use", "Fires from so many on; none: does not count", *LIMIT)
    reserve: int | None = when(None, "Reserve", "Fires this far under the window", *TOKENS)
    kilobytes: int | None = when(None, "Body size", "Bytes of the list", "KB", 1, 1_000_000, 100)
    messages: int | None = when(None, "Messages", "In the list, system messages not counted", *MESSAGES)
    turns: int | None = when(None, "Turns", "Typed prompts since the last compaction", "turns", 1, 10_000)
    idle_minutes: int | None = when(
        None, "Idle", "The cache is cold then: rewriting it costs nothing extra", "minutes", 1, 10_000
    )
    combine: str = choice(("any", "all"), "Triggers", "Any or all of those set", group="when")
    operator: str = choice((">=", ">"), "Operator", "At or only over the threshold", group="when")
    moment: str = choice(
        ("mid-turn", "turn-end"),
        "When it may fire",
        "At any request, or only when a typed prompt starts a turn",
        group="when",
    )
    counted: str = choice(
        ("context", "usage", "estimate"),
        "Tokens counted",
        "The context as sent; the last usage and an estimate of the rest; or all by the estimator",
        group="when",
    )
    min_messages: int = when(0, "Messages since the last one", "At least this many new ones", "messages", 0, 10_000)
    reclaim: int | None = when(None, "Least share to free", "At least this share of the context would go", *PERCENT)
    remaining_calls: int | None = when(
        None, "Calls still expected", "As many calls are expected as were made so far", "calls", 0, 100_000
    )
    edit: str = choice(EDITS, "What to do with old messages", "All that the next settings do not keep")
    keep_first: int = param(0, "Keep first", "Messages at the start", "messages", 0, 1_000)
    keep_last: int = param(10, "Keep last", "At the end of the list", "messages, turns or tokens", 0, 1_000_000)
    keep_unit: str = choice(
        ("messages", "replies", "turns", "tokens"),
        "Kept by",
        "A turn starts at a typed prompt, a reply has its results with it",
    )
    target: int | None = param(
        None, "Truncate to", "Oldest go only until this share of the window is left; none: all but the kept",
        "%", 0, 100,
    )  # fmt: skip
    min_chars: int = param(120, "Shortest result masked, above", "Shorter ones stay", "chars", 0, 100_000, 10)
    merge: str = choice(
        ("off", "on"), "Merge summaries", "Only what is new is summarised, into the last summary", group="summary"
    )
    summary_cap: int | None = param(
        None, "Summary at most", "A longer one is cut; none: no limit", "tokens", 0, 1_000_000, 500, group="summary"
    )
    breaker: int | None = stop_after("attempts in a row before it stops")


class Condition(NamedTuple):
    """One measured value against its threshold; ``reason`` says in words what is measured."""

    reason: str
    measure: int
    threshold: int
    unit: str


def in_use(params: Any, view: View) -> int:
    """Tokens in use: the context as sent, the last usage with an estimate of what came after, or all by estimate."""
    if params.counted == "context":
        return view.context
    return used(view, overhead=False) if params.counted == "usage" else view.size


def capacity(params: Any, view: View) -> int:
    """Tokens that count as 100%: the window, or the window without overhead (never below 1)."""
    return max(1, view.window - view.overhead) if params.capacity == "effective" else view.window


def filled(params: Any, view: View) -> int:
    """Tokens in use that fill the capacity: without the overhead where the capacity is without it."""
    taken = view.overhead if params.capacity == "effective" and params.counted != "estimate" else 0
    return max(0, in_use(params, view) - taken)


def triggers(params: Any, view: View) -> Iterator[Condition]:
    """The conditions that are set, in a fixed order."""
    if params.share is not None:
        limit = int(capacity(params, view) * params.share) // 100
        yield Condition(f"{params.share:g}% of the {params.capacity} window", filled(params, view), limit, "tokens")
    if params.tokens is not None:
        yield Condition("tokens in use", in_use(params, view), params.tokens, "tokens")
    if params.reserve is not None:
        limit = view.window - params.reserve
        yield Condition(f"the window less {params.reserve:,}", in_use(params, view), limit, "tokens")
    if params.kilobytes is not None:
        wire = sum(view.tools.size_by(item, "wire_bytes") for item in view.items)
        yield Condition("bytes of the list", wire, params.kilobytes * 1_000, "bytes")
    if params.messages is not None:
        yield Condition("messages in the list", n_conversation(view), params.messages, "messages")
    if params.turns is not None:
        yield Condition("turns since the last compaction", view.state.turns_since_event, params.turns, "turns")
    if params.idle_minutes is not None:
        idle = int(view.idle_seconds or 0)
        yield Condition("idle: the cache is cold anyway", idle, params.idle_minutes * 60, "seconds")


def guards(params: Any, view: View, reclaimed: Callable[[], int] | None) -> Iterator[Condition]:
    """What must hold besides, whatever triggers."""
    if params.min_messages:
        since = view.state.messages_since_event
        yield Condition("messages since the last compaction", since, params.min_messages, "messages")
    if params.remaining_calls is not None:
        yield Condition("calls expected: as many as so far", view.request, params.remaining_calls, "calls")
    if reclaimed is not None and params.reclaim is not None:
        limit = view.context * params.reclaim // 100
        yield Condition(f"{params.reclaim}% of the context would go", reclaimed(), limit, "tokens")


def ask(params: Any, view: View, reclaimed: Callable[[], int] | None = None) -> Gate:
    """Any or all of the triggers, at the moment asked for, and every guard.

    ``reclaimed`` gives the tokens that the edit would free, None where nobody can tell before.  What is reported is the
    trigger that fired, else the one that is nearest to its threshold.
    """
    operator = params.operator
    found = list(triggers(params, view))
    if not found:
        return Gate(False, "no trigger is set", 0, 0, operator, "tokens")
    holding = [c for c in found if reaches(c.measure, operator, c.threshold)]
    fires = len(holding) == len(found) if params.combine == "all" else bool(holding)
    waiting = [c for c in found if c not in holding]
    pool = (waiting if params.combine == "all" and waiting else holding) or found
    shown = max(pool, key=lambda c: c.measure / c.threshold if c.threshold > 0 else float("inf"))
    reason = shown.reason
    if fires and params.moment == "turn-end" and not view.newest_typed:
        fires, reason = False, f"{reason}; waiting for the turn to end"
    elif fires:
        short = next((c for c in guards(params, view, reclaimed) if c.measure < c.threshold), None)
        if short is not None:
            fires, reason = False, f"{reason}; but {short.reason}: {short.measure:,} of {short.threshold:,}"
    return Gate(fires, reason, shown.measure, shown.threshold, operator, shown.unit)


def gate(params: Any, view: View) -> Gate:
    """The conditions (``ask``); an edit in place needs something to edit, too."""
    asked = ask(params, view, lambda: reclaimable(params, view))
    if asked.fires and params.edit not in CUTS and not editable(params, view):
        return asked._replace(fires=False, reason=f"{asked.reason}; nothing left to edit")
    return asked


def kept_from(params: Any, rest: list[Item]) -> int:
    """Position in ``rest`` from which the tail is kept.  What an earlier event inserted is not counted and not kept."""
    cut, left = len(rest), params.keep_last
    if params.keep_unit == "turns":
        starts = turn_starts(rest) if rest else []
        cut = len(rest) if not left else (starts[-left:] or [0])[0]
    elif params.keep_unit == "replies":
        cut = _reply_from_end(rest, left)
    else:
        while cut and not rest[cut - 1].inserted:
            left -= 1 if params.keep_unit == "messages" else rest[cut - 1].tokens
            if left < 0:
                break
            cut -= 1
    return next((n + 1 for n in reversed(range(cut, len(rest))) if rest[n].inserted), cut)


def _reply_from_end(items: list[Item], count: int) -> int:
    """Position of the ``count``-th reply from the end, of the first one where there are fewer."""
    found = 0 if count else len(items)
    for position in reversed(range(len(items))):
        if not count:
            break
        if items[position].message.role is Role.ASSISTANT:
            found, count = position, count - 1
    return found


def parts(params: Any, view: View) -> tuple[list[Item], list[Item], list[Item]]:
    """What stays in front (system messages and the first ones), what the edit is about, what stays behind."""
    system, rest = apart(view.items)
    cut = pair_safe_cut(rest, kept_from(params, rest))
    head = min(params.keep_first, cut)
    while head < cut and rest[head].message.result_ids() & {c for i in rest[:head] for c in i.message.call_ids()}:
        head += 1
    return [*system, *rest[:head]], rest[head:cut], rest[cut:]


def reclaimable(params: Any, view: View) -> int:
    """Display tokens that the edit would take away, found once between two events; a summary is not counted."""
    if params.edit in CUTS:
        return sum(item.tokens for item in parts(params, view)[1])
    found = _waiting(params, view)
    for n in found.positions[len(found.made) :]:
        made = _edited(params, view, view.items[n])
        found.made.append(made)
        found.freed += view.items[n].tokens - made.tokens
    return found.freed


@dataclass(slots=True)
class _Waiting:
    """What an edit in place would change between two events, found once: ``start`` to ``stop`` were looked through.

    ``made`` are the messages at the first of ``positions``, edited; ``freed`` the display tokens that this takes away.
    """

    items: list[Item]
    n_events: int
    start: int
    stop: int
    positions: list[int]
    made: list[Item] = field(default_factory=list)
    freed: int = 0


def editable(params: Any, view: View) -> list[int]:
    """Positions of what an edit in place would change.  What it changed before is not looked at again."""
    return _waiting(params, view).positions


def _waiting(params: Any, view: View) -> _Waiting:
    start, stop = params.keep_first, kept_from(params, view.items)
    done, last = view.state.memory.get("edited_up_to", (0, ""))
    if done and done <= len(view.items) and view.items[done - 1].id == last:
        start = max(start, done)
    found: _Waiting | None = view.state.memory.get("waiting")
    known = found is not None and found.items is view.items and found.n_events == view.state.n_events
    if found is None or not known or found.start != start or found.stop > stop:
        found = view.state.memory["waiting"] = _Waiting(view.items, view.state.n_events, start, start, [])
    found.positions += [n for n in range(found.stop, stop) if _has_work(params, view, view.items[n])]
    found.stop = max(found.stop, stop)
    return found


def edit(params: Any, view: View) -> list[Item] | dict[int, Item]:
    """The chosen edit of everything between the first and the last messages that are kept."""
    if params.edit in CUTS:
        return _cut(params, view)
    waiting = _waiting(params, view)
    found = dict(zip(waiting.positions, waiting.made, strict=False))
    found |= {n: _edited(params, view, view.items[n]) for n in waiting.positions[len(waiting.made) :]}
    if found:
        at = max(found)
        view.state.memory["edited_up_to"] = (at + 1, view.items[at].id)
    return {n: item for n, item in found.items() if item is not view.items[n]}


def _has_work(params: Any, view: View, item: Item) -> bool:
    if params.edit == "clear thinking":
        return thinks(item.message)
    if params.edit == "drop images":
        return any(leaf.kind in MEDIA for leaf in item.message.leaves())
    return bool(_long_results(params, view, item))


def _long_results(params: Any, view: View, item: Item) -> set[str]:
    """Call ids of the results of a message that masking would make shorter."""
    return {
        b.call_id
        for b in item.message.blocks
        if b.kind is Kind.TOOL_RESULT and b.call_id not in view.state.cleared
        if result_chars(b) > params.min_chars or any(leaf.kind in MEDIA for leaf in b.leaves())
    }


def _cut(params: Any, view: View) -> list[Item]:
    front, middle, tail = parts(params, view)
    if not any(not item.inserted for item in middle):
        raise EditFailed("nothing but what is always kept is left to compact")
    if params.edit == "truncate":
        return [*front, *_truncated(params, view, front, middle, tail), *tail]
    mode, dropped = "fresh", middle
    if params.merge == "on":
        anchor = {item.id for item in view.state.last_summary}
        mode, dropped = "merge", [item for item in middle if item.id not in anchor]
    return [*front, *view.summarize(dropped, mode=mode, most=params.summary_cap), *tail]


def _truncated(params: Any, view: View, front: list[Item], middle: list[Item], tail: list[Item]) -> list[Item]:
    """What is left of the middle: nothing, or its newest messages down to the target."""
    if params.target is None:
        return []
    goal = capacity(params, view) * params.target // 100 - (view.overhead if params.capacity == "static" else 0)
    cut = cut_to(view, front, [*middle, *tail], len(middle), goal)
    return middle[pair_safe_cut([*middle, *tail], cut, len(middle)) :]


def _edited(params: Any, view: View, item: Item) -> Item:
    if params.edit == "clear thinking":
        return drop_thinking(view, item)
    if params.edit == "drop images":
        return drop_media(view, item, lambda _: DROPPED)
    return clear_results(view, item, _long_results(params, view, item), CLEARED)


FIELDS = {f.name: f for f in dataclasses.fields(Params)}


def remade(names: Iterable[str], **defaults: Any) -> type:
    """Some of the parameters, under other defaults; raises TypeError for one that is not known."""
    unknown = defaults.keys() - FIELDS.keys()
    if unknown:
        raise TypeError(f"no such parameters: {', '.join(sorted(unknown))}")
    fields = [
        (n, f.type, field(default=defaults.get(n, f.default), metadata=f.metadata)) for n in names for f in (FIELDS[n],)
    ]
    return dataclasses.make_dataclass("Params", fields, frozen=True, slots=True)


def preset(name: str, label: str, source: str, text: str, *, caveats: tuple[str, ...] = (), **defaults: Any) -> Policy:
    """A policy of this trigger and this edit under other defaults; raises TypeError for an unknown parameter."""
    drawn = ("share", "tokens", "messages", "turns")
    threshold = next((n for n in drawn if defaults.get(n, FIELDS[n].default)), "share")
    return Policy(
        name, label, source, text, remade(FIELDS, **defaults), gate=gate, edit=edit, threshold_param=threshold,
        summary_calls=defaults.get("edit", "summarise") == "summarise", tier="preset", caveats=caveats,
    )  # fmt: skip


POLICY = Policy(
    name="parametric", label="My own agent",
    source="ctxweb: trigger × edit, for a design of one's own",
    help="Put a policy together: when it fires, what it keeps, what it does with the rest.",
    params=Params, gate=gate, edit=edit,
    threshold_param="share", tier="preset",
)  # fmt: skip
