"""Policies that drop the whole list for a summary and what they put back, replayed by jumping (estimators 17).

Their gate compares the provider's last usage, and an estimate of what came after it, with a threshold: between two
compactions that is one figure for each step and a constant offset.  Equal to ``replay``, faster.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.context import entering_steps
from sessions.engine.outputs import outputs
from sessions.engine.policy import Draft
from sessions.engine.sizes import message_size
from sessions.engine.summaries import drafted_message
from sessions.engine.sweeps.fast.jump import Course, made_here
from sessions.engine.sweeps.fast.products import FAR, Products, kept_products
from sessions.engine.sweeps.fast.put_back import Found, Held, found_in
from sessions.engine.types import Role
from sessions.engine.walk import THRASH_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.context import Entering
    from sessions.engine.estimator import Estimator
    from sessions.engine.summaries import Summaries
    from sessions.engine.sweeps.fast.jump import Kept
    from sessions.engine.sweeps.fast.put_back import PutBack
    from sessions.engine.sweeps.fast.track import Track


class Measure(NamedTuple):
    """What a gate counts: the last usage's input, its output as ``written`` or as it was, and the ``tail`` after it.

    ``context``: the context as it is about to be sent, instead.
    """

    estimator: str
    tail: bool = True
    written: bool = False
    context: bool = False


@dataclass(frozen=True, slots=True)
class Whole:
    """A policy as numbers: it fires at ``limit`` and more tokens, and leaves a summary and what ``put_back`` says.

    ``breaker`` failed attempts in a row stop it, and so do ``rapid_refills`` compactions in a row, each fewer than
    ``rapid_turns`` requests after the one before; None: never.
    """

    limit: int
    measure: Measure
    put_back: PutBack | None = None
    breaker: int | None = THRASH_LIMIT
    rapid_refills: int | None = None
    rapid_turns: int = 0
    inserted: None = None
    """As ``Jump.inserted``: a summarizer writes what is inserted."""

    @property
    def tail_key(self) -> tuple[object, ...]:
        """Every cut is at the end of the list."""
        return ("whole",)


class Heights(NamedTuple):
    """What a gate counts at every step less the offset, and before any usage; the size of the system messages."""

    heights: list[int]
    first: int
    system_size: int


@dataclass
class Ground:
    """A session under one measure and one summarizer, made once for all settings.

    ``heights[k]`` is what the gate counts at step k less the offset, ``peaks`` its running maximum; ``first`` what it
    counts before any usage.  ``counts_size``: without usage it goes by the list's size.  ``kept`` is where values are
    found that any process works out once.
    """

    weighed: Weighed
    track: Track
    heights: list[int]
    peaks: list[int]
    first: int
    counts_size: bool
    system_size: int
    products: Products
    summaries: Summaries
    kept: Kept
    sizes: dict[int, int] = field(default_factory=dict)
    found: Found | None = None

    def next(self, low: int, offset: int, limit: int) -> int:
        """The first step from ``low`` at which the gate fires; the number of steps where it does not."""
        heights, end = self.heights, len(self.heights)
        if not low:
            if self.first >= limit:
                return 0
            low = 1
        need = limit - offset
        found = bisect_left(self.peaks, need, low)
        if found > low or found >= end or heights[found] >= need:
            return found
        # An earlier peak hides what comes after it: look on, one by one.
        return next((k for k in range(low, end) if heights[k] >= need), end)

    def draft_size(self, tokens: int) -> int:
        """Size of a draft without text in the gate's unit."""
        if tokens not in self.sizes:
            message = drafted_message(Draft("", tokens), "", self.weighed.ratio)
            self.sizes[tokens] = message_size(message, self.summaries.estimator, self.weighed.model)
        return self.sizes[tokens]

    def _put_back(self, put_back: PutBack, start: int, stop: int) -> list[int]:
        if self.found is None:
            self.found = self.kept("put back", lambda: found_in(self.weighed), (Found, Held))
        return put_back.tokens(self.found, start, stop)

    def left(self, whole: Whole, start: int, step: int) -> tuple[int, int, int]:
        """Display tokens and size of the list after a compaction at a step, of a list that began at ``start``.

        The third is how many messages the compaction inserts.
        """
        product = self.products.at(step)
        tokens, size, n, room = product.tokens, product.size, product.n, product.room
        for one in self._put_back(whole.put_back, start, self.track.stops[step]) if whole.put_back else ():
            kept = one if room is None else min(one, room)
            room = None if room is None else room - kept
            if kept or room is None:
                tokens += kept
                size += self.draft_size(kept)
                n += 1
        return self.track.overhead + self.track.lead + tokens, self.system_size + size, n


def ground_of(track: Track, measure: Measure, summaries: Summaries, kept: Kept = made_here) -> Ground:
    """The session as one measure and one summarizer have it."""
    weighed = summaries.weighed
    name, make = f"heights {tuple(measure)}", partial(heights_of, weighed, track, measure, summaries.estimator)
    told = kept(name, make, (Heights,))
    return Ground(
        weighed, track, told.heights, list(accumulate(told.heights, max)), told.first, not measure.context,
        told.system_size, kept_products(summaries, kept), summaries, kept,
    )  # fmt: skip


def heights_of(weighed: Weighed, track: Track, measure: Measure, estimator: Estimator) -> Heights:
    """What the gate counts, made of the messages."""
    messages, models, out = weighed.transcript.messages, weighed.models, weighed.left_out
    system = [m for m in messages if m.role is Role.SYSTEM and m.index not in out]
    size = sum(message_size(m, estimator, models[m.index]) for m in system)
    if measure.context:
        return Heights(track.tops, track.overhead + track.tops[0], size)
    return Heights(*_by_usage(weighed, track, measure, entering_steps(weighed, estimator, out)), size)


def _by_usage(weighed: Weighed, track: Track, measure: Measure, entering: Sequence[Entering]) -> tuple[list[int], int]:
    """What is counted at every step from the usage before it, less the offset; and at the first by size alone."""
    replied = _replied(weighed, written=measure.written)
    heights = [track.heights[k] + (replied[k - 1] if k else 0) for k in range(track.n_steps)]
    if measure.tail:
        heights = [height + one.size - one.reply_size for height, one in zip(heights, entering, strict=True)]
    heights[0] = min(heights)
    return heights, entering[0].size


def _replied(weighed: Weighed, *, written: bool) -> Sequence[int]:
    """The output of every step's request, as the gate counts it."""
    made = outputs(weighed)
    if not written:
        return made
    usages = (weighed.transcript.requests[step.request].usage for step in weighed.steps)
    return [own if usage is None else usage.output for own, usage in zip(made, usages, strict=True)]


def course_of(whole: Whole, ground: Ground) -> Course | None:
    """Where a policy compacts; None where a replay would have to go request by request."""
    limit, track, steps_of = whole.limit, ground.track, ground.weighed.steps
    if limit <= 0 or ground.products.stay:
        return None
    tops, stops, end = track.heights, track.stops, track.n_steps
    steps: list[int] = []
    afters: list[int] = []
    inserted: list[int] = []
    offsets = [track.overhead]
    vain: list[tuple[int, int]] = []
    offset, start, low, failures, still_on, refills, last = track.overhead, 0, 0, 0, 0, 0, FAR
    has_failed = False
    while (step := ground.next(low, offset, limit)) < end:
        low, request = step + 1, steps_of[step].request
        refills = refills + 1 if request - last < whole.rapid_turns else 0
        if whole.rapid_refills is not None and refills >= whole.rapid_refills:
            has_failed = True
            break
        if not stops[step]:
            return None
        last = request
        left, size, n = ground.left(whole, start, step)
        before = offset + tops[step + 1]
        if left >= before:
            vain.append((step, before))
            failures += 1
            has_failed = True
            if whole.breaker is not None and failures >= whole.breaker:
                break
            continue
        failures, offset, start = 0, left - tops[step + 1], stops[step]
        steps.append(step)
        afters.append(left)
        inserted.append(n)
        offsets.append(offset)
        still_on = still_on + 1 if left >= limit or (ground.counts_size and size >= limit) else 0
        if still_on >= THRASH_LIMIT:
            has_failed = True
            break
    cuts = [stops[k] for k in steps]
    return Course(steps, cuts, afters, offsets, vain, len(steps) + len(vain), inserted, has_failed=has_failed)
