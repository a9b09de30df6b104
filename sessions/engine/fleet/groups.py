"""Sums over many sessions, by what they have in common (``ctxweb.fleet/1``)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from sessions.engine.fleet.values import POLICY, SUMMARIZER, THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.fleet.values import Part

COUNTS = (
    "n_compactions", "n_false", "n_refused", "n_missed", "n_thrash", "n_overcounted", "tokens_again",
)  # fmt: skip
"""Figures of a part that are added up; beside each sum stands in how many sessions it is not nothing."""


@dataclass(frozen=True, slots=True)
class Group:
    """Sessions that have ``key`` in common: sums by the names of ``COUNTS``, and in how many of them each occurs.

    ``dollars`` are those of ``n_priced`` sessions with usage and price, None where there is none.
    """

    key: str
    n_sessions: int
    n_requests: int
    sums: dict[str, int]
    sessions_with: dict[str, int]
    n_priced: int
    dollars: float | None
    dollars_above: float | None

    @property
    def share_above(self) -> float | None:
        """The part of the cost that requests with a large context have, 0 to 1; None where no cost is known."""
        return self.dollars_above / self.dollars if self.dollars and self.dollars_above is not None else None


@dataclass(frozen=True, slots=True)
class Threshold:
    """All sessions at one threshold (None: never compacted): ``n_over`` of them would pass their window.

    Dollars are those of the sessions that have a price.
    """

    tokens: int | None
    n_sessions: int
    n_over: int
    compactions: int
    low: float | None
    high: float | None
    is_cheapest: bool = False


def grouped(parts: Sequence[Part], by: str) -> tuple[Group, ...]:
    """One group for each value, those of most sessions first, weeks the latest first; what is not recorded last."""
    found: dict[str, list[Part]] = {}
    for part in parts:
        found.setdefault(getattr(part, by), []).append(part)
    groups = [together(key, some) for key, some in found.items()]
    if by == "week":
        return tuple(sorted(groups, key=lambda group: group.key, reverse=True))
    return tuple(sorted(groups, key=lambda group: (not group.key, -group.n_sessions, group.key)))


def together(key: str, parts: Sequence[Part]) -> Group:
    """The sums of some sessions."""
    spent = [part for part in parts if part.dollars is not None]
    return Group(
        key,
        len(parts),
        sum(part.n_requests for part in parts),
        {name: sum(getattr(part, name) for part in parts) for name in COUNTS},
        {name: sum(getattr(part, name) > 0 for part in parts) for name in COUNTS},
        len(spent),
        fsum(part.dollars or 0 for part in spent) if spent else None,
        fsum(part.dollars_above or 0 for part in spent) if spent else None,
    )


def thresholds(parts: Sequence[Part]) -> tuple[Threshold, ...]:
    """What each threshold comes to over the sessions that were replayed; the cheapest one that fits is marked."""
    tables = [{tried.threshold: tried for tried in part.tried} for part in parts if part.tried]
    if not tables:
        return ()
    rows = []
    for at in THRESHOLDS:
        tried = [table[at] for table in tables if at in table]
        priced = [one for one in tried if one.low is not None]
        low, high = (_sum(getattr(one, side) for one in priced) for side in ("low", "high"))
        n_over = sum(not one.fits for one in tried)
        rows.append(Threshold(at, len(tried), n_over, sum(one.compactions for one in tried), low, high))
    able = [row for row in rows if row.low is not None and not row.n_over]
    best = min(able, key=lambda row: (row.low or 0) + (row.high or 0), default=None)
    return tuple(_marked(row) if row is best else row for row in rows)


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) if known else None


def _marked(row: Threshold) -> Threshold:
    return Threshold(row.tokens, row.n_sessions, row.n_over, row.compactions, row.low, row.high, is_cheapest=True)


def fleet_document(parts: Sequence[Part], by: str, *, n_waiting: int = 0) -> dict[str, Any]:
    """``ctxweb.fleet/1``; ``n_waiting`` sessions are stored and not worked out yet."""
    tried = thresholds(parts)
    return {
        "schema": "ctxweb.fleet/1",
        "by": by,
        "n_waiting": n_waiting,
        "totals": group_document(together("", parts)),
        "groups": [group_document(group) for group in grouped(parts, by)],
        "policy": POLICY,
        "summarizer": SUMMARIZER,
        "n_replayed": sum(bool(part.tried) for part in parts),
        "thresholds": [
            {
                "tokens": row.tokens, "sessions": row.n_sessions, "over_window": row.n_over,
                "compactions": row.compactions, "cheapest": row.is_cheapest,
                "cost_usd": None if row.low is None else {"low": round(row.low, 4), "high": round(row.high or 0, 4)},
            }
            for row in tried
        ],
    }  # fmt: skip


def part_document(part: Part) -> dict[str, Any]:
    """One entry of ``sessions[]``: what one session adds."""
    kept = asdict(part)
    return {"id": part.id} | {NAMES.get(key, key): value for key, value in kept.items() if key not in ("id", "tried")}


def group_document(group: Group) -> dict[str, Any]:
    """One entry of ``groups[]``, and ``totals``."""
    share = group.share_above
    return {
        "key": group.key,
        "sessions": group.n_sessions,
        "requests": group.n_requests,
        "compactions": group.sums["n_compactions"],
        "false": group.sums["n_false"],
        "refused": group.sums["n_refused"],
        "missed": group.sums["n_missed"],
        "thrashing": group.sums["n_thrash"],
        "overcounted": group.sums["n_overcounted"],
        "tokens_again": group.sums["tokens_again"],
        "sessions_with": {NAMES[name]: n for name, n in group.sessions_with.items()},
        "priced_sessions": group.n_priced,
        "cost_usd": None if group.dollars is None else round(group.dollars, 4),
        "cost_above_100k_usd": None if group.dollars_above is None else round(group.dollars_above, 4),
        "share_above_100k": None if share is None else round(share, 4),
    }


NAMES = {
    "n_compactions": "compactions", "n_false": "false", "n_refused": "refused", "n_missed": "missed",
    "n_thrash": "thrashing", "n_overcounted": "overcounted", "tokens_again": "tokens_again",
}  # fmt: skip
"""What the document calls each of ``COUNTS``."""
