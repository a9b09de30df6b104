"""The one slider of a replay: at what the policy compacts, in the trigger's own unit, whatever parameter moves it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

from sessions.engine.policies.params import specs
from sessions.engine.replays import initial_params
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.pages.ui import figures
from sessions.runs import replay_state
from sessions.runs.ranges import gate_of, threshold_param, threshold_table

STEPS = 200
ROOM = 4
"""How far beyond its threshold the slider of a trigger goes that does not count tokens."""
EDGE = 2.2
"""Half of the thumb, in percent of the track."""


@dataclass(frozen=True, slots=True)
class CompactAt:
    """``param`` is the parameter that the slider writes, "" where none moves the trigger.

    ``table`` has its values and their thresholds as JSON, ``value_step`` is its own step; ``along`` is the address of
    all other settings, which range, mark and table depend on.  ``mark`` is the threshold that the session started
    from (``mark_words`` says whose), at ``mark_place`` percent of the track; ``share`` is the threshold in percent of
    the window, "" unless it counts tokens.
    """

    param: str
    threshold: int | None
    unit: str
    share: str
    low: int
    high: int
    step: int
    mark: int | None
    mark_words: str
    mark_place: float
    table: str = "[]"
    value_step: float = 1
    along: str = ""


NOWHERE = CompactAt("", None, "", "", 0, 0, 1, None, "", 0.0)


def along(weighed: Weighed, state: replay_state.ReplayState) -> str:
    """The address of a state without what is looked at and without its threshold: what the slider moves along."""
    return replay_state.query(_without(state, threshold_param(weighed, state)))


def _without(state: replay_state.ReplayState, name: str) -> replay_state.ReplayState:
    params = tuple(pair for pair in state.params if pair[0] != name)
    return replace(replay_state.only_replayed(state), params=params, errors={})


def compact_at(weighed: Weighed, state: replay_state.ReplayState) -> CompactAt:
    """The slider of a state."""
    gate = gate_of(weighed, state, {})
    name = threshold_param(weighed, state)
    if gate is None or state.policy == "none":
        return NOWHERE
    window = state.window or weighed.window
    in_tokens = gate.unit == "tokens"
    share = figures.percent(gate.threshold, window) if in_tokens else ""
    table = threshold_table(weighed, state) if name else []
    if not table:
        return replace(NOWHERE, threshold=gate.threshold, unit=gate.unit, share=share)
    rest = _without(state, name)
    start = gate_of(weighed, rest, {})
    mark = start.threshold if start is not None and start.threshold > 0 else None
    known = max(gate.threshold, mark or 0)
    high = min(max(at for _, at in table), max(window, known) if in_tokens else ROOM * known)
    low = min(*(at for _, at in table), gate.threshold)
    step = _round_step((high - low) / STEPS)
    client = initial_params.starting(weighed, state.policy)
    made = CompactAt(
        name, gate.threshold, gate.unit, share, low - low % step, high, step, mark,
        "As recorded" if client.words else "Default", 0.0, json.dumps(table, separators=(",", ":")),
        next(spec.step or 1 for spec in specs(state.plugin.params) if spec.name == name), replay_state.query(rest),
    )  # fmt: skip
    return replace(made, mark_place=place_of(made, mark or 0))


def place_of(at: CompactAt, threshold: int) -> float:
    """Where a threshold stands on the track, in percent."""
    return round(EDGE + (100 - 2 * EDGE) * (min(threshold, at.high) - at.low) / max(at.high - at.low, 1), 2)


def _round_step(rough: float) -> int:
    """The nearest 1, 2 or 5 times a power of ten, 1 at least."""
    if rough <= 1:
        return 1
    power = 10 ** math.floor(math.log10(rough))
    return int(min((1, 2, 5, 10), key=lambda unit: abs(unit * power - rough)) * power)
