"""The threshold that Compare recommends, as a mark on the replay's slider."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.http import QueryDict
from django.urls import reverse

from sessions.engine.sweeps.recommend import recommend
from sessions.pages.sweep import state as sweepstate
from sessions.pages.ui.addresses import session_urls
from sessions.pages.ui.compact_at import compact_at, place_of
from sessions.runs import replay_state, sweeps
from sessions.runs.ranges import gate_of, threshold_param

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.models import Session
    from sessions.runs.replay_state import ReplayState


@dataclass(frozen=True, slots=True)
class Recommended:
    """``threshold`` is in the trigger's own unit, at ``place`` percent of the track; ``href`` is its replay.

    None where every setting loses a rule; ``href`` is then the comparison.
    """

    threshold: int | None
    place: float
    href: str
    says: str
    reason: str


def recommended(session: Session, weighed: Weighed, state: ReplayState) -> Recommended | None:
    """What Compare recommends for the policy and the other settings of ``state``.

    None where no parameter moves the trigger, and where the sweep takes longer than a page may wait.
    """
    name = threshold_param(weighed, state)
    at = compact_at(weighed, state)
    if not name or not at.param:
        return None
    rest = replace(
        state, params=tuple(pair for pair in state.params if pair[0] != name), event=None, request=None, errors={}
    )
    asked = sweepstate.completed(sweepstate.parse(QueryDict(replay_state.query(rest)), weighed), weighed)
    if not asked.overs or asked.overs[0].key != name:
        return None
    swept = sweeps.swept(sweepstate.options_of(asked, [session]), [session])
    if not swept.complete:
        return None
    found = recommend(swept.sweeps[0], {"max_rules_gone": 0.0} if asked.losses else {})
    if found is None:
        compare = f"{reverse('sessions:sweep', args=[session.pk])}?{sweepstate.query(asked)}"
        return Recommended(None, 0.0, compare, "", "") if asked.losses else None
    gate = gate_of(weighed, state, {name: found.row.values[name]})
    if gate is None or not at.low <= gate.threshold <= at.high:
        return None
    there = replace(rest, params=(*rest.params, (name, replay_state.written(found.row.values[name]))))
    says = "cheapest without losing a rule" if asked.losses else "cheapest"
    href = session_urls(session.pk).to_replay(there)
    return Recommended(gate.threshold, place_of(at, gate.threshold), href, says, found.reason)
