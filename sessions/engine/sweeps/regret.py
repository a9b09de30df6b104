"""The cheapest schedule of compactions that any policy could have had on a session, and what policies cost beside it.

A schedule says at which requests a compaction takes place and where it cuts.  Every compaction calls a summarizer, cuts
where no tool pair is split, and leaves a list that the window holds until the next.  Under the cost model the bill is
linear in what each compaction leaves, so that dynamic programming over the requests finds the cheapest one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from sessions.engine.base import registry
from sessions.engine.costs.breakeven import EventCost, event_costs
from sessions.engine.costs.caching import WHOLE, cache_use
from sessions.engine.costs.cost import Totals, totals
from sessions.engine.costs.prices import Prices, prices_of, step_prices
from sessions.engine.policies._lists import apart
from sessions.engine.policies.params import NoParams
from sessions.engine.policies.policy import Gate, Item, Policy, View
from sessions.engine.replays.replay import replay
from sessions.engine.replays.summaries import Brief, Summaries
from sessions.engine.sweeps.prefix_sums import PrefixSums, prefix_sums
from sessions.engine.sweeps.sweep import Setting, Sweep
from sessions.engine.weigh.calibration.weighed import DEFAULT_WINDOW, Weighed
from sessions.engine.weigh.sizes import counted

CANDIDATES = 4
"""Cuts looked at for each request.  What stays differs by a constant for ever after, so the one that leaves least is
the cheapest; a later cut may leave more where a measured step shrank the context."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The cheapest schedule: where it compacts and what that costs, and its totals."""

    requests: tuple[int, ...]
    costs: tuple[EventCost, ...]
    totals: Totals
    window: int

    @property
    def dollars(self) -> float:
        """The schedule's cost as replayed."""
        return self.totals.cost.low if self.totals.cost is not None else 0.0


def regrets(sweep: Sweep, best: Optimum) -> dict[Setting, float]:
    """The cost of each setting of a sweep as replayed, divided by the optimum's.

    Below 1 only where a policy drops messages without the summary that every compaction of the optimum pays for, or
    lets requests go over the window.
    """
    costs = ((row.setting, row.totals.cost) for row in sweep.rows)
    return {one: cost.low / best.dollars if best.dollars else 1.0 for one, cost in costs if cost is not None}


def optimum(
    weighed: Weighed,
    *,
    summarizer: str = "recorded",
    prices: Prices | None = None,
    window: int | None = None,
) -> Optimum | None:
    """The cheapest schedule of compactions, whose summary calls share the prefix and weigh what ``summarizer`` writes.

    None without a price, where the list cannot be cut anywhere (``prefix_sums``), where requests may have unlike prices
    (policies 14.4), where no schedule fits the window, or where the replay does not make every compaction of the
    cheapest.
    """
    prices, sums = prices or prices_of(weighed.model), prefix_sums(weighed)
    if prices is None or sums is None or len(set(step_prices(weighed, prices))) > 1:
        return None
    window = window or weighed.window or DEFAULT_WINDOW
    if prices.large is not None and min(window, max(sums.heights) + sums.overhead) > prices.large[0]:
        return None
    written = summary_tokens(weighed, summarizer)
    rates = _Rates(weighed, sums, cache_use(weighed).blended(prices))
    cuts, after = smallest(sums, written)
    chosen = _schedule(sums, rates, cuts, after, written, window)
    if chosen is None:
        return None
    places = {weighed.steps[k].request: cuts[k] for k in _advancing(sums, chosen, cuts, after)}
    made = replay(weighed, scheduled(sums, places), window=window, summarizer=summarizer)
    if len(made.events) < len(places):
        return None
    costs = event_costs(made, prices=prices)
    return Optimum(tuple(places), costs or (), totals(made, prices=prices), window)


def scheduled(sums: PrefixSums, places: Mapping[int, int]) -> Policy:
    """A policy that compacts at given requests, each at its position: a summary stands for what is before."""
    requests = tuple(places)
    positions = {message.index: position for position, message in enumerate(sums.messages)}

    def gate(_: Any, view: View) -> Gate:
        due = requests[view.state.n_events] if view.state.n_events < len(requests) else -1
        return Gate(view.request == due, "the schedule", view.request, due, ">=", "request")

    def edit(_: Any, view: View) -> list[Item]:
        cut = places[view.request]
        system, rest = apart(view.items)
        kept = [item for item in rest if not item.inserted and positions[item.message.index] >= cut]
        return [*system, *view.summarize(rest[: len(rest) - len(kept)]), *kept]

    return Policy("schedule", "Cheapest schedule", "", "", NoParams, gate, edit, shares_prefix=True)


class CostLine(NamedTuple):
    """``slope · x + intercept``, with the name of what it stands for."""

    slope: float
    intercept: float
    name: int

    def at(self, x: float) -> float:
        """The line's value at x."""
        return self.slope * x + self.intercept


class Envelope:
    """The lowest of many lines, each valid on a stretch of the points ``xs`` (ascending): a Li Chao tree.

    Adding one costs O(log² n), asking O(log n).
    """

    def __init__(self, xs: Sequence[float]) -> None:
        """No line yet."""
        self.xs = xs
        self.size = 1
        while self.size < max(1, len(xs)):
            self.size *= 2
        self.lines: list[CostLine | None] = [None] * (2 * self.size)
        self.n_steps = 0
        """Nodes looked at: what the work is measured by."""

    def add(self, line: CostLine, first: int, last: int) -> None:
        """``line`` counts at the points ``first`` to ``last``, both included."""
        low, high = first + self.size, last + self.size + 1
        width = 1
        while low < high:
            if low & 1:
                self._settle(line, low, (low * width) - self.size, width)
                low += 1
            if high & 1:
                high -= 1
                self._settle(line, high, (high * width) - self.size, width)
            low, high, width = low // 2, high // 2, width * 2

    def lowest(self, point: int) -> CostLine | None:
        """The lowest line at a point, the first added of equal ones; None where none counts."""
        node, x = point + self.size, self.xs[point]
        best: CostLine | None = None
        while node:
            line = self.lines[node]
            self.n_steps += 1
            if line is not None and (best is None or (line.at(x), line.name) < (best.at(x), best.name)):
                best = line
            node //= 2
        return best

    def _settle(self, line: CostLine, node: int, start: int, width: int) -> None:
        """Keep the line that is lower in the middle of the node, hand the other down to where it may win."""
        xs, last = self.xs, len(self.xs) - 1
        while True:
            self.n_steps += 1
            here = self.lines[node]
            if here is None:
                self.lines[node] = line
                return
            x = xs[min(last, start + width // 2)]
            if line.at(x) < here.at(x):
                self.lines[node], line, here = line, here, line
            if width == 1:
                return
            half = width // 2
            if line.slope > here.slope:
                node, width = 2 * node, half
            elif line.slope < here.slope:
                node, start, width = 2 * node + 1, start + half, half
            else:
                return


class _Rates:
    """What a context of ``offset + heights`` costs at every step: ``per_offset[k] · offset + fixed[k]`` dollars/M."""

    def __init__(self, weighed: Weighed, sums: PrefixSums, prices: Prices) -> None:
        self.use = cache_use(weighed)
        heights, fresh, read = sums.heights, prices.fresh(), prices.cache_read
        self.fresh, self.read, self.output = fresh, read, prices.output
        self.per_offset: list[float] = []
        self.fixed: list[float] = []
        for k in range(len(sums.stops)):
            growth, share = heights[k + 1] - heights[k], self.use.shares[k] / WHOLE
            again = share * read + (1 - share) * fresh
            self.per_offset.append(again)
            self.fixed.append(again * (heights[k] + min(0, growth)) + fresh * max(0, growth))
        self.offsets_so_far = list(accumulate(self.per_offset, initial=0.0))
        self.fixed_so_far = list(accumulate(self.fixed, initial=0.0))


def smallest(sums: PrefixSums, written: SummaryTokens) -> tuple[list[int], list[int]]:
    """At every step the cut that leaves least, and the tokens left: the shortest tail and the next pair-safe ones."""
    cuts: list[int] = []
    after: list[int] = []
    for k, stop in enumerate(sums.stops):
        cut = sums.cut_back[stop]
        options: list[tuple[int, int]] = []
        for _ in range(CANDIDATES):
            if cut <= 0:
                break
            if not any(call < cut <= result < stop for call, result in sums.long_pairs):
                options.append((sums.left(cut, k), -cut))
            cut = sums.cut_back[cut - 1]
        left, place = min(options, default=(sums.left(0, k), 0))
        cuts.append(-place)
        after.append(left + written.inserted[k])
    return cuts, after


def _schedule(  # noqa: PLR0917
    sums: PrefixSums, rates: _Rates, cuts: Sequence[int], after: Sequence[int], written: SummaryTokens, window: int
) -> list[int] | None:
    """Steps that compact in the cheapest schedule; None where none keeps every request within the window."""
    n, heights = len(sums.stops), sums.heights
    # A summary call costs what the uncompacted request would have.
    points = [rates.offsets_so_far[k] + rates.per_offset[k] for k in range(n)]
    envelope = Envelope(points)
    before: dict[int, int] = {}
    ends: list[tuple[float, int]] = []

    def open_line(step: int, cost: float, offset: int) -> None:
        """From ``step`` on the context is ``offset + heights``, until one would be over the window."""
        start = step + 1
        over = bisect_left(heights, window - offset + 1, start + 1) - 1 if start < n else n
        line = CostLine(offset, cost - offset * rates.offsets_so_far[start] - rates.fixed_so_far[start], step)
        if over >= n:
            ends.append((line.at(rates.offsets_so_far[n]) + rates.fixed_so_far[n], step))
        if start < n:
            envelope.add(line, start, min(over, n - 1))

    open_line(-1, 0.0, sums.overhead)
    prefix = sums.overhead + sums.lead
    for k in range(n):
        line = envelope.lowest(k) if cuts[k] > 0 and after[k] <= window else None
        if line is None:
            continue
        before[k] = line.name
        read = rates.use.read(k, min(prefix, after[k]))
        sent = rates.read * read + rates.fresh * (after[k] - read) + rates.output * written.summary[k]
        cost = line.at(points[k]) + rates.fixed_so_far[k] + rates.fixed[k] + sent
        open_line(k, cost, after[k] - heights[k + 1])
    if not ends:
        return None
    step = min(ends)[1]
    steps: list[int] = []
    while step >= 0:
        steps.append(step)
        step = before[step]
    return steps[::-1]


def _advancing(sums: PrefixSums, steps: Sequence[int], cuts: Sequence[int], after: Sequence[int]) -> list[int]:
    """The steps without those that would drop nothing new or free nothing: no replay would count them."""
    kept: list[int] = []
    offset, start = sums.overhead, 0
    for k in steps:
        if cuts[k] > start and after[k] < offset + sums.heights[k + 1]:
            kept.append(k)
            offset, start = after[k] - sums.heights[k + 1], cuts[k]
    return kept


FIXED_SIZE = frozenset({"recorded", "stub"})
"""Summarizers whose summary weighs the same whatever is dropped."""
ESTIMATOR = "tiktoken_o200k"
"""What an insert measures under an estimator does not matter where only its display tokens count."""
FAR = -1_000_000_000
"""A request far from every recorded compaction."""


class SummaryTokens(NamedTuple):
    """By step: the display tokens inserted, and how many of them are a summary's."""

    inserted: list[int]
    summary: list[int]


def summary_tokens(weighed: Weighed, summarizer: str) -> SummaryTokens:
    """Those of a session: at a recorded compaction and beside it what that one left, elsewhere the usual."""
    summaries = Summaries(weighed, summarizer, counted(registry.get("estimators", ESTIMATOR), weighed, None))
    beside = {c.request + n for c in weighed.transcript.compactions for n in (-1, 0, 1)}
    usual = _at(summaries, FAR)
    found = [_at(summaries, step.request) if step.request in beside else usual for step in weighed.steps]
    return SummaryTokens([inserted for inserted, _ in found], [summary for _, summary in found])


def _at(summaries: Summaries, request: int) -> tuple[int, int]:
    """Tokens inserted at a request, and those of them that are a summary's."""
    weighed = summaries.weighed
    written = summaries.summarizer.write(Brief(weighed, request, (), summaries.argument))
    if written.messages:
        tokens = [(weighed.tokens[message.index], message.summary) for message in written.messages]
    else:
        tokens = [(draft.tokens, draft.summary) for draft in written.drafts]
    return sum(n for n, _ in tokens), sum(n for n, is_summary in tokens if is_summary)
