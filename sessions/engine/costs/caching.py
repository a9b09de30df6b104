"""How the provider's prompt cache served a session: as its usage records it, else by rule (policies 14.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sessions.engine.base.prompt_cache import HOUR_TTL_SECONDS, TTL_SECONDS
from sessions.engine.base.session_cache import Remembered
from sessions.engine.costs.prices import Prices
from sessions.engine.weigh.calibration.weighed import Weighed

WHOLE = 1 << 16
"""Shares are whole numbers of 65,536ths: sums over requests are exact in any order."""
DAY_TTL_SECONDS = 86_400.0
"""Idle longer than this and nothing is read from the cache; every read starts the time again."""
RECORDED, NO_READS, BY_RULE = "as recorded", "no reads reported", "by rule"


class Pair(NamedTuple):
    """A request and the one before: tokens both begin with, those read of them, seconds between, None if not told."""

    prefix: int
    read: int | None
    idle: float | None


@dataclass(frozen=True, slots=False)
class CacheUse:
    """The cache of one session.

    ``shares[k]`` is how much of what request k shares with the one before it is read, in 65,536ths; ``known[k]`` says
    that its own usage reports it.  ``start`` are tokens that the first request read of what other sessions left.
    ``written`` is the share of the tokens not read that the cache takes at its fee (the rest is plain input), ``hour``
    the share of those that are kept for an hour.  ``lifetime`` is in seconds, ``nominal`` what the provider promises
    (an hour where most writes are kept for one); ``rate`` is the share read of all that could have been, None where
    nothing tells; ``kind`` is RECORDED, NO_READS or BY_RULE.
    """

    shares: tuple[int, ...]
    known: tuple[bool, ...]
    start: int
    written: float
    hour: float
    nominal: float
    lifetime: float
    rate: float | None
    kind: str

    @cached_property
    def cold(self) -> frozenset[int]:
        """Steps that find the cache expired: less than half is read of what could be, by a provider that caches."""
        if self.kind == NO_READS:
            return frozenset()
        return frozenset(k for k, share in enumerate(self.shares) if k and 2 * share < WHOLE)

    def read(self, step: int, prefix: int) -> int:
        """Tokens read of ``prefix`` tokens that a step shares with the one before it; the first step reads none."""
        return prefix * self.shares[step] // WHOLE

    def split(self, fresh: int) -> tuple[int, int, int]:
        """Tokens not read as plain input, writes, and how many of the writes are kept for an hour."""
        written = round(fresh * self.written)
        return fresh - written, written, round(written * self.hour)

    def blended(self, prices: Prices) -> Prices:
        """``prices`` with one price for every token not read: its mean over plain input and both kinds of writes."""
        short, long = prices.fresh(), prices.fresh(hour=True)
        fee = self.written * (self.hour * long + (1 - self.hour) * short) + (1 - self.written) * prices.input
        return Prices(prices.input, prices.output, prices.cache_read, fee, fee, prices.source)


USE: Remembered[CacheUse] = Remembered("use of the cache")
PAIRS: Remembered[tuple[Pair, ...]] = Remembered("pairs of steps")


def cache_use(weighed: Weighed) -> CacheUse:
    """How the cache served a session, worked out once."""
    return weighed.cache.value(USE, lambda: _cache_use(weighed))


def _cache_use(weighed: Weighed) -> CacheUse:
    """Worked out anew.

    A request with usage reads the share that it reports.  Any other reads the session's own share, or all where no
    usage tells, unless it came later than the cache lasts.  So does the first request after a recorded compaction: a
    replay without that compaction shares another prefix.
    """
    pairs = pairs_of(weighed)
    usages = [u for r in weighed.transcript.requests if r.on_branch and (u := r.usage)]
    written, kept_long = sum(u.cache_write for u in usages), sum(u.cache_write_1h for u in usages)
    fresh = written + sum(u.input for u in usages)
    nominal = HOUR_TTL_SECONDS if 2 * kept_long > written else TTL_SECONDS
    lifetime = _lifetime(pairs, nominal)
    could = sum(pair.prefix for pair in pairs if pair.read is not None and not _expired(pair, lifetime))
    read = sum(min(pair.read, pair.prefix) for pair in pairs if pair.read is not None and not _expired(pair, lifetime))
    rate = read / could if could else None
    first = weighed.transcript.requests[weighed.steps[0].request].usage if weighed.steps else None
    nothing = bool(usages) and not any(u.cache_read or u.cache_write for u in usages)
    usual = WHOLE if rate is None else round(WHOLE * rate)
    return CacheUse(
        tuple(_share(pair, usual if k else 0, lifetime) for k, pair in enumerate(pairs)),
        tuple(pair.read is not None for pair in pairs),
        first.cache_read if first else 0,
        written / fresh if fresh else 1.0,
        kept_long / written if written else 0.0,
        nominal,
        lifetime,
        rate,
        NO_READS if nothing else RECORDED if usages else BY_RULE,
    )


def pairs_of(weighed: Weighed) -> tuple[Pair, ...]:
    """Every step with the one before it; the first has a prefix of 0, one at a recorded compaction the overhead."""
    return weighed.cache.value(PAIRS, lambda: _pairs(weighed))


def _pairs(weighed: Weighed) -> tuple[Pair, ...]:
    context, requests = weighed.recorded.context, weighed.transcript.requests
    found: list[Pair] = []
    last: float | None = None
    for k, step in enumerate(weighed.steps):
        request = requests[step.request]
        now = request.timestamp
        idle = None if now is None or last is None else now - last
        last = last if now is None else now
        prefix = 0 if not k else min(context[k - 1], context[k]) if not step.restarts else weighed.overhead
        tells = request.usage is not None and step.request not in weighed.flagged and not step.restarts and k
        found.append(Pair(prefix, request.usage.cache_read if request.usage and tells else None, idle))
    return tuple(found)


def _share(pair: Pair, usual: int, lifetime: float) -> int:
    if pair.read is None:
        return 0 if _expired(pair, lifetime) else usual
    return min(WHOLE, round(WHOLE * pair.read / pair.prefix)) if pair.prefix else 0


def _expired(pair: Pair, lifetime: float) -> bool:
    return pair.idle is not None and pair.idle > lifetime


def _lifetime(pairs: tuple[Pair, ...], nominal: float) -> float:
    """The lifetime that explains best what was read after a pause longer than the nominal one, else the nominal."""
    paused = [(pair, pair.read) for pair in pairs if pair.read is not None and _expired(pair, nominal)]
    candidates = [nominal, *(t for t in (HOUR_TTL_SECONDS, DAY_TTL_SECONDS) if t > nominal)]

    def missed(lifetime: float) -> int:
        return sum(abs(read - (0 if _expired(pair, lifetime) else pair.prefix)) for pair, read in paused)

    return min(candidates, key=missed)
