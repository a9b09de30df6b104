"""The sweep page's forms, made from the policies' typed parameters."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.base import registry
from sessions.engine.policies import params as parameters
from sessions.engine.replays import initial_params
from sessions.engine.sweeps.sweep import WINDOW, Over
from sessions.engine.weigh.calibration.context_windows import source_words
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.pages.sweep.state import FLOORS, LOSSES, SLOTS, SweepState
from sessions.pages.ui.controls import SUMMARY_WORDS, Option, PolicyGroup, choice_words, policy_groups
from sessions.runs.replay_state import is_changed, written

FLOOR_WORDS = {
    "max_compactions": "Compactions at most", "max_peak": "Peak at most", "max_cost": "Cost at most",
    "max_rules_gone": "Rules lost at most", "max_needs_gone": "Used later, lost at most",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RangeField:
    """One range: the parameter, its ends, its steps; ``hint`` says what the parameter may be."""

    name: str
    title: str
    options: tuple[Option, ...]
    low: str
    high: str
    n: str


@dataclass(frozen=True, slots=True)
class FixedField:
    """A parameter that is not swept."""

    spec: parameters.Spec
    value: str
    options: tuple[Option, ...]
    changed: bool
    error: str


@dataclass(frozen=True, slots=True)
class FloorField:
    """A limit that the recommended setting has to keep."""

    name: str
    label: str
    unit: str
    value: str
    error: str


@dataclass(frozen=True, slots=True)
class SweepForm:
    """Both forms: ranges of one policy, or several policies side by side."""

    policies: tuple[PolicyGroup, ...]
    n_policies: int
    compared: tuple[Option, ...]
    slots: tuple[RangeField, ...]
    shared_slot: RangeField
    fixed: tuple[FixedField, ...]
    n_fixed: int
    floors: tuple[FloorField, ...]
    summarizers: tuple[Option, ...]
    stub: str
    window: str
    window_own: int
    window_says: str


def form_of(state: SweepState, weighed: Weighed) -> SweepForm:
    """The forms for a state."""
    policy = state.replay.plugin
    specs = parameters.specs(policy.params) if state.sessions else initial_params.specs(weighed, policy)
    numbers = [spec for spec in specs if spec.is_number]
    swept = {over.key for over in state.overs}
    name, _, stub = state.replay.summarizer.partition(":")
    groups = policy_groups(policy.name, None if state.sessions else weighed)
    every = registry.plugins("policies").values()
    return SweepForm(
        policies=groups,
        n_policies=len(every),
        compared=tuple(
            Option(p.name, p.label or p.name, state.several and p.name in state.policies, p.help) for p in every
        ),
        slots=tuple(
            _slot(slot, None if state.several or number >= len(state.overs) else state.overs[number], numbers,
                  optional=bool(number), title=title)
            for number, (slot, title) in enumerate(zip(SLOTS, ("Vary", "Second range"), strict=True))
        ),
        shared_slot=_slot(
            SLOTS[0], state.overs[0] if state.several and state.overs else None,
            _common(state) if state.several else [], optional=True, title="Vary",
        ),
        fixed=tuple(_fixed(spec, state) for spec in specs if spec.name not in swept),
        n_fixed=len(state.replay.params),
        floors=tuple(_floor(name, state) for name in FLOORS if state.losses or name.removeprefix("max_") not in LOSSES),
        summarizers=tuple(
            Option(s, SUMMARY_WORDS.get(s, s), s == name) for s in ("recorded", "stub", "extractive")
        ),
        stub=stub or "4000",
        window="" if state.replay.window is None else f"{state.replay.window:,}",
        window_own=weighed.window,
        window_says=_window_says(state, weighed),
    )  # fmt: skip


def _window_says(state: SweepState, weighed: Weighed) -> str:
    """What a window typed by hand stands in place of; "" without one."""
    if state.replay.window is None:
        return ""
    if state.sessions:
        return "Typed, for each session in place of its own"
    own = f"{weighed.window:,} tokens, {source_words(weighed.transcript, weighed.window_source)}"
    return f"Typed. Empty: the session's own, {own}"


def _common(state: SweepState) -> list[parameters.Spec]:
    """Numbers that all compared policies have."""
    found = [
        {spec.name for spec in parameters.specs(registry.get("policies", name).params) if spec.is_number}
        for name in state.policies
    ]
    shared = set.intersection(*found) if found else set()
    return [spec for spec in parameters.specs(state.replay.plugin.params) if spec.name in shared]


def _slot(slot: str, over: Over | None, numbers: list[parameters.Spec], *, optional: bool, title: str) -> RangeField:
    options = [Option("", "nothing", over is None)] if optional else []
    for spec in numbers:
        unit = f", {spec.unit}" if spec.unit else ""
        current = over is not None and spec.name == over.key
        options.append(Option(spec.name, f"{spec.label}{unit}", current))
    options.append(Option(WINDOW, "Context window, tokens", over is not None and over.key == WINDOW))
    if over is None:
        return RangeField(slot, title, tuple(options), "", "", "")
    return RangeField(slot, title, tuple(options), f"{over.low:,.10g}", f"{over.high:,.10g}", str(over.n))


def _fixed(spec: parameters.Spec, state: SweepState) -> FixedField:
    value = dict(state.replay.params).get(spec.name, written(spec.default))
    options = tuple(Option(choice, choice_words(choice), choice == value) for choice in spec.choices)
    return FixedField(
        spec, value, options, is_changed(spec, state.replay), state.errors.get(f"p.{spec.name}", "")
    )  # fmt: skip


def _floor(name: str, state: SweepState) -> FloorField:
    value = dict(state.floors).get(name)
    unit = {"max_cost": "$", "max_peak": "tokens"}.get(name, "")
    return FloorField(
        name, FLOOR_WORDS[name], unit, "" if value is None else f"{value:,.10g}", state.errors.get(name, "")
    )
