"""Sums over many sessions, by what they have in common (``ctxweb.fleet/1``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import fsum
from typing import Any

from sessions.engine.sweeps.advice import most_compactions
from sessions.engine.sweeps.fleet.values import POLICY, RECORDED, SUMMARIZER, THRESHOLDS, Part, Tried

NAMES = {
    "n_compactions": "compactions", "n_false": "false", "n_refused": "refused", "n_missed": "missed",
    "n_thrash": "thrashing", "n_overcounted": "overcounted", "tokens_again": "tokens_again",
}  # fmt: skip
"""What the document calls each of ``COUNTS``."""
COUNTS = tuple(NAMES)
"""Figures of a part that are added up; beside each sum stands in how many sessions it is not nothing."""


@dataclass(frozen=True, slots=True)
class Group:
    """Sessions that have ``key`` in common: sums, in how many each occurs, and the dollars of the ``n_priced``."""

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
    """All sessions at one threshold (None: never compacted), ``n_over`` over their window; dollars where priced."""

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


@dataclass(frozen=True, slots=True)
class Added:
    """Sessions added up: all together, by what they have in common, and at each threshold (``n_replayed`` of them)."""

    by: str
    total: Group
    groups: tuple[Group, ...]
    thresholds: tuple[Threshold, ...]
    n_replayed: int


def add_up(parts: Iterable[Part], by: str) -> Added:
    """The sums in one pass: of a hundred thousand sessions no more is held than their counts and costs."""
    tables = {at: _Table() for at in (RECORDED, *THRESHOLDS)}
    kept, n_replayed = [], 0
    for part in parts:
        n_replayed += bool(part.tried)
        for one in part.tried:
            if one.threshold in tables:
                tables[one.threshold].add(one)
        kept.append(replace(part, tried=()) if part.tried else part)
    rows = _marked([table.row(at) for at, table in tables.items()]) if n_replayed else ()
    return Added(by, together("", kept), grouped(kept, by), rows, n_replayed)


class _Table:
    """What sessions come to at one threshold, in the making."""

    def __init__(self) -> None:
        self.n = self.n_over = self.compactions = 0
        self.low: list[float] = []
        self.high: list[float] = []

    def add(self, one: Tried) -> None:
        self.n += 1
        self.n_over += not one.fits
        self.compactions += one.compactions
        if one.low is not None:
            self.low.append(one.low)
            if one.high is not None:
                self.high.append(one.high)

    def row(self, at: int | None) -> Threshold:
        low, high = (fsum(side) if side else None for side in (self.low, self.high))
        return Threshold(at, self.n, self.n_over, self.compactions, low, high)


def _marked(rows: Sequence[Threshold]) -> tuple[Threshold, ...]:
    """The same rows; of those that the advice could name, and that are no end of the list, the cheapest is marked."""
    held, most = rows[0], most_compactions(rows[0].compactions)
    ends = (RECORDED, None, *(THRESHOLDS[at] for at in (0, -2)))
    able = [
        row for row in rows
        if row.tokens not in ends and row.high is not None and not row.n_over and row.compactions <= most
        and row.high < (held.low or 0)
    ]  # fmt: skip
    best = min(able, key=lambda row: (row.low or 0) + (row.high or 0), default=None)
    return tuple(replace(row, is_cheapest=True) if row is best else row for row in rows)


def fleet_document(added: Added, *, n_waiting: int = 0) -> dict[str, Any]:
    """``ctxweb.fleet/1``; ``n_waiting`` sessions are stored and not worked out yet."""
    return {
        "schema": "ctxweb.fleet/1",
        "by": added.by,
        "n_waiting": n_waiting,
        "totals": group_document(added.total),
        "groups": [group_document(group) for group in added.groups],
        "policy": POLICY,
        "summarizer": SUMMARIZER,
        "n_replayed": added.n_replayed,
        "thresholds": [
            {
                "tokens": row.tokens or None, "as_recorded": row.tokens == RECORDED,
                "sessions": row.n_sessions, "over_window": row.n_over,
                "compactions": row.compactions, "cheapest": row.is_cheapest,
                "cost_usd": None if row.low is None else {"low": round(row.low, 4), "high": round(row.high or 0, 4)},
            }
            for row in added.thresholds
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
        **{NAMES[name]: n for name, n in group.sums.items()},
        "sessions_with": {NAMES[name]: n for name, n in group.sessions_with.items()},
        "priced_sessions": group.n_priced,
        "cost_usd": None if group.dollars is None else round(group.dollars, 4),
        "cost_above_100k_usd": None if group.dollars_above is None else round(group.dollars_above, 4),
        "share_above_100k": None if share is None else round(share, 4),
    }
