"""LangChain trim_messages: the longest part of the history that fits, from its end or its start (policies 10.1).

langchain-ai/langchain ``langchain_core/messages/utils.py`` (core 1.7.2).  Applied to the whole history at every
request.  ``last``: messages at the end that are not of the type ``end_on`` go first; the first message stays where it
is a system message and ``include_system`` is on, its tokens taken off the budget; then the longest suffix whose count
is ≤ the budget; then its first messages go until one is of the type ``start_on``.  ``first``: the longest prefix, then
its end until ``end_on``.  The binary search of the original finds the same length, counts being never negative.

The budget has no default there; 80% of the window here.  ``allow_partial`` (a message cut at a line) needs texts
and is not offered.  The original splits tool pairs (``orphans``), which is what ``start_on`` is for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies._client import client, same, shown_cut
from sessions.engine.policies._pairs import orphans_param
from sessions.engine.policies._roles import SYSTEM, role_of
from sessions.engine.policies.params import choice, when
from sessions.engine.policies.policy import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY, Gate, Layer, Policy, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policies.policy import Item

TYPES = ("any", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Params:
    """Budget, side and the types that the result may start and end with."""

    max_tokens: int | None = when(
        None, "Budget", "Approximate tokens; none: 80% of the window", "tokens", 0, 10_000_000, 1_000
    )
    strategy: str = choice(("last", "first"), "Keep", "The end or the start of the history")
    include_system: str = choice(
        ("on", "off"), "Keep a leading system message", "With last alone; the original's default is off"
    )
    start_on: str = choice(TYPES, "Start on", "With last alone", default="any")
    end_on: str = choice(TYPES, "End on", "Messages after the last of this type go", default="any")
    orphans: str = orphans_param()


def trimmed(params: Params, items: Sequence[Item], until: Sequence[int], budget: int) -> list[tuple[int, int]]:
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


def _budget(params: Params, view: View) -> int:
    return view.window * 8 // 10 if params.max_tokens is None else params.max_tokens


def gate(params: Params, view: View) -> Gate:
    """The whole history over the budget, or a message at its end or start that is not of the type asked for."""
    held, budget = client(view), _budget(params, view)
    fires = held.size > budget
    if not fires and (params.end_on != "any" or params.start_on != "any"):
        spans = trimmed(params, held.items, held.until, budget)
        fires = not same([item for start, stop in spans for item in held.items[start:stop]], view.items)
    return Gate(fires, "approximate tokens of the whole history", held.size, budget, ">", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """What is sent."""
    everything = client(view)
    spans = trimmed(params, everything.items, everything.until, _budget(params, view))
    return shown_cut(view, spans, orphans=params.orphans)


POLICY = Policy(
    name="langchain_trim", label="LangChain trim messages",
    source="langchain-ai/langchain trim_messages, core 1.7.2",
    help="Sends the longest end (or start) of the history that fits a budget.", estimator="langchain",
    params=Params, layers=(Layer("langchain_trim", "Trim", gate, edit, cheap=True),),
    summary_calls=False, threshold_param="max_tokens", tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)  # fmt: skip
