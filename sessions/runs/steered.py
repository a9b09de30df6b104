"""A replay moved to another threshold: the parameter's value at which its trigger fires there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import QueryDict

from sessions.engine.policies.params import specs
from sessions.runs import replay_state
from sessions.runs.ranges import threshold_param, threshold_table

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed
    from sessions.runs.replay_state import ReplayState


def moved(weighed: Weighed, state: ReplayState, threshold: int) -> ReplayState:
    """The state with its trigger at ``threshold`` (in the trigger's own unit), or as near as its parameter allows.

    Between two known places of the threshold the parameter lies between theirs.  Where nothing moves it, the state
    itself.
    """
    name, table = threshold_param(weighed, state), threshold_table(weighed, state)
    spec = next((spec for spec in specs(state.plugin.params) if spec.name == name), None)
    if spec is None or not table:
        return state
    value = _value_at(sorted(table, key=lambda row: row[1]), threshold, spec.step or 1)
    query = QueryDict(replay_state.query(state)).dict()
    query[f"p.{name}"] = replay_state.written(int(value) if value == int(value) else value)
    found = replay_state.parse(query, weighed)
    return state if found.errors else found


def _value_at(rows: list[tuple[float, int]], wanted: int, step: float) -> float:
    """The parameter whose threshold is the wanted one, in whole steps; rows by threshold."""
    above = next((at for at, row in enumerate(rows) if row[1] >= wanted), len(rows))
    if above == 0:
        return rows[0][0]
    if above == len(rows):
        return rows[-1][0]
    low, high = rows[above - 1], rows[above]
    value = low[0] + (wanted - low[1]) / (high[1] - low[1]) * (high[0] - low[0])
    return round(round(value / step) * step, 9)
