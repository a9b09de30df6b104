"""Floors that a policy has to keep on a corpus of sessions, for a build that fails when one is broken."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.cost import Totals, totals
from sessions.engine.errors import BadParameter
from sessions.engine.quality.standing import GONE
from sessions.engine.thrash import refills

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.engine.prices import Prices
    from sessions.engine.quality.assess import Assessment
    from sessions.engine.replay import Replay


class Limit(NamedTuple):
    """A floor's name, what it bounds in words with its unit, and whether the value must not be below or above."""

    name: str
    help: str
    least: bool = False


LIMITS = (
    Limit("max_cost", "upper end of the cost, in dollars"),
    Limit("max_compactions", "compactions in a session"),
    Limit("max_peak", "largest context sent, in tokens"),
    Limit("max_tokens", "tokens sent in all, summaries included"),
    Limit("max_failures", "failed attempts"),
    Limit("max_futile", "compactions that left the gate on, or whose room was gone within three requests"),
    Limit("max_lost", "references gone that the agent goes on to use, all events together"),
    Limit("max_rules_lost", "rules gone, all events together"),
    Limit("min_cache_share", "share of the tokens sent that is read from the cache, in per cent", least=True),
    Limit("min_interval", "requests between two compactions", least=True),
    Limit("min_freed", "tokens freed by a compaction", least=True),
    Limit("min_probe_score", "probes still answered after a compaction, in per cent", least=True),
)
QUALITY = frozenset({"max_lost", "max_rules_lost", "min_probe_score"})
"""Floors that need the words of the session."""


@dataclass(frozen=True, slots=True)
class Floor:
    """One floor on one session: ``value`` is null where there is nothing to measure, which breaks no floor."""

    name: str
    limit: float
    value: float | None
    session: str
    ok: bool


def read_limits(given: Mapping[str, float | None]) -> dict[str, float]:
    """The floors that are set; raises BadParameter where none is."""
    chosen = {name: value for name, value in given.items() if value is not None}
    if not chosen:
        raise BadParameter(f"no floor is given; there are: {', '.join(limit.name for limit in LIMITS)}")
    return chosen


def check(
    replay: Replay,
    limits: Mapping[str, float],
    session: str,
    *,
    prices: Prices | None = None,
    assessed: tuple[Assessment, ...] = (),
) -> tuple[Floor, ...]:
    """Every floor of ``limits`` on one replay.  ``assessed`` are its events judged, for the floors of QUALITY.

    A floor named max… holds at its limit and under it, min… at it and over it.
    """
    values = _values(replay, totals(replay, prices=prices), assessed)
    found = []
    for limit in LIMITS:
        if limit.name not in limits:
            continue
        bound, value = limits[limit.name], values[limit.name]
        ok = value is None or (value >= bound if limit.least else value <= bound)
        found.append(Floor(limit.name, bound, value, session, ok))
    return tuple(found)


def _values(replay: Replay, sums: Totals, assessed: tuple[Assessment, ...]) -> dict[str, float | None]:
    """What each of LIMITS bounds, by its name; None where there is nothing to measure."""
    events, sent = replay.events, sums.sent_tokens
    gaps = [later.request - earlier.request for earlier, later in pairwise(events)]
    rules = sum(c.state == GONE for a in assessed for c in a.constraints)
    scores = [a.score.score for a in assessed if a.score.score is not None]
    return {
        "max_cost": None if sums.cost is None else sums.cost.high,
        "max_compactions": sums.compactions,
        "max_peak": sums.peak_context_tokens,
        "max_tokens": sent,
        "max_failures": len(replay.attempts),
        "max_futile": sum(refill.futile for refill in refills(replay)),
        "max_lost": sum(need.state == GONE for a in assessed for need in a.needs),
        "max_rules_lost": rules,
        "min_cache_share": 100 * sums.cache_read_tokens / sent if sent else None,
        "min_interval": min(gaps, default=None),
        "min_freed": min((e.before_tokens - e.after_tokens for e in events), default=None),
        "min_probe_score": None if not scores else 100 * min(scores),
    }
