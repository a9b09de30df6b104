"""What Inspect's compactions share: when they fire, what they never touch, how often they try (policies 11.12).

UKGovernmentBEIS/inspect_ai ``src/inspect_ai/model/_compaction/_compaction.py`` and ``_trim.py`` (0.3.285).  Total =
input tokens of the last request + the count of what is new since (its reply included); without one, tools + the count
of all.  It fires when the total is > the threshold.  The strategy is applied; while the list still weighs more than the
threshold, up to three times again, as long as it shrinks; then the original gives up with an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.policies._lists import apart
from sessions.engine.policies._roles import USER, role_of
from sessions.engine.policies.params import when
from sessions.engine.policies.policy import EditFailed, Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.engine.policies.policy import Item, View

MORE_PASSES = 3


def threshold_param() -> Any:
    """The share of the window at which all three fire."""
    return when(0.9, "Threshold, over", "Share of the window", "of the window", 0.01, 1, 0.01)


def tokens_param() -> Any:
    """The same in tokens."""
    return when(None, "Threshold in tokens", "In place of the share; none: the share", "tokens", 1, 10_000_000, 1_000)


def limit(params: Any, window: int) -> int:
    """The threshold in tokens, rounded down."""
    return int(params.threshold * window) if params.threshold_tokens is None else int(params.threshold_tokens)


def total(view: View) -> int:
    """Last input and what is new since; else all by the estimator, with the overhead."""
    if view.usage is None:
        return view.overhead + view.size
    return view.usage.input + view.size - view.usage.size_then


def gate(params: Any, view: View) -> Gate:
    """The total is over the threshold."""
    measure, most = total(view), limit(params, view.window)
    return Gate(measure > most, "last input and what is new since", measure, most, ">", "tokens")


def repeated(params: Any, view: View, compact: Callable[[list[Item]], list[Item]]) -> list[Item]:
    """The strategy applied until the list fits; raises EditFailed where it does not."""
    most = limit(params, view.window)
    items = compact(list(view.items))
    weight = view.overhead + sum([item.size for item in items])
    for _ in range(MORE_PASSES):
        if weight <= most:
            break
        items = compact(items)
        before, weight = weight, view.overhead + sum([item.size for item in items])
        if weight >= before:
            break
    if weight > most:
        raise EditFailed(f"compaction insufficient: {weight:,} still over {most:,}")
    return items


def partitioned(items: Sequence[Item]) -> tuple[list[Item], list[Item], list[Item]]:
    """System messages, the input (all up to the first user message, no summary), the conversation."""
    system, rest = apart(items)
    n_input = 0
    while n_input < len(rest) and not rest[n_input].message.summary:
        n_input += 1
        if role_of(rest[n_input - 1]) == USER:
            break
    return system, rest[:n_input], rest[n_input:]
