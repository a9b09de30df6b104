"""The sweep page's forms, made from the policies' typed parameters."""

from __future__ import annotations

from sessions.engine.base import registry
from sessions.engine.policies import params as parameters
from sessions.engine.replays import initial_params
from sessions.engine.sweeps.sweep import WINDOW, Over
from sessions.engine.weigh.calibration.context_windows import source_words
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.pages.sweep.state import FLOORS, LOSSES, SLOTS, SweepState
from sessions.pages.ui.controls import SUMMARY_WORDS, Option, choice_words, policy_groups
from sessions.runs.replay_state import is_changed, written

FLOOR_WORDS = {
    "max_compactions": "Compactions at most", "max_peak": "Peak at most", "max_cost": "Cost at most",
    "max_rules_gone": "Rules lost at most", "max_needs_gone": "Used later, lost at most",
}  # fmt: skip


class RangeField:
    """One range: the parameter, its ends, its steps."""

    def __init__(
        self, name: str, over: Over | None, numbers: list[parameters.Spec], *, optional: bool, title: str
    ) -> None:
        key = over.key if over else None
        self.name, self.title = name, title
        self.options = [Option("", "nothing", over is None)] if optional else []
        for spec in numbers:
            unit = f", {spec.unit}" if spec.unit else ""
            self.options.append(Option(spec.name, f"{spec.label}{unit}", spec.name == key))
        self.options.append(Option(WINDOW, "Context window, tokens", key == WINDOW))
        self.low, self.high = (f"{over.low:,.10g}", f"{over.high:,.10g}") if over else ("", "")
        self.n = str(over.n) if over else ""


class FixedField:
    """A parameter that is not swept."""

    def __init__(self, spec: parameters.Spec, state: SweepState) -> None:
        self.spec, self.value = spec, dict(state.replay.params).get(spec.name, written(spec.default))
        self.options = [Option(choice, choice_words(choice), choice == self.value) for choice in spec.choices]
        self.changed, self.error = is_changed(spec, state.replay), state.errors.get(f"p.{spec.name}", "")


class FloorField:
    """A limit that the recommended setting has to keep."""

    def __init__(self, name: str, state: SweepState) -> None:
        self.name, self.label, self.error = name, FLOOR_WORDS[name], state.errors.get(name, "")
        self.unit = {"max_cost": "$", "max_peak": "tokens"}.get(name, "")
        value = dict(state.floors).get(name)
        self.value = "" if value is None else f"{value:,.10g}"


class SweepForm:
    """Both forms: ranges of one policy, or several policies side by side."""

    def __init__(self, state: SweepState, weighed: Weighed) -> None:
        policy, params, overs = state.replay.plugin, state.replay.params, state.overs
        specs = parameters.specs(policy.params) if state.sessions else initial_params.specs(weighed, policy)
        numbers = [spec for spec in specs if spec.is_number]
        swept = {over.key for over in overs}
        name, _, stub = state.replay.summarizer.partition(":")
        every = registry.plugins("policies").values()
        self.policies = policy_groups(policy.name, None if state.sessions else weighed)
        self.n_policies = len(every)
        self.compared = [
            Option(p.name, p.label or p.name, state.several and p.name in state.policies, p.help) for p in every
        ]
        self.slots = [
            RangeField(slot, None if state.several or number >= len(overs) else overs[number], numbers,
                  optional=bool(number), title=title)
            for number, (slot, title) in enumerate(zip(SLOTS, ("Vary", "Second range"), strict=True))
        ]  # fmt: skip
        shared = overs[0] if state.several and overs else None
        common = _common(state) if state.several else []
        self.shared_slot = RangeField(SLOTS[0], shared, common, optional=True, title="Vary")
        self.fixed = [FixedField(spec, state) for spec in specs if spec.name not in swept]
        self.n_fixed = len(params)
        floors = (name for name in FLOORS if state.losses or name.removeprefix("max_") not in LOSSES)
        self.floors = [FloorField(name, state) for name in floors]
        known = ("recorded", "stub", "extractive")
        self.summarizers = [Option(one, SUMMARY_WORDS.get(one, one), one == name) for one in known]
        self.stub = stub or "4000"
        self.window = "" if state.replay.window is None else f"{state.replay.window:,}"
        self.window_own = weighed.window
        self.window_says = _window_says(state, weighed)


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
