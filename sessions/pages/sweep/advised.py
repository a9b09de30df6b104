"""Which row of a sweep is recommended, and why; which rows the chart's line joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.sweeps.pareto import pareto
from sessions.engine.sweeps.recommend import keeps, recommend, recommend_across
from sessions.engine.sweeps.sweep import cost_key
from sessions.pages.sweep import rows as sweep_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.sweeps.recommend import Neighbour
    from sessions.engine.sweeps.sweep import Row, Sweep
    from sessions.runs.sweeps import SweepResult


def advised(
    swept: SweepResult, whole: Sweep, floors: Mapping[str, float]
) -> tuple[int, str, tuple[Neighbour, ...]]:  # fmt: skip
    """The row of ``whole`` that is recommended, else the cheapest; why, and its neighbours.

    The reason is "" where nothing keeps the floors.
    """
    setting, reason = None, ""
    near: tuple[Neighbour, ...] = ()
    if len(swept.sweeps) == 1:
        found = recommend(whole, floors)
        if found is not None and swept.complete:
            setting, reason, near = found.row.setting, found.reason, found.neighbours
    else:
        across = recommend_across(swept.sweeps, floors) if all(one.rows for one in swept.sweeps) else None
        if across is not None:
            said = across.reason[0].upper() + across.reason[1:]
            setting, reason = across.setting, f"{said}. Assumes the agent sends the same messages."
    places = {row.setting: index for index, row in enumerate(whole.rows)}
    if setting is not None:
        return places[setting], reason, near
    cheapest = min(range(len(whole.rows)), key=lambda index: sweep_rows.measure_of("cost")(whole.rows[index]))
    return cheapest, "", ()


def unbeaten(rows: Sequence[Row], against: str, floors: Mapping[str, float]) -> frozenset[int]:
    """Rows that no other beats on the two axes of the chart: cost and ``against``.

    Only rows within the limits; where none is, those that fit into the window; else all.
    """
    measure = sweep_rows.measure_of(against)
    kept = [index for index, row in enumerate(rows) if row.fits and keeps(row, floors)]
    able = kept or [index for index, row in enumerate(rows) if row.fits] or list(range(len(rows)))
    on = pareto([(cost_key(rows[index].totals), measure(rows[index])) for index in able])
    return frozenset(index for index, best in zip(able, on, strict=True) if best)


def limits_in_words(floors: Mapping[str, float]) -> str:
    """The reader's limits: "no rule lost, cost at most 3"."""
    plain = {n.removeprefix("max_").replace("_gone", " lost").replace("_", " "): m for n, m in floors.items()}
    none = ("rules lost", 0.0)
    return ", ".join("no rule lost" if one == none else "{} at most {:,.10g}".format(*one) for one in plain.items())
