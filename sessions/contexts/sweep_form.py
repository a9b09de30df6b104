"""The sweep page's forms, made from the policies' typed parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.contexts.controls import Option
from sessions.contexts.sweeps import range_of
from sessions.engine import params as parameters
from sessions.engine import registry
from sessions.engine.sweep import WINDOW, Over
from sessions.urlstate.replay import is_changed, written
from sessions.urlstate.sweep import FLOORS, LOSSES, SLOTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.engine.calibrate import Weighed
    from sessions.engine.params import Spec
    from sessions.urlstate.sweep import SweepState

FLOOR_WORDS = {
    "max_compactions": "Compactions at most", "max_peak": "Peak at most", "max_cost": "Cost at most",
    "max_rules_gone": "Rules gone at most", "max_needs_gone": "Used later, gone at most",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Slot:
    """One range: the parameter, its ends, its steps; ``hint`` says what the parameter may be."""

    name: str
    title: str
    options: tuple[Option, ...]
    low: str
    high: str
    n: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A parameter that is not swept."""

    key: str
    label: str
    unit: str
    value: str
    bounds: str
    options: tuple[Option, ...]
    changed: bool
    error: str


@dataclass(frozen=True, slots=True)
class Floor:
    """A limit that the recommended setting has to keep."""

    name: str
    label: str
    unit: str
    value: str
    error: str


@dataclass(frozen=True, slots=True)
class SweepForm:
    """Both forms: ranges of one policy, or several policies side by side."""

    policy: str
    policy_help: str
    policies: tuple[Option, ...]
    compared: tuple[Option, ...]
    slots: tuple[Slot, ...]
    shared_slot: Slot
    fixed: tuple[Fixed, ...]
    n_fixed: int
    floors: tuple[Floor, ...]
    summarizers: tuple[Option, ...]
    stub: str
    window: str
    window_own: int
    losses: bool
    several: bool
    sessions: tuple[str, ...]
    errors: Mapping[str, str]


def form_of(state: SweepState, weighed: Weighed) -> SweepForm:
    """The forms for a state."""
    policy = state.replay.plugin
    window = state.replay.window or weighed.window
    numbers = [spec for spec in parameters.specs(policy.params) if spec.is_number]
    swept = {over.key for over in state.overs}
    name, _, stub = state.replay.summarizer.partition(":")
    every = registry.plugins("policies").values()
    return SweepForm(
        policy=policy.name,
        policy_help=policy.help,
        policies=tuple(Option(p.name, p.name, p.name == policy.name, p.label) for p in every),
        compared=tuple(Option(p.name, p.name, state.several and p.name in state.policies, p.label) for p in every),
        slots=tuple(_slot(slot, number, state, numbers, window) for number, slot in enumerate(SLOTS)),
        shared_slot=_slot(SLOTS[0], 0, state, _common(state) if state.several else [], window),
        fixed=tuple(_fixed(spec, state) for spec in parameters.specs(policy.params) if spec.name not in swept),
        n_fixed=len(state.replay.params),
        floors=tuple(_floor(name, state) for name in FLOORS if state.losses or name.removeprefix("max_") not in LOSSES),
        summarizers=tuple(
            Option(s, s, s == name) for s in ("recorded", "stub", "extractive")
        ),
        stub=stub or "4000",
        window="" if state.replay.window is None else f"{state.replay.window:,}",
        window_own=weighed.window,
        losses=state.losses,
        several=state.several,
        sessions=state.sessions,
        errors=state.errors,
    )  # fmt: skip


def _common(state: SweepState) -> list[Spec]:
    """Numbers that all compared policies have."""
    found = [
        {spec.name for spec in parameters.specs(registry.get("policies", name).params) if spec.is_number}
        for name in state.policies
    ]
    shared = set.intersection(*found) if found else set()
    return [spec for spec in parameters.specs(state.replay.plugin.params) if spec.name in shared]


def _slot(slot: str, number: int, state: SweepState, numbers: list[Spec], window: int) -> Slot:
    over = state.overs[number] if number < len(state.overs) else None
    wished = over or (range_of(numbers[-1], window) if numbers and number else Over("", 0, 0, 7))
    options = [Option("", "nothing", over is None)] if number or state.several else []
    options += [
        Option(
            s.name,
            f"{s.name} ({s.label.lower()}{', ' + s.unit if s.unit else ''})",
            over is not None and s.name == over.key,
        )
        for s in numbers
    ]
    options.append(Option(WINDOW, "window (tokens)", over is not None and over.key == WINDOW))
    ends = ("", "") if over is None else (f"{wished.low:,.10g}", f"{wished.high:,.10g}")
    title = ("Along", "And along")[number]
    return Slot(slot, title, tuple(options), *ends, "" if over is None else str(over.n))


def _fixed(spec: Spec, state: SweepState) -> Fixed:
    value = dict(state.replay.params).get(spec.name, written(spec.default))
    options = tuple(Option(choice, choice, choice == value) for choice in spec.choices)
    return Fixed(
        f"p.{spec.name}", spec.label, spec.unit, value, spec.bounds, options, is_changed(spec, state.replay),
        state.errors.get(f"p.{spec.name}", ""),
    )  # fmt: skip


def _floor(name: str, state: SweepState) -> Floor:
    value = dict(state.floors).get(name)
    unit = {"max_cost": "$", "max_peak": "tokens"}.get(name, "")
    return Floor(name, FLOOR_WORDS[name], unit, "" if value is None else f"{value:,.10g}", state.errors.get(name, ""))
