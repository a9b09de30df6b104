"""The cheapest setting of a sweep that keeps the floors a user sets, why, and how much hangs on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.amounts import read_amount
from sessions.engine.cost_report import span
from sessions.engine.errors import BadParameter
from sessions.engine.floors import SWEPT
from sessions.engine.sweeps.sweep import cost_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.sweeps.sweep import Row, Setting, Sweep

CLOSE = 0.02
"""Settings whose cost is within this share of the cheapest are said to be as good."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The next setting along one axis: its value there, and its cost and compactions against the recommended one.

    ``change`` is relative (0.05: 5% dearer); ``keeps`` whether it keeps the floors.
    """

    key: str
    value: Any
    change: float
    compactions: int
    keeps: bool


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The recommended row, the reason in a sentence, and its neighbours on every axis.

    ``n_kept`` of ``n_rows`` settings keep the floors; ``n_close`` of these cost within 2% of the recommended one.
    """

    row: Row
    reason: str
    neighbours: tuple[Neighbour, ...]
    n_kept: int
    n_rows: int
    n_close: int


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """One session as the others' choice would have done on it.

    ``chosen`` is what the other sessions recommend (None: nothing keeps the floors on all of them); ``ratio`` its cost
    on this session over this session's own cheapest, None where that keeps no floor; ``keeps`` whether the floors hold
    here too.
    """

    session: str
    chosen: Setting | None
    ratio: float | None
    keeps: bool


@dataclass(frozen=True, slots=True)
class Validation:
    """A setting for several sessions, chosen on all, and judged by leaving each one out in turn.

    ``mean_ratio`` is over the sessions left out: 1.05 says that a session not seen before costs 5% more than with its
    own best setting.
    """

    setting: Setting
    reason: str
    judged: tuple[CrossCheck, ...]
    mean_ratio: float | None
    n_keeping: int


def read_floors(pairs: Mapping[str, object]) -> dict[str, float]:
    """``max_compactions=3`` and the like as numbers; raises BadParameter for a name or a value that is none."""
    floors: dict[str, float] = {}
    for name, value in pairs.items():
        side, _, field = name.partition("_")
        if side not in {"max", "min"} or field not in SWEPT:
            raise BadParameter(f"Unknown limit {name!r}. Known: max_ or min_ with {', '.join(SWEPT)}")
        try:
            floors[name] = read_amount(str(value))
        except ValueError:
            raise BadParameter(f"{name} is a number, not {value!r}") from None
        if math.isnan(floors[name]):
            raise BadParameter(f"{name} is a number, not {value!r}")
    return floors


def keeps(row: Row, floors: Mapping[str, float]) -> bool:
    """Whether a row fits into its window and keeps every floor; a cost that is not known keeps none."""
    if not row.fits:
        return False
    for name, limit in floors.items():
        side, _, field = name.partition("_")
        known = row.totals.cost
        if field == "cost":
            value = None if known is None else known.middle
        else:
            value = row.more.get(field, getattr(row.totals, SWEPT.get(field, field), None))
        if value is None or (value > limit if side == "max" else value < limit):
            return False
    return True


def recommend(sweep: Sweep, floors: Mapping[str, float] | None = None) -> Recommendation | None:
    """The cheapest row that keeps the floors, on the front of those that do; None where none does.

    The cost is the middle of its range.  Of equal ones it is that with the fewest compactions, then the lowest peak,
    then the first.
    """
    floors = floors or {}
    kept = [row for row in sweep.rows if keeps(row, floors)]
    if not kept:
        return None
    row = min(kept, key=_order)
    cheapest = cost_key(row.totals)
    close = sum(cost_key(other.totals) <= cheapest * (1 + CLOSE) for other in kept) - 1
    return Recommendation(
        row,
        _reason(sweep, row, floors, len(kept), close),
        _neighbours(sweep, row, floors),
        len(kept),
        len(sweep.rows),
        close,
    )


def recommend_across(sweeps: Sequence[Sweep], floors: Mapping[str, float] | None = None) -> Validation | None:
    """One setting for several sessions swept alike, and how it does on sessions that had no say.

    The choice keeps the floors on every session it is made on, at the lowest mean cost relative to each session's own
    cheapest.  None where no setting does.
    """
    floors = floors or {}
    tables = [{row.setting: row for row in sweep.rows} for sweep in sweeps]
    best = [_best(table, floors) for table in tables]
    chosen = _choice(tables, best, floors)
    if chosen is None:
        return None
    judged = tuple(_judged(number, sweeps, tables, best, floors) for number in range(len(sweeps)))
    ratios = [one.ratio for one in judged if one.ratio is not None]
    mean = sum(ratios) / len(ratios) if ratios and len(sweeps) > 1 else None
    holds = sum(one.keeps for one in judged)
    reason = f"the lowest mean cost over {len(sweeps)} sessions that meets the limits on all of them"
    if mean is not None:
        reason += (
            f"; on a session it was not chosen on, {100 * (mean - 1):.1f}% above that session's own cheapest on "
            f"average, with the limits met on {holds} of {len(sweeps)}"
        )
    return Validation(chosen, reason, judged, mean, holds)


def _order(row: Row) -> tuple[float, ...]:
    return (cost_key(row.totals), row.totals.compactions, row.totals.peak_context_tokens)


def _reason(sweep: Sweep, row: Row, floors: Mapping[str, float], n_kept: int, close: int) -> str:
    cost = row.totals.cost
    what = "fewest tokens sent" if cost is None else "lowest cost"
    price = f"{row.totals.sent_tokens:,} tokens" if cost is None else span(cost.low, cost.high)
    limits = " and ".join(_said(name, limit) for name, limit in floors.items())
    every = n_kept == len(sweep.rows) and n_kept > 1
    among = (
        f"of all {n_kept:,} settings"
        if every
        else f"of the {n_kept:,} of {len(sweep.rows):,} settings that fit the window"
    )
    among += f"{', all' if every else ''} with {limits}" if limits else ""
    times = "compaction" if row.totals.compactions == 1 else "compactions"
    others = "other setting costs" if close == 1 else "other settings cost"
    equals = f"; {close:,} {others} about the same (±2%)" if close else ""
    return (
        f"The {what} ({price}) {among}: {row.totals.compactions:,} {times}, peak "
        f"{row.totals.peak_context_tokens:,} tokens{equals}. Assumes the agent sends the same messages."
    )


COUNTED = {
    "compactions": ("compaction", "compactions"),
    "summary_calls": ("summary call", "summary calls"),
    "rules_gone": ("rule lost", "rules lost"),
    "needs_gone": ("thing used later and lost", "things used later and lost"),
}
"""What limits count, one and many."""


def _said(floor: str, limit: float) -> str:
    """A floor in words: "at most 6 compactions", "a peak of at most 150,000 tokens", "no rule lost"."""
    side, _, field = floor.partition("_")
    most = f"{'at most' if side == 'max' else 'at least'} {limit:,.10g}"
    if (floor, limit) == ("max_rules_gone", 0):
        return "no rule lost"
    if field in COUNTED:
        one, many = COUNTED[field]
        return f"{most} {one if limit == 1 else many}"
    if field == "cost":
        return f"a cost of {most} dollars"
    name = field.removesuffix("_tokens").replace("_", " ")
    return f"{name} of {most} tokens" if field in SWEPT else f"{name} of {most}"


def _neighbours(sweep: Sweep, row: Row, floors: Mapping[str, float]) -> tuple[Neighbour, ...]:
    """The rows one value down and one up on every axis, the others held."""
    places = {tuple(other.values.values()): other for other in sweep.rows}
    here = cost_key(row.totals)
    found: list[Neighbour] = []
    for axis in sweep.axes:
        at = axis.values.index(row.values[axis.key])
        for place in (at - 1, at + 1):
            if not 0 <= place < len(axis.values):
                continue
            other = places.get(tuple({**row.values, axis.key: axis.values[place]}.values()))
            if other is not None:
                change = cost_key(other.totals) / here - 1 if here else 0.0
                found.append(
                    Neighbour(axis.key, axis.values[place], change, other.totals.compactions, keeps(other, floors))
                )
    return tuple(found)


def _best(table: Mapping[Setting, Row], floors: Mapping[str, float]) -> float | None:
    """The lowest cost on one session that keeps the floors."""
    return min((cost_key(row.totals) for row in table.values() if keeps(row, floors)), default=None)


def _choice(
    tables: Sequence[Mapping[Setting, Row]], best: Sequence[float | None], floors: Mapping[str, float]
) -> Setting | None:
    if not tables or any(cost is None for cost in best):
        return None
    ranked: list[tuple[float, int, Setting]] = []
    for number, setting in enumerate(tables[0]):
        rows = [table.get(setting) for table in tables]
        if all(row is not None and keeps(row, floors) for row in rows):
            ratios = [cost_key(r.totals) / b if b else 1.0 for r, b in zip(rows, best, strict=True) if r is not None]
            ranked.append((sum(ratios) / len(ratios), number, setting))
    return min(ranked)[2] if ranked else None


def _judged(
    number: int,
    sweeps: Sequence[Sweep],
    tables: Sequence[Mapping[Setting, Row]],
    best: Sequence[float | None],
    floors: Mapping[str, float],
) -> CrossCheck:
    """Session ``number`` under what the others choose."""
    session = sweeps[number].weighed.transcript.id
    chosen = _choice([*tables[:number], *tables[number + 1 :]], [*best[:number], *best[number + 1 :]], floors)
    row = tables[number].get(chosen) if chosen is not None else None
    own = best[number]
    if row is None or not own:
        return CrossCheck(session, chosen, None, keeps=False)
    return CrossCheck(session, chosen, cost_key(row.totals) / own, keeps(row, floors))
