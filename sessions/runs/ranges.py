"""The parameter that moves a policy's threshold on a session, and the range of it that is worth sweeping."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from sessions.engine.policies import params as parameters
from sessions.engine.policies.policy import Gate
from sessions.engine.replays import initial_params
from sessions.engine.reports.configuration import setting_of
from sessions.engine.sweeps.sweep import WINDOW, Over
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.runs.replay_state import ReplayState

NONE = frozenset({None, "none"})
"""Values of a parameter that is off."""
SAMPLES = 100


def threshold_param(weighed: Weighed, state: ReplayState) -> str:
    """The parameter that moves the threshold: the policy's own word, else the first number of its gate that does.

    Where its own word is switched off, a number that is given comes before the others.
    """
    policy, given = state.plugin, state.given
    numbers = [spec for spec in parameters.specs(policy.params) if spec.is_number and spec.group == "when"]

    def rank(spec: parameters.Spec) -> tuple[bool, bool, bool]:
        is_off = spec.default is not None and given.get(spec.name, spec.default) in NONE
        return is_off, spec.name != policy.threshold_param, given.get(spec.name) in NONE

    for spec in sorted(numbers, key=rank):
        ends = [threshold_of(weighed, state, {spec.name: end}) for end in (spec.low, spec.high) if end is not None]
        if len(ends) == 2 and None not in ends and ends[0] != ends[1]:
            return spec.name
    return ""


def reaching(spec: parameters.Spec, weighed: Weighed, state: ReplayState) -> parameters.Spec:
    """The parameter as far as the session or its window goes: its messages, or the tokens that the window holds."""
    if not spec.is_number or spec.high is None:
        return spec
    unit = spec.unit
    if unit.startswith("messages,"):
        unit = str(state.given.get("keep_unit", "messages"))
    n = state.window or weighed.window if unit == "tokens" else len(weighed.transcript.messages)
    known = [float(str(value)) for value in (spec.default, state.given.get(spec.name)) if value not in NONE]
    if unit not in {"messages", "turns", "replies", "tokens"} or n >= spec.high:
        return spec
    low, step = spec.low or 0, spec.step or 1
    steps = math.ceil((max(n, low, *known) - low) / step)
    return dataclasses.replace(spec, high=min(spec.high, low + steps * step))


def threshold_table(weighed: Weighed, state: ReplayState) -> list[tuple[float, int]]:
    """(parameter, threshold) along the slider, capped and rounded by the gate itself; empty where nothing moves it."""
    name = threshold_param(weighed, state)
    spec = next((s for s in parameters.specs(state.plugin.params) if s.name == name), None)
    spec = spec and reaching(spec, weighed, state)
    if spec is None or spec.low is None or spec.high is None:
        return []
    table: list[tuple[float, int]] = []
    step = spec.step or 1
    n_steps = int((spec.high - spec.low) / step)
    for k in range(min(n_steps, SAMPLES) + 1):
        value = spec.low + step * round(k * n_steps / min(n_steps, SAMPLES))
        threshold = threshold_of(weighed, state, {name: value})
        if threshold is not None:
            table.append((value, threshold))
    return table


def threshold_of(weighed: Weighed, state: ReplayState, changes: Mapping[str, object]) -> int | None:
    """What the gate compares with under changed parameters, None where it cannot be asked."""
    gate = gate_of(weighed, state, changes)
    return None if gate is None else int(gate.threshold)


def gate_of(weighed: Weighed, state: ReplayState, changes: Mapping[str, object]) -> Gate | None:
    """The gate's answer to an empty list under changed parameters, None where it cannot be asked."""
    policy = state.plugin
    try:
        built = initial_params.built(weighed, policy, {**state.given, **changes})
        return policy.asked(built, state.window or weighed.window, weighed.model, overhead=weighed.overhead)
    except (ValueError, ArithmeticError, LookupError, TypeError):
        return None


STEPS = 13


LOWEST = 0.3
"""Thresholds below this share of what the session reaches are not swept unless asked for."""


ABOVE_OVERHEAD = 1.5
"""Nor are those so near to system prompt and tools that compacting could free little."""


def usual_over(replay: ReplayState, weighed: Weighed) -> Over:
    """Along the policy's threshold where this session's context reaches it, else a usual range of the parameter."""
    name = threshold_param(weighed, replay)
    found = {spec.name: spec for spec in parameters.specs(replay.plugin.params)}
    window = replay.window or weighed.window
    if name not in found:
        return Over(WINDOW, _thousands(window * 0.4), float(window), STEPS)
    reached = min(window, weighed.overhead + weighed.total_tokens)
    counts = setting_of(replay.policy, replay.given, window=replay.window, weighed=weighed).trigger is not None
    least = max(LOWEST * reached, ABOVE_OVERHEAD * weighed.overhead)
    ends = _ends(weighed, replay, found[name], (least, reached)) if counts else ()
    return _rounded(Over(name, ends[0], ends[1], STEPS)) if ends else range_of(found[name], window)


def _ends(
    weighed: Weighed, replay: ReplayState, spec: parameters.Spec, wished: tuple[float, float]
) -> tuple[float, ...]:
    """The parameter's values at thresholds from and to, exact where it is the threshold itself; () for none there."""
    low, high = (min(max(at, spec.low or 0), spec.high or at) for at in wished)
    exact = spec.unit == "tokens" and low < high
    if exact and all(threshold_of(weighed, replay, {spec.name: int(at)}) == int(at) for at in (low, (low + high) / 2)):
        return max(_thousands(low), low), min(_thousands(high), high)
    values = sorted({value for value, at in threshold_table(weighed, replay) if wished[0] <= at <= wished[1]})
    if len(values) < 2:
        return ()
    low, high = values[0], values[-1]
    return (_thousands(low), _thousands(high)) if spec.unit == "tokens" else (float(low), float(high))


def _rounded(over: Over) -> Over:
    """The same range in round steps, about as many; as it is where no round step fits it."""
    wide = over.high - over.low
    if wide <= 0:
        return over
    power = 10.0 ** math.floor(math.log10(wide / STEPS))
    found = []
    for step in (power * factor for factor in (1, 2, 2.5, 5, 10)):
        first, last = math.ceil(over.low / step - 1e-9), math.floor(over.high / step + 1e-9)
        if last > first:
            n = last - first + 1
            found.append((abs(n - STEPS), Over(over.key, round(first * step, 9), round(last * step, 9), n)))
    return min(found, key=lambda pair: pair[0])[1] if found else over


def range_of(spec: parameters.Spec, window: int) -> Over:
    """The usual range of a parameter, within its bounds."""
    low, high = spec.low if spec.low is not None else 0.0, spec.high if spec.high is not None else float(window)
    if spec.unit == "%":
        wished = (30.0, 90.0)
    elif spec.unit == "of the window":
        wished = (0.3, 0.9)
    elif spec.unit == "tokens" and high > window / 2:
        wished = (_thousands(window * 0.3), _thousands(window * 0.9))
    elif isinstance(spec.default, int | float) and spec.default > 0:
        wished = (spec.default / 2, spec.default * 2.0)
    else:
        wished = (low, high)
    start, end = max(low, min(wished[0], high)), min(high, max(wished[1], low))
    if spec.is_whole:
        start, end = float(int(start)), float(int(end))
    return Over(spec.name, float(start), float(end), STEPS)


def _thousands(value: float) -> float:
    return float(round(value / 1_000) * 1_000) if value >= 10_000 else float(round(value))
