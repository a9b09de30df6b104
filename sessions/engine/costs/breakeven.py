"""What one compaction costs and after how many calls it has paid for itself (policies 14.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.costs.caching import cache_use
from sessions.engine.costs.cost import summary_tokens
from sessions.engine.costs.prices import PER_MILLION, Prices, step_prices

if TYPE_CHECKING:
    from sessions.engine.replays.replay import Replay


@dataclass(frozen=True, slots=True)
class CompactionTokens:
    """A compaction in tokens.

    ``before`` the context it found (L), ``after`` the one it left (S), ``unchanged`` what both begin with and the
    cache holds (Y: system and tools), ``cached`` how much of ``before`` the cache holds; the summary call reads
    ``call_read`` of its ``call`` tokens from the cache and writes ``written``.  ``call_is_kept``: its other tokens
    go into the cache (a shared prefix), they are not sent once and forgotten.
    """

    before: int
    after: int
    unchanged: int
    cached: int
    call: int = 0
    call_read: int = 0
    written: int = 0
    call_is_kept: bool = False


@dataclass(frozen=True, slots=True)
class EventCost:
    """What a compaction costs, in dollars.

    ``call`` is the summary call, ``rewrite`` what its own request costs beyond what it would have cost without it
    (below 0 where the shorter list outweighs what the cache lost), ``saves_per_call`` what every later request of the
    same cache saves.  ``break_even_calls`` counts the event's own request as the first, and is None where nothing is
    ever saved.  ``cold``: the cache had expired; ``free``: the event's own request has paid for it already.
    """

    request: int
    call: float
    rewrite: float
    saves_per_call: float
    break_even_calls: float | None
    cold: bool
    free: bool


def event_cost(
    compacted: CompactionTokens, prices: Prices, later: Prices | None = None, *, request: int = 0, cold: bool = False
) -> EventCost:
    """The cost of one compaction at the prices of the list before, and those of the list after (None: the same).

    With all of the list before in the cache this is the reference's formula, [p·k·L + q·s + (write − read)·(S − Y)] ÷
    [read·(L − S)], k the summary call's share.
    """
    c, fresh, read, later = compacted, prices.fresh(), prices.cache_read, later or prices
    rest = fresh if c.call_is_kept else prices.input
    call = read * c.call_read + rest * (c.call - c.call_read) + prices.output * c.written
    sent = later.cache_read * c.unchanged + later.fresh() * (c.after - c.unchanged)
    unsent = read * c.cached + fresh * (c.before - c.cached)
    saves = read * (c.before - c.after) + (read - later.cache_read) * c.after
    extra = call + sent - unsent
    break_even = max(0.0, 1 + extra / saves) if saves > 0 else None
    return EventCost(
        request,
        call / PER_MILLION,
        (sent - unsent) / PER_MILLION,
        saves / PER_MILLION,
        break_even,
        cold,
        free=extra <= 0,
    )


def event_costs(replay: Replay, *, prices: Prices | None = None) -> tuple[EventCost, ...] | None:
    """The cost of each event by its request's model (policies 14.4), the session's own at ``prices``; None without."""
    weighed = replay.weighed
    asked = step_prices(weighed, prices)
    if None in asked:
        return None
    use = cache_use(weighed)
    costs: list[EventCost] = []
    for event in replay.events:
        k = weighed.places[event.request]
        cached = use.read(k, min(replay.sent.tokens[k - 1], event.before_tokens))
        calls, shares = event.summary_calls if replay.policy.summary_calls else 0, replay.policy.shares_prefix
        compacted = CompactionTokens(
            event.before_tokens,
            event.after_tokens,
            use.read(k, min(replay.sent.cached[k], event.after_tokens)),
            cached,
            calls * event.before_tokens,
            calls * cached if shares else 0,
            summary_tokens(event) if calls else 0,
            shares,
        )
        if own := asked[k]:
            before, after = (use.blended(own.at(tokens)) for tokens in (event.before_tokens, event.after_tokens))
            costs.append(event_cost(compacted, before, after, request=event.request, cold=not k or k in use.cold))
    return tuple(costs)
