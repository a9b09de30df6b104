"""What the strategies of the context-compression skill share: trigger, levels, window, what is kept (seeds 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.params import param, usage_param
from sessions.engine.policies._conditions import capacity
from sessions.engine.policies._lists import apart, used
from sessions.engine.policy import Gate, pair_safe_cut

if TYPE_CHECKING:
    from sessions.engine.policy import Item, View


@dataclass(frozen=True, slots=True)
class Compression:
    """Trigger, levels and what is always kept; defaults of the skill."""

    trigger: int = param(
        70, label="Trigger, at or above", help="Share of the window at which the context is compressed", unit="%",
        group="when", low=1, high=100,
    )  # fmt: skip
    warning: int = param(60, label="Warning level", help="Said, not acted on", unit="%", group="when", low=1, high=100)
    critical: int = param(
        90, label="Critical level", help="Said, not acted on", unit="%", group="when", low=1, high=100
    )
    min_messages: int = param(
        10, label="Messages since the last one", help="At least this many new messages before the next compression",
        unit="messages", group="when", low=0, high=1_000,
    )  # fmt: skip
    capacity: str = param(
        "static",
        label="Share of",
        help="The model's whole window, or the effective one: the window without the system overhead",
        group="when",
        choices=("static", "effective"),
    )
    max_cycles: int = param(
        10, label="Cycles before a reset is advised", help="Said, not acted on: after this many, start a new session",
        unit="compressions", group="when", low=1, high=1_000,
    )  # fmt: skip
    keep_last: int = param(
        5, label="Keep last messages", help="Always kept, whatever they weigh", unit="messages", low=1, high=1_000
    )
    usage: str = usage_param()


def in_use(params: Compression, view: View) -> int:
    """Tokens in use: last usage and its reply plus what came after by the estimator; without usage, all by it.

    The overhead is part of the static window and taken off both sides for the effective one.
    """
    overhead = view.overhead if params.capacity == "effective" else 0
    return max(0, used(view) - overhead)


def gate(params: Compression, view: View) -> Gate:
    """In use ≥ trigger % of the capacity, and at least ``min_messages`` new messages since the last compression."""
    measure, full = in_use(params, view), capacity(params, view)
    limit = full * params.trigger // 100
    ready = view.state.messages_since_event >= params.min_messages
    reason = f"{params.trigger} % of the {params.capacity} window"
    if measure >= limit and not ready:
        reason += f"; waiting for {params.min_messages} new messages"
    if view.state.n_events >= params.max_cycles:
        reason += f"; {view.state.n_events} compressions so far: a new session is advised"
    return Gate(measure >= limit and ready, reason, measure, limit, ">=", "tokens", level(params, measure, full))


def level(params: Compression, measure: int, full: int) -> str:
    """The highest level reached, all at or above their share: critical, compact, warn, else ok."""
    shares = (("critical", params.critical), ("compact", params.trigger), ("warn", params.warning))
    return next((name for name, share in shares if measure >= full * share // 100), "ok")


def split(items: list[Item], keep_last: int) -> tuple[list[Item], list[Item], list[Item]]:
    """System messages, what may go, and the last ``keep_last`` messages; no tool pair is split."""
    system, rest = apart(items)
    latest = max(0, len(rest) - keep_last)
    cut = pair_safe_cut(rest, latest, latest)
    return system, rest[:cut], rest[cut:]


def merged(params: Any, view: View) -> list[Item]:
    """What is neither the last summary nor among the last messages is merged into the summary."""
    system, old, tail = split(view.items, params.keep_last)
    anchor = {item.id for item in view.state.last_summary}
    new = [item for item in old if item.id not in anchor]
    if not new:
        return list(view.items)
    return [*system, *view.summarize(new, mode="merge"), *tail]


def summarised(params: Any, view: View, mode: str) -> list[Item]:
    """All but the last messages, the last summary among them, become one new summary."""
    system, old, tail = split(view.items, params.keep_last)
    return [*system, *view.summarize(old, mode=mode), *tail] if old else list(view.items)
