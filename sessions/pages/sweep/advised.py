"""What a sweep advises, and which rows the chart's line joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sessions.engine.sweeps.across import recommend_across
from sessions.engine.sweeps.advice import UNKNOWN, Advice, advise, is_recorded
from sessions.engine.sweeps.floors import keeps
from sessions.engine.sweeps.sweep import cost_key, pareto
from sessions.pages.sweep import rows as sweep_rows

if TYPE_CHECKING:
    from sessions.engine.sweeps.across import Validation
    from sessions.engine.sweeps.sweep import Row, Setting, Sweep
    from sessions.runs.sweeps import SweepResult


def advised(swept: SweepResult, floors: Mapping[str, float]) -> tuple[Advice, Setting | None, Validation | None]:
    """The advice of a sweep and the setting that it recommends; of several sessions the one for all, and its trial."""
    if not swept.complete:
        return Advice(UNKNOWN, f"{swept.n_done:,} of {swept.n_total:,} replays are done."), None, None
    if len(swept.sweeps) == 1:
        found = advise(swept.sweeps[0], floors)
        return found, found.recommended.row.setting if found.recommended else None, None
    across = recommend_across(swept.sweeps, floors)
    if across is None:
        return Advice(UNKNOWN, "No setting may be advised on all sessions."), None, None
    said = across.reason[0].upper() + across.reason[1:]
    return Advice(UNKNOWN, f"{said}."), across.setting, across


def shown_row(whole: Sweep, setting: Setting | None, found: Advice) -> int:
    """The row that is looked at first: the recommended, else another advised, else where the session compacts."""
    places = {row.setting: index for index, row in enumerate(whole.rows)}
    if setting is not None:
        return places[setting]
    other = next((pick.row.setting for pick in found.picks if not pick.as_recorded), None)
    if other is not None:
        return places[other]
    own = (index for index, row in enumerate(whole.rows) if is_recorded(row, whole))
    return next(own, min(range(len(whole.rows)), key=lambda index: sweep_rows.measure_of("cost")(whole.rows[index])))


def unbeaten(rows: Sequence[Row], against: str, floors: Mapping[str, float]) -> frozenset[int]:
    """Rows that no other beats on the two axes of the chart: cost and ``against``.

    Only rows within the limits; where none is, those that fit into the window; else all.
    """
    measure = sweep_rows.measure_of(against)
    kept = [index for index, row in enumerate(rows) if row.fits and keeps(row, floors)]
    able = kept or [index for index, row in enumerate(rows) if row.fits] or list(range(len(rows)))
    on = pareto([(cost_key(rows[index].totals), measure(rows[index])) for index in able])
    return frozenset(index for index, best in zip(able, on, strict=True) if best)
