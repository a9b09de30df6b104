"""Tokens and money of a replay, with the provider's prompt cache modelled (policies 14, replay-semantics 6)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import repeat
from operator import is_, mul
from typing import TYPE_CHECKING

from sessions.engine.costs.caching import WHOLE, CacheUse, cache_use
from sessions.engine.costs.prices import PER_MILLION, Prices, prices_of, step_prices
from sessions.engine.policies.policy import Item
from sessions.engine.transcript.parts import without_gc
from sessions.engine.transcript.types import Block, Kind
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.outputs import outputs

if TYPE_CHECKING:
    from sessions.engine.replays.events import Event
    from sessions.engine.replays.replay import Replay


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars: ``low`` as replayed, ``high`` with what was dropped and used again fetched again."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The middle of the range: what settings are ranked by."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a replay in tokens; input + cache_read + cache_write = all contexts sent + input of summary calls.

    ``refetched_tokens`` is what the upper end of the cost adds; ``cost`` is None where the model has no price.
    """

    compactions: int
    peak_context_tokens: int
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    summary_calls: int
    refetched_tokens: int
    cost: Cost | None

    @property
    def sent_tokens(self) -> int:
        """All tokens sent, read from the cache or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


def added_up(each: Sequence[Totals]) -> Totals:
    """The totals of several sessions together, of which the peak is the highest; one without a price leaves none."""
    counts = {f.name: sum(getattr(one, f.name) for one in each) for f in fields(Totals) if f.name != "cost"}
    counts["peak_context_tokens"] = max(one.peak_context_tokens for one in each)
    costs = [one.cost for one in each if one.cost is not None]
    cost = Cost(sum(c.low for c in costs), sum(c.high for c in costs)) if len(costs) == len(each) else None
    return Totals(**counts, cost=cost)


@dataclass(slots=True)
class Bill:
    """Running sums of tokens: ``write`` are those sent anew where writes are billed, ``write_1h`` kept for an hour."""

    input: int = 0
    read: int = 0
    write: int = 0
    output: int = 0
    write_1h: int = 0

    def cost(self, prices: Prices | None, refetched: int = 0, fresh: float = 0.0) -> Cost | None:
        """Dollars; at the upper end ``refetched`` tokens more are sent at ``fresh`` a million.  None without prices."""
        if prices is None:
            return None
        short = self.write - self.write_1h
        writes = short * prices.fresh() + self.write_1h * prices.fresh(hour=True)
        read = self.read * prices.cache_read
        low = (self.input * prices.input + read + writes + self.output * prices.output) / PER_MILLION
        return Cost(low, low + refetched * fresh / PER_MILLION)


def bill_of(prices: Prices | None, use: CacheUse, *, plain: int, shared: int, read: int, output: int) -> Bill:
    """A bill of ``plain`` input and ``shared`` tokens of which some are read; ``read`` in 65,536ths of a token.

    The others are sent anew: without prices, or where writes carry no fee, as plain input.
    """
    cached = read // WHOLE
    fresh = shared - cached
    if prices is None or prices.cache_write is None:
        return Bill(plain + fresh, cached, 0, output)
    part, written, kept_long = use.split(fresh)
    return Bill(plain + part, cached, written, output, kept_long)


@without_gc()
def totals(replay: Replay, *, prices: Prices | None = None) -> Totals:
    """What a replay sends and costs, each request by its own model (policies 14.4), the session's own at ``prices``."""
    weighed = replay.weighed
    tokens, cached = replay.sent
    use, charged = cache_use(weighed), _Charged(step_prices(weighed, prices))
    group, groups = charged.group, charged.groups
    charged.add_sent(tokens, cached, use.shares, outputs(weighed))
    if tokens:
        group(0, tokens[0]).read += WHOLE * min(use.start, tokens[0])
    calls = _summary_calls(replay, use)
    for step, plain, shared, read, output in calls:
        group(step, plain + shared).add(plain, shared, read, output)
    befores = replay.events[0].history.befores() if replay.events else ()
    for event, before in zip(replay.events, befores, strict=True):
        again = _refetched_at(weighed, event, before)
        if again:
            group(weighed.places[event.request], event.after_tokens).again += again
    bills = {
        own: bill_of(own, use, plain=one.plain, shared=one.shared, read=one.read, output=one.output)
        for own, one in groups.items()
    }
    return Totals(
        compactions=len(replay.events),
        peak_context_tokens=max(tokens, default=0),
        input_tokens=sum(bill.input for bill in bills.values()),
        cache_read_tokens=sum(bill.read for bill in bills.values()),
        cache_write_tokens=sum(bill.write for bill in bills.values()),
        output_tokens=sum(bill.output for bill in bills.values()),
        summary_calls=len(calls),
        refetched_tokens=sum(one.again for one in groups.values()),
        cost=_cost(groups, bills, use) if groups else Bill().cost(prices or prices_of(weighed.model)),
    )


@dataclass(slots=True)
class _Group:
    """Tokens of the requests that are charged alike: plain input, prefixes shared, read of them, put out, had again."""

    plain: int = 0
    shared: int = 0
    read: int = 0
    output: int = 0
    again: int = 0

    def add(self, plain: int, shared: int, read: int, output: int) -> None:
        self.plain, self.shared = self.plain + plain, self.shared + shared
        self.read, self.output = self.read + read, self.output + output


@dataclass(slots=True)
class _Charged:
    """The groups of a replay by their prices, in the order met; ``asked`` are the prices of each step's model."""

    asked: Sequence[Prices | None]
    groups: dict[Prices | None, _Group] = field(default_factory=dict)
    _known: dict[int, _Group] = field(default_factory=dict)

    def group(self, step: int, tokens: int) -> _Group:
        """Prices are found by what they are, and known by which: few stand for thousands of requests."""
        priced = self.asked[step]
        own = priced.at(tokens) if priced else None
        found = self._known.get(id(own))
        if found is None:
            found = self._known[id(own)] = self.groups.setdefault(own, _Group())
        return found

    def add_sent(
        self, tokens: Sequence[int], cached: Sequence[int], shares: Sequence[int], outputs: Sequence[int]
    ) -> None:
        """Every request sent, by step; added up at once where all are charged alike."""
        one = self.asked[0] if tokens else None
        if tokens and (one is None or one.at(max(tokens)) is one) and all(map(is_, self.asked, repeat(one))):
            read = sum(map(mul, cached, shares))
            self.group(0, 0).add(0, sum(tokens), read, sum(outputs[: len(tokens)]))
            return
        for k, (whole, prefix) in enumerate(zip(tokens, cached, strict=True)):
            self.group(k, whole).add(0, whole, prefix * shares[k], outputs[k])


def _cost(groups: Mapping[Prices | None, _Group], bills: Mapping[Prices | None, Bill], use: CacheUse) -> Cost | None:
    """The sum of all groups, None where one has no price."""
    low = high = 0.0
    for prices, one in groups.items():
        cost = bills[prices].cost(prices, one.again, use.blended(prices).fresh() if prices else 0.0)
        if cost is None:
            return None
        low, high = low + cost.low, high + cost.high
    return Cost(low, high)


def _summary_calls(replay: Replay, use: CacheUse) -> list[tuple[int, int, int, int, int]]:
    """Every summary call: its step, tokens of plain input, of a shared prefix, read of that (65,536ths), and output.

    The list before goes in; a call made in vain brings nothing out.  With a shared prefix the call reads what the
    request before it left in the cache and writes the rest; without one it is sent once and never read again: all
    plain input (policies 14.1).
    """
    if not replay.policy.summary_calls:
        return []
    calls: list[tuple[int, int, int, int, int]] = []
    sent = replay.sent.tokens

    def call(request: int, tokens: int, written: int) -> tuple[int, int, int, int, int]:
        k = replay.weighed.places[request]
        if not replay.policy.shares_prefix:
            return (k, tokens, 0, 0, written)
        return (k, 0, tokens, min(tokens, sent[k - 1]) * use.shares[k], written)

    for event in replay.events:
        written = summary_tokens(event) if event.summary_calls else 0
        calls += [call(event.request, event.before_tokens, 0 if n else written) for n in range(event.summary_calls)]
    for attempt in replay.attempts:
        calls += [call(attempt.request, attempt.tokens, 0)] * attempt.summary_calls
    return calls


def summary_tokens(event: Event) -> int:
    """Display tokens of the summaries that an event itself inserted; a recorded one's keep their own ids."""
    mine = f"e{event.index}."
    found = [item for item in event.after if item.message.summary]
    earlier = {item.id for item in event.before} if any(i.message.compaction is not None for i in found) else set()
    own = (i for i in found if i.id.startswith(mine) or (i.message.compaction is not None and i.id not in earlier))
    return sum(item.tokens for item in own)


def _refetched_at(weighed: Weighed, event: Event, before: Sequence[Item]) -> int:
    """Tokens of dropped tool results whose file or command the recording uses again by another tool.

    A later call of the same tool on the same target is the recording's own re-read: it is in the trajectory already.
    Each dropped result is fetched again at most once; the simple upper end of the cost range (replay-semantics 6).
    """
    start = (event.message + 1) if event.message is not None else 0
    newest: dict[str, int] = {}
    result = Kind.TOOL_RESULT
    for position, item, left in event.history.changes_at(event.index, before):
        if item.inserted:
            continue
        still = () if left is None else left.message.blocks
        for block in item.message.blocks:
            if block.kind is not result or block in still:
                continue
            call = _call_of(weighed, before, position, block.call_id)
            uses = weighed.target_uses.get(call.target, []) if call and call.target else []
            at = bisect_left(uses, (start, ""))
            if call and at < len(uses) and uses[at][1] != call.name:
                newest[call.target] = weighed.content_tokens(block)
    return sum(newest.values())


def _call_of(weighed: Weighed, items: Sequence[Item], position: int, call_id: str) -> Block | None:
    """The call in a list that a result at ``position`` answers: the nearest before it, the last where ids repeat."""
    after = range(position + 1, len(items))
    before = range(position, -1, -1)
    repeats = call_id in weighed.repeated_calls
    for places in (reversed(after), before) if repeats else (before, after):
        for n in places:
            for block in reversed(items[n].message.blocks):
                if block.kind is Kind.TOOL_USE and block.call_id == call_id:
                    return block
    return None
