"""Conditions that the gate of a parametric policy is put together from: each is a measure, an operator, a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sessions.engine.policies._lists import used
from sessions.engine.policies._looked import n_conversation
from sessions.engine.policies.policy import Gate, View


class Condition(NamedTuple):
    """One measured value against its threshold; ``reason`` says in words what is measured."""

    reason: str
    measure: int
    threshold: int
    unit: str

    def holds(self, operator: str) -> bool:
        """Whether the measure is at (">=") or over (">") the threshold."""
        return self.measure >= self.threshold if operator == ">=" else self.measure > self.threshold


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

    ``reclaimed`` gives the tokens that the edit would free, None where nobody can tell before.  The gate reports the
    trigger that fired, else the one that is nearest to its threshold.
    """
    operator = params.operator
    found = list(triggers(params, view))
    if not found:
        return Gate(False, "no trigger is set", 0, 0, operator, "tokens")
    holding = [c for c in found if c.holds(operator)]
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
