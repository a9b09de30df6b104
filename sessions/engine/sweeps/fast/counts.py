"""What a gate counts at every step of a session, between two compactions a figure and a constant offset."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.outputs import outputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.context import Entering
    from sessions.engine.sweeps.fast.track import Track

USED, REPLY, INPUT, GROWTH, SIZE, CONTEXT = "used", "reply", "input", "growth", "size", "context"


class Count(NamedTuple):
    """The estimator by name, and what is counted of the last usage.

    USED: input, output and the estimate of what came after; REPLY: input and output; INPUT: input alone; GROWTH: input
    and the size of all that came since; SIZE: the list by the estimator and the overhead, no usage; CONTEXT: the
    context in display tokens, as it is about to be sent.
    """

    estimator: str
    kind: str


def heights_by(weighed: Weighed, track: Track, kind: str, entering: Sequence[Entering]) -> list[int]:
    """What is counted at every step of a list whose offset is 0; the first step has no usage and the least of all."""
    if kind == SIZE:
        return [track.overhead + size for size in accumulate(one.size for one in entering)]
    if kind == CONTEXT:
        return list(track.tops)
    sent, out, steps = track.heights, outputs(weighed), range(1, track.n_steps)
    if kind == INPUT:
        heights = [sent[k] for k in steps]
    elif kind == GROWTH:
        heights = [sent[k] + entering[k].size for k in steps]
    elif kind == REPLY:
        heights = [sent[k] + out[k - 1] for k in steps]
    else:
        heights = [sent[k] + out[k - 1] + entering[k].size - entering[k].reply_size for k in steps]
    return [min(heights, default=0), *heights]


def next_over(heights: Sequence[int], peaks: Sequence[int], low: int, need: int, end: int | None = None) -> int:
    """The first place from ``low`` with at least ``need``; ``end`` (the length by default) where there is none.

    ``peaks`` is the running maximum.
    """
    stop = len(heights) if end is None else end
    found = bisect_left(peaks, need, low)
    if found >= stop:
        return stop
    if found > low or heights[found] >= need:
        return found
    # An earlier peak hides what comes after it: look on, one by one.
    return next((k for k in range(low, stop) if heights[k] >= need), stop)


class SomeSteps(NamedTuple):
    """Some of a session's steps, ascending: what is counted at each, and the running maximum of that."""

    steps: Sequence[int]
    heights: Sequence[int]
    peaks: Sequence[int]

    def next_over(self, low: int, need: int, end: int) -> int:
        """The first of them from step ``low`` with at least ``need``; ``end`` where there is none."""
        place = next_over(self.heights, self.peaks, bisect_left(self.steps, low), need)
        return self.steps[place] if place < len(self.steps) else end


def some_steps(steps: Sequence[int], heights: Sequence[int]) -> SomeSteps:
    """These steps; ``heights`` are those of all."""
    own = [heights[step] for step in steps]
    return SomeSteps(steps, own, list(accumulate(own, max)))
