"""Floors that a policy has to keep on a corpus of sessions, for a build that fails when one is broken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, takewhile

from sessions.engine.base.errors import BadParameter
from sessions.engine.costs.cost import Totals, totals
from sessions.engine.costs.prices import Prices
from sessions.engine.quality.assess import Assessment
from sessions.engine.quality.standing import GONE, OPEN
from sessions.engine.quality.thrash import n_futile
from sessions.engine.replays.replay import Replay
from sessions.engine.sweeps.floors import CHECKED
from sessions.engine.transcript.types import Role

QUALITY = frozenset({"max_lost", "max_rules_lost", "min_probe_score"})
"""Floors that need the words of the session."""


@dataclass(frozen=True, slots=True)
class Floor:
    """One floor on one session.

    ``value`` is null where there is nothing to measure, which breaks no floor, and where it is unknown (a cost without
    a price, losses that depend on a summary without text), which breaks one unless that was allowed.
    """

    name: str
    limit: float
    value: float | None
    session: str
    ok: bool


def read_limits(given: Mapping[str, float | None]) -> dict[str, float]:
    """The floors that are set; raises BadParameter where none is."""
    chosen = {name: value for name, value in given.items() if value is not None}
    if not chosen:
        raise BadParameter(f"no limit is given. Limits: {', '.join(measure.check for measure in CHECKED)}")
    return chosen


def check(
    replay: Replay,
    limits: Mapping[str, float],
    session: str,
    *,
    prices: Prices | None = None,
    assessed: tuple[Assessment, ...] = (),
    allow_unknown: bool = False,
) -> tuple[Floor, ...]:
    """Every floor of ``limits`` on one replay, max… or min…; ``assessed`` are its events judged, for QUALITY."""
    values = _values(replay, totals(replay, prices=prices), assessed)
    found = []
    for measure in CHECKED:
        if measure.check not in limits:
            continue
        bound, value = limits[measure.check], values[measure.name]
        depends = measure.check in QUALITY and any(one.count(OPEN) or one.score.open for one in assessed)
        ok = value is not None and (value >= bound if measure.least else value <= bound)
        if depends and ok:
            value = None  # what is known holds, and what is not may break it
        if value is None:
            ok = allow_unknown or not (depends or measure.name == "cost")
        found.append(Floor(measure.check, bound, value, session, ok))
    return tuple(found)


def _values(replay: Replay, sums: Totals, assessed: tuple[Assessment, ...]) -> dict[str, float | None]:
    """The measures of ``CHECKED`` by name; None where there is nothing to measure."""
    events, sent, weighed = replay.events, sums.sent_tokens, replay.weighed
    first = takewhile(lambda message: message.role is Role.SYSTEM, weighed.transcript.messages)
    gaps = [later.request - earlier.request for earlier, later in pairwise(events)]
    rules = len({c.text for a in assessed for c in a.constraints if c.is_lost})
    scores = [a.score.score for a in assessed if a.score.score is not None]
    return {
        "cost": None if sums.cost is None else sums.cost.high,
        "compactions": sums.compactions,
        "peak_context_tokens": sums.peak_context_tokens,
        "startup_tokens": weighed.overhead + sum(weighed.tokens[message.index] for message in first),
        "sent_tokens": sent,
        "failures": len(replay.attempts),
        "futile": n_futile(replay),
        "needs_gone": sum(need.state == GONE for a in assessed for need in a.needs),
        "rules_gone": rules,
        "cache_share": 100 * sums.cache_read_tokens / sent if sent else None,
        "interval": min(gaps, default=None),
        "freed_tokens": min((e.before_tokens - e.after_tokens for e in events), default=None),
        "probe_score": None if not scores else 100 * min(scores),
    }
