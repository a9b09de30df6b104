"""Which row of a sweep is recommended, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.sweeps.recommend import recommend, recommend_across
from sessions.pages.sweep import rows as sweep_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.engine.sweeps.recommend import Neighbour
    from sessions.engine.sweeps.sweep import Sweep
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
