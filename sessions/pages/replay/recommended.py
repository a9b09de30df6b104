"""The threshold that Compare recommends, as a mark on the replay's slider."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict
from django.urls import reverse

from sessions.engine.sweeps.advice import advise
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session
from sessions.pages.sweep import state as sweepstate
from sessions.pages.ui.addresses import session_urls
from sessions.pages.ui.compact_at import compact_at, place_of
from sessions.runs import replay_state, sweeps
from sessions.runs.ranges import gate_of


@dataclass(frozen=True, slots=True)
class Recommended:
    """``threshold`` is in the trigger's own unit, at ``place`` percent of the track; ``href`` is its replay.

    None where the answer is no setting; ``says`` is that answer and ``href`` the comparison.
    """

    threshold: int | None
    place: float
    href: str
    says: str
    reason: str


def recommended(session: Session, weighed: Weighed, state: replay_state.ReplayState) -> Recommended | None:
    """What Compare recommends for the policy and the other settings of ``state``.

    None where no parameter moves the trigger, and where the sweep takes longer than a page may wait.
    """
    at = compact_at(weighed, state)
    name = at.param
    if not name:
        return None
    asked = sweepstate.completed(sweepstate.parse(QueryDict(at.along), weighed), weighed)
    if not asked.overs or asked.overs[0].key != name:
        return None
    swept = sweeps.swept(sweepstate.options_of(asked, [session]), [session])
    if not swept.complete:
        return None
    found = advise(swept.sweeps[0], dict(asked.floors))
    if found.recommended is None:
        compare = f"{reverse('sessions:sweep', args=[session.pk])}?{sweepstate.query(asked)}"
        return Recommended(None, 0.0, compare, found.sentence.rstrip("."), "")
    best = found.recommended
    gate = gate_of(weighed, state, {name: best.row.values[name]})
    if gate is None or not at.low <= gate.threshold <= at.high:
        return None
    others = tuple(pair for pair in state.params if pair[0] != name)
    params = (*others, (name, replay_state.written(best.row.values[name])))
    href = session_urls(session.pk).to_replay(state, params=params, event=None, request=None)
    return Recommended(gate.threshold, place_of(at, gate.threshold), href, best.name.lower(), best.reason)
