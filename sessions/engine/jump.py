"""Threshold policies replayed by jumping from compaction to compaction (estimators 17): equal to ``replay``, faster.

A policy whose gate is "display tokens against a threshold" and whose edit is "a summary, and the newest messages stay"
says so with ``Policy.jump``.  Everything else is replayed request by request.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import pairwise
from operator import add, mul, sub
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine import registry
from sessions.engine.cost import Totals, bill_of, used_otherwise
from sessions.engine.summaries import Brief, Summaries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.engine.calibrate import Weighed
    from sessions.engine.prices import Prices
    from sessions.engine.track import Reuse, Track

FIXED_SIZE = frozenset({"recorded", "stub"})
"""Summarizers whose summary weighs the same whatever is dropped."""
THRASH_LIMIT = 3
NEVER = -1_000_000_000
"""A request far from every recorded compaction."""


@dataclass(frozen=True, slots=True)
class Jump:
    """A threshold policy as numbers.

    The gate fires when display tokens (``View.context``) are ``operator`` (">=" or ">") ``threshold``.  The edit keeps
    system messages and the newest ``keep_messages`` others, or as many of the newest as weigh at most ``keep_tokens``
    together; what an earlier event inserted is not among them.  Where the cut would split a tool pair it moves
    ``snap``: "back" keeps more, "forward" fewer.  In place of the rest stands what the summarizer writes, or, where
    ``inserted`` is a number, that many tokens of no summary (0: nothing).  Where no message but an earlier summary
    would go, the edit fails before any call is made.  ``breaker`` failed attempts in a row stop it; None: never.
    """

    threshold: float
    operator: str = ">="
    keep_messages: int | None = None
    keep_tokens: int | None = None
    snap: str = "back"
    inserted: int | None = None
    breaker: int | None = THRASH_LIMIT

    @property
    def limit(self) -> int:
        """The fewest tokens at which the gate fires."""
        return math.ceil(self.threshold) if self.operator == ">=" else math.floor(self.threshold) + 1


class Tail(NamedTuple):
    """What a compaction at each step would cut at (position) and leave (display tokens, overhead included)."""

    cuts: list[int]
    after: list[int]


class Inserts(NamedTuple):
    """Display tokens that a compaction at each step inserts, and how many of them are a summary's."""

    tokens: list[int]
    summary: list[int]


@dataclass(frozen=True, slots=True)
class Course:
    """A session as a jump went through it.

    ``steps`` are the steps that compact, ``cuts`` their positions; ``offsets`` has one entry more: before the first,
    and after each.  ``vain`` are steps whose edit freed nothing, with the context at each: its summary call was made
    for nothing.  ``visited`` counts the places looked at.
    """

    steps: list[int]
    cuts: list[int]
    offsets: list[int]
    vain: list[tuple[int, int]]
    visited: int


@dataclass
class Jumper:
    """Jumps over one session with one summarizer; tails are made once for every way to keep and shared."""

    track: Track
    summarizer: str = "recorded"
    _tails: dict[tuple[object, ...], Tail] = field(default_factory=dict)
    _inserts: dict[int | None, Inserts] = field(default_factory=dict)

    def course(self, jump: Jump) -> Course | None:
        """Where ``jump`` compacts; None where a replay would have to go request by request."""
        limit, track = jump.limit, self.track
        if limit <= 0 or (jump.keep_messages is None) == (jump.keep_tokens is None):
            return None
        cuts, after = self.tail(jump)
        heights, peaks, end = track.heights, track.peaks, len(track.heights)
        steps: list[int] = []
        kept: list[int] = []
        vain: list[tuple[int, int]] = []
        offsets = [track.overhead]
        offset, start, low, visited, failures, still_on = track.overhead, 0, 1, 0, 0, 0
        while (j := bisect_left(peaks, limit - offset, low)) < end:
            if not track.monotone and (j := track.first_at_least(low, limit - offset)) == end:
                break
            visited += 1
            step, low = j - 1, j + 1
            cut, left = cuts[step], after[step]
            if track.long_pairs:
                cut, left = self._whole_pairs(jump, cut, start, step)
            before = offset + heights[j]
            if cut <= start or left >= before:
                if cut > start:
                    vain.append((step, before))
                failures += 1
                if jump.breaker is not None and failures >= jump.breaker:
                    break
                continue
            failures = 0
            offset, start = left - heights[j], cut
            steps.append(step)
            kept.append(cut)
            offsets.append(offset)
            still_on = still_on + 1 if left >= limit else 0
            if still_on >= THRASH_LIMIT:
                break
        return Course(steps, kept, offsets, vain, visited)

    def tail(self, jump: Jump) -> Tail:
        """Cut and remaining tokens at every step."""
        key = (jump.keep_messages, jump.keep_tokens, jump.snap, jump.inserted)
        if key not in self._tails:
            track = self.track
            stops, tokens = track.stops, track.tokens
            if jump.keep_messages is not None:
                keep = jump.keep_messages
                cuts = [stop - keep if stop > keep else 0 for stop in stops]
            else:
                budget = jump.keep_tokens or 0
                cuts = [bisect_left(tokens, tokens[stop] - budget) for stop in stops]
            snapped = track.cut_back if jump.snap == "back" else track.cut_forward
            cuts = list(map(snapped.__getitem__, cuts))
            left = map(add, map(track.standing.__getitem__, cuts), track.whole[1:])
            inserted = self.inserts(jump.inserted).tokens
            self._tails[key] = Tail(cuts, [track.overhead + a + b for a, b in zip(left, inserted, strict=True)])
        return self._tails[key]

    def inserts(self, fixed: int | None) -> Inserts:
        """What a compaction at each step inserts: ``fixed`` tokens of no summary, or what the summarizer writes."""
        if fixed not in self._inserts:
            n = self.track.n_steps
            made = Inserts([fixed] * n, [0] * n) if fixed is not None else _written(self.track.weighed, self.summarizer)
            self._inserts[fixed] = made
        return self._inserts[fixed]

    def totals(
        self,
        course: Course,
        jump: Jump,
        *,
        summary_calls: bool,
        shares_prefix: bool,
        prices: Prices | None,
        refetched: Callable[[Track, Course], int] | None = None,
    ) -> Totals | None:
        """The totals of a course, field by field those of the replay; None where a context would fall below 0."""
        track, steps, offsets = self.track, course.steps, course.offsets
        heights, warm, reads = track.heights, track.warm, track.reads
        n, marks = track.n_steps, [0, *steps, track.n_steps]
        befores = list(map(add, offsets, map(heights.__getitem__, [k + 1 for k in steps])))
        earlier = list(map(add, offsets, map(heights.__getitem__, steps)))
        afters = list(map(add, offsets[1:], map(heights.__getitem__, [k + 1 for k in steps])))
        extremes = self._extremes(course, afters, earlier)
        if extremes is None:
            return None
        sent = sum(map(mul, offsets, map(sub, marks[1:], marks))) + track.sum_of_heights
        warm_before = list(map(warm.__getitem__, marks[1:]))
        warm_from = [0, *(warm[k + 1] for k in steps)]
        cached = sum(map(mul, offsets, map(sub, warm_before, warm_from))) + reads[n]
        cached -= sum(reads[k + 1] - reads[k] for k in steps)
        prefix, cold = track.overhead + track.lead, track.cold
        is_warm = [bool(k) and k not in cold for k in steps]
        cached += sum(min(e, prefix, a) for e, a, w in zip(earlier, afters, is_warm, strict=True) if w)
        plain = call_read = call_fresh = written = n_calls = 0
        if summary_calls and jump.inserted is None:
            written = sum(map(self.inserts(None).summary.__getitem__, steps))
            n_calls = len(steps) + len(course.vain)
            called = sum(befores) + sum(tokens for _, tokens in course.vain)
            if shares_prefix:
                call_read = sum(min(e, b) for e, b, w in zip(earlier, befores, is_warm, strict=True) if w)
                call_read += self._vainly_read(course)
                call_fresh = called - call_read
            else:
                plain = called
        again = (refetched or refetched_on_track)(track, course)
        bill = bill_of(
            prices, plain=plain, read=cached + call_read, fresh=sent - cached + call_fresh,
            output=track.output + written, hour=track.hour,
        )  # fmt: skip
        return Totals(
            len(steps), extremes[1], bill.input, bill.read, bill.write, bill.output,
            n_calls, again, bill.cost(prices, again, hour=track.hour),
        )  # fmt: skip

    def _vainly_read(self, course: Course) -> int:
        """Tokens that summary calls made in vain read from the cache: the request before, as sent."""
        heights, total = self.track.heights, 0
        for step, tokens in course.vain:
            if step and step not in self.track.cold:
                offset = course.offsets[bisect_left(course.steps, step)]
                total += min(tokens, offset + heights[step])
        return total

    def _extremes(self, course: Course, afters: list[int], earlier: list[int]) -> tuple[int, int] | None:
        """The smallest and the largest context sent; None where the smallest would be below 0."""
        track = self.track
        first = [] if course.steps and course.steps[0] == 0 else [track.overhead + track.heights[1]]
        last = course.offsets[-1] + track.heights[-1]
        if track.monotone:
            low = min([*afters, *first])
            # The context before a first event at step 0 was never sent.
            sent = earlier[1:] if course.steps and course.steps[0] == 0 else earlier
            return (low, max([*afters, *sent, *first, last])) if low >= 0 else None
        marks = [0, *course.steps, track.n_steps]
        spans = [(o, track.heights[a + 1 : b + 1]) for o, (a, b) in zip(course.offsets, pairwise(marks), strict=True)]
        lows = [offset + min(span) for offset, span in spans if span]
        return (min(lows), max(o + max(span) for o, span in spans if span)) if min(lows) >= 0 else None

    def _whole_pairs(self, jump: Jump, cut: int, start: int, step: int) -> tuple[int, int]:
        """Cut and remaining tokens where results may come a request after their calls: no pair in the list is split."""
        track = self.track
        pairs = [(c, r) for c, r in track.long_pairs if start <= c and r < track.stops[step]]
        snapped = track.cut_back if jump.snap == "back" else track.cut_forward
        while split := [(c, r) for c, r in pairs if c < cut <= r]:
            cut = snapped[min(c for c, _ in split) if jump.snap == "back" else max(r for _, r in split) + 1]
        inserted = self.inserts(jump.inserted).tokens[step]
        return cut, track.overhead + inserted + track.standing[cut] + track.whole[step + 1]


def refetched_on_track(track: Track, course: Course) -> int:
    """``cost.refetched_tokens`` of every event of a course, added up."""
    if not track.reuses or not course.steps:
        return 0
    places = [reuse.position for reuse in track.reuses]
    total = begin = start = 0
    for step, cut in zip(course.steps, course.cuts, strict=True):
        end = bisect_left(places, cut, begin)
        if end > begin:
            total += _again(track, track.reuses[begin:end], start, _newest(track, step) + 1)
            begin = end
        start = cut
    return total


def _again(track: Track, dropped: Sequence[Reuse], start: int, message: int) -> int:
    """Tokens of dropped results that are used otherwise from ``message`` on; the list began at position ``start``."""
    uses = track.weighed.target_uses
    newest = {
        target: tokens
        for _, call_at, target, name, tokens, last_use in dropped
        if last_use >= message and call_at >= start and used_otherwise(uses[target], name, message)
    }
    return sum(newest.values())


def _newest(track: Track, step: int) -> int:
    """The newest message of the list before a compaction at ``step``."""
    out, stop = track.weighed.left_out, track.weighed.steps[step].stop - 1
    while stop in out:
        stop -= 1
    return stop


def _written(weighed: Weighed, summarizer: str) -> Inserts:
    """What the summarizer writes at every step; it depends on the request alone (``FIXED_SIZE``)."""
    summaries = Summaries(weighed, summarizer, registry.get("estimators", "tiktoken_o200k"))
    compactions = [c.request for c in weighed.transcript.compactions]
    usual = _weight(summaries, weighed, NEVER)
    sizes = [
        _weight(summaries, weighed, step.request) if any(abs(at - step.request) <= 1 for at in compactions) else usual
        for step in weighed.steps
    ]
    return Inserts([tokens for tokens, _ in sizes], [summary for _, summary in sizes])


def _weight(summaries: Summaries, weighed: Weighed, request: int) -> tuple[int, int]:
    """Tokens inserted at ``request``, and how many of them are a summary's."""
    written = summaries.summarizer.write(Brief(weighed, request, (), summaries.argument))
    if written.messages:
        sizes = [(weighed.tokens[m.index], m.summary) for m in written.messages]
    else:
        sizes = [(draft.tokens, draft.summary) for draft in written.drafts]
    return sum(tokens for tokens, _ in sizes), sum(tokens for tokens, summary in sizes if summary)
