"""The cheapest schedule of compactions that any policy could have had on a session, and what policies cost beside it.

A schedule says at which requests a compaction takes place and where it cuts.  Every compaction calls a summarizer, cuts
where no tool pair is split, and leaves a list that the window holds until the next.  Under the cost model the bill is
linear in what each compaction leaves, so that dynamic programming over the requests finds the cheapest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from sessions.engine.breakeven import CompactionTokens, EventCost, event_cost
from sessions.engine.caching import WHOLE
from sessions.engine.calibration.weighed import DEFAULT_WINDOW
from sessions.engine.prices import prices_of, step_prices
from sessions.engine.sweeps.fast.envelope import CostLine, Envelope
from sessions.engine.sweeps.fast.jump import Course, Jump
from sessions.engine.sweeps.fast.jumper import Jumper
from sessions.engine.sweeps.fast.track import Track, track_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.cost import Totals
    from sessions.engine.prices import Prices
    from sessions.engine.sweeps.sweep import Row, Sweep

CANDIDATES = 4
"""Cuts looked at for each request.  What stays differs by a constant for ever after, so the one that leaves least is
the cheapest; a later cut may leave more where a measured step shrank the context."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The cheapest schedule: where it compacts and what that costs, its totals, how many messages it keeps."""

    requests: tuple[int, ...]
    costs: tuple[EventCost, ...]
    totals: Totals
    keep_messages: int
    window: int

    @property
    def dollars(self) -> float:
        """The schedule's cost as replayed."""
        return self.totals.cost.low if self.totals.cost is not None else 0.0


@dataclass(frozen=True, slots=True)
class Regret:
    """One setting's cost as replayed, in dollars, and divided by the optimum's.

    Below 1 only where a policy drops messages without the summary that every compaction of the optimum pays for, or
    lets requests go over the window (``fits`` is False).
    """

    row: Row
    dollars: float
    ratio: float
    fits: bool


def regrets(sweep: Sweep, best: Optimum) -> tuple[Regret, ...]:
    """Every row of a sweep against the optimum, in the order swept."""
    found: list[Regret] = []
    for row in sweep.rows:
        if row.totals.cost is not None:
            low = row.totals.cost.low
            found.append(Regret(row, low, low / best.dollars if best.dollars else 1.0, row.fits))
    return tuple(found)


def optimum(
    weighed: Weighed,
    *,
    summarizer: str = "recorded",
    prices: Prices | None = None,
    window: int | None = None,
    keep_messages: int = 0,
    shares_prefix: bool = True,
) -> Optimum | None:
    """The cheapest schedule of compactions that keep at least the newest ``keep_messages``.

    The summary weighs what ``summarizer`` writes, its call shares the prefix or does not.  None without a price, where
    jumping is not exact (``track_of``), where requests may have unlike prices (policies 14.4), or where no schedule
    fits the window.
    """
    prices, track = prices or prices_of(weighed.model), track_of(weighed)
    if prices is None or track is None or len(set(step_prices(weighed, prices))) > 1:
        return None
    window = window or weighed.window or DEFAULT_WINDOW
    if prices.large is not None and min(window, max(track.heights) + track.overhead) > prices.large[0]:
        return None
    jump = Jump(window, keep_messages=keep_messages)
    jumper = Jumper(weighed, track, summarizer)
    blended = track.use.blended(prices)
    rates = _Rates(track, blended, shares_prefix=shares_prefix)
    cuts, after = _smallest(jumper, jump)
    chosen = _schedule(track, rates, cuts, after, jumper.inserts(None).summary, window)
    if chosen is None:
        return None
    chosen = _advancing(track, chosen, cuts, after)
    offsets = [track.overhead, *(after[k] - track.heights[k + 1] for k in chosen)]
    course = Course(chosen, [cuts[k] for k in chosen], [after[k] for k in chosen], offsets, [], len(chosen))
    sums = jumper.totals(course, jump, summary_calls=True, shares_prefix=shares_prefix, prices=prices)
    if sums is None:
        return None
    requests = tuple(weighed.steps[k].request for k in chosen)
    written = jumper.inserts(None).summary
    costs = tuple(
        _event(weighed, track, blended, k, offset, after[k], written[k], shares_prefix=shares_prefix)
        for k, offset in zip(chosen, offsets, strict=False)
    )
    return Optimum(requests, costs, sums, keep_messages, window)


class _Rates:
    """What a context of ``offset + heights`` costs at every step: ``per_offset[k] · offset + fixed[k]`` dollars/M."""

    def __init__(self, track: Track, prices: Prices, *, shares_prefix: bool) -> None:
        heights, fresh, read = track.heights, prices.fresh(), prices.cache_read
        self.fresh, self.read, self.output = fresh, read, prices.output
        self.per_offset: list[float] = []
        self.fixed: list[float] = []
        for k in range(track.n_steps):
            growth, share = heights[k + 1] - heights[k], track.use.shares[k] / WHOLE
            again = share * read + (1 - share) * fresh
            self.per_offset.append(again)
            self.fixed.append(again * (heights[k] + min(0, growth)) + fresh * max(0, growth))
        # A shared summary call costs what the uncompacted request would have; an unshared one is plain input.
        self.call_per_offset = self.per_offset if shares_prefix else [prices.input] * track.n_steps
        self.call_fixed = self.fixed if shares_prefix else [prices.input * h for h in heights[1:]]
        self.offsets_so_far = list(accumulate(self.per_offset, initial=0.0))
        self.fixed_so_far = list(accumulate(self.fixed, initial=0.0))


def _smallest(jumper: Jumper, jump: Jump) -> tuple[list[int], list[int]]:
    """At every step the cut that leaves least, of the shortest allowed tail and the next pair-safe ones before it."""
    track = jumper.track
    cuts, after = list(jumper.tail(jump).cuts), list(jumper.tail(jump).after)
    for k, first in enumerate(cuts):
        cut, stop = first, track.stops[k]
        options: list[tuple[int, int]] = []
        for _ in range(CANDIDATES):
            if cut <= 0:
                break
            if not any(call < cut <= result < stop for call, result in track.long_pairs):
                options.append((track.standing[cut], -cut))
            cut = track.cut_back[cut - 1]
        if options:
            standing, negative = min(options)
            after[k] += standing - track.standing[first]
            cuts[k] = -negative
        else:
            cuts[k] = 0
    return cuts, after


def _schedule(  # noqa: PLR0917
    track: Track, rates: _Rates, cuts: Sequence[int], after: Sequence[int], written: Sequence[int], window: int
) -> list[int] | None:
    """Steps that compact in the cheapest schedule; None where none keeps every request within the window."""
    n, heights = track.n_steps, track.heights
    points = [rates.offsets_so_far[k] + rates.call_per_offset[k] for k in range(n)]
    envelope = Envelope(points)
    before: dict[int, int] = {}
    ends: list[tuple[float, int]] = []

    def open_line(step: int, cost: float, offset: int) -> None:
        """From ``step`` on the context is ``offset + heights``, until one would be over the window."""
        start = step + 1
        over = track.first_at_least(start + 1, window - offset + 1) - 1 if start < n else n
        line = CostLine(offset, cost - offset * rates.offsets_so_far[start] - rates.fixed_so_far[start], step)
        if over >= n:
            ends.append((line.at(rates.offsets_so_far[n]) + rates.fixed_so_far[n], step))
        if start < n:
            envelope.add(line, start, min(over, n - 1))

    open_line(-1, 0.0, track.overhead)
    prefix = track.overhead + track.lead
    for k in range(n):
        line = envelope.lowest(k) if cuts[k] > 0 and after[k] <= window else None
        if line is None:
            continue
        before[k] = line.name
        read = track.use.read(k, min(prefix, after[k]))
        sent = rates.read * read + rates.fresh * (after[k] - read) + rates.output * written[k]
        cost = line.at(points[k]) + rates.fixed_so_far[k] + rates.call_fixed[k] + sent
        open_line(k, cost, after[k] - heights[k + 1])
    if not ends:
        return None
    step = min(ends)[1]
    steps: list[int] = []
    while step >= 0:
        steps.append(step)
        step = before[step]
    return steps[::-1]


def _advancing(track: Track, steps: Sequence[int], cuts: Sequence[int], after: Sequence[int]) -> list[int]:
    """The steps without those that would drop nothing new or free nothing: no replay would count them."""
    kept: list[int] = []
    offset, start = track.overhead, 0
    for k in steps:
        if cuts[k] > start and after[k] < offset + track.heights[k + 1]:
            kept.append(k)
            offset, start = after[k] - track.heights[k + 1], cuts[k]
    return kept


def _event(  # noqa: PLR0917
    weighed: Weighed,
    track: Track,
    prices: Prices,
    step: int,
    offset: int,
    after: int,
    written: int,
    *,
    shares_prefix: bool,
) -> EventCost:
    """What one compaction of the schedule costs; ``offset`` is that of the list it finds."""
    before, earlier = offset + track.heights[step + 1], offset + track.heights[step]
    is_cold = step == 0 or step in track.use.cold
    cached = track.use.read(step, min(earlier, before))
    prefix = track.use.read(step, min(earlier, track.overhead + track.lead, after))
    compacted = CompactionTokens(
        before, after, prefix, cached, before, cached if shares_prefix else 0, written, call_is_kept=shares_prefix
    )
    request = weighed.steps[step].request
    return event_cost(compacted, prices, request=request, cold=is_cold)
