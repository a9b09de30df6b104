"""The form of a replay, made from a policy's typed parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.base import registry
from sessions.engine.base.words import united
from sessions.engine.policies import params as parameters
from sessions.engine.replays import initial_params
from sessions.pages.ui.chart import thousands
from sessions.pages.ui.picker import PolicyGroup, policy_groups
from sessions.runs import replay_state as urlstate
from sessions.runs.ranges import threshold_param

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.policies.params import Spec
    from sessions.engine.policies.policy import Policy
    from sessions.engine.weigh.calibration.weighed import Weighed
    from sessions.runs.replay_state import ReplayState

WINDOWS = (128_000, 200_000, 400_000, 1_000_000)
"""Windows of current models, in tokens."""
GROUPS = (("when", "When it checks"), ("how", "What is kept"), ("summary", "Summary"))
KEEPS = re.compile(r"last|recent|tail|newest", re.I), re.compile(r"keep|kept|preserve", re.I)
"""Names of the parameter that says how much stays: at the end of the list, else at all."""
BUILT_IN = 2
"""Settings behind "More settings" that are no policy's parameter: the history, and summary calls that fail."""
SUMMARY_WORDS = {"anthropic": "by a model", "stub": "placeholder"}
"""What summarizers are called whose names say little."""
SLIDER = {"low": 0.0, "high": 1_000_000.0}


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a select or of a segmented control."""

    value: str
    words: str
    current: bool
    title: str = ""


@dataclass(frozen=True, slots=True)
class Control:
    """One parameter as form fields.

    ``value`` is as written ("none" where off), ``slider`` its place on the track; ``tick`` is the place of the
    policy's default in percent of the track, None where the default is off; ``derived`` is filled by the results.
    ``default_name`` says whose the default is: the policy's, or that of the client that recorded the session.
    """

    name: str
    id: str
    key: str
    label: str
    help: str
    unit: str
    value: str
    default: str
    changed: bool
    optional: bool
    options: tuple[Option, ...] = ()
    words: bool = False
    low: float = 0
    high: float = 0
    step: float = 1
    slider: float = 0
    tick: float | None = None
    off: bool = False
    threshold: bool = False
    error: str = ""
    reset_href: str = ""
    default_words: str = ""
    default_name: str = "default"

    @property
    def is_number(self) -> bool:
        """Whether it is a slider."""
        return not self.options and not self.words


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """Settings that wait behind "More settings", under a name."""

    name: str
    title: str
    controls: tuple[Control, ...]


@dataclass(frozen=True, slots=True)
class Controls:
    """The whole form.

    ``threshold`` and ``keep`` are settings always in sight, ``changed`` those
    that differ from where they start, ``more`` all others by group.  ``as_recorded`` is the threshold of the client
    that recorded the session, in words; ``plain_href`` leads to the policy's own defaults where that client had other
    settings; both "" elsewhere.
    """

    prefix: str
    side: str
    policy: str
    policy_label: str
    policy_help: str
    policy_source: str
    caveats: tuple[str, ...]
    as_recorded: str
    plain_href: str
    policies: tuple[PolicyGroup, ...]
    n_policies: int
    threshold: Control | None
    keep: Control | None
    changed: tuple[Control, ...]
    more: tuple[ControlGroup, ...]
    more_open: bool
    bases: tuple[Option, ...]
    estimators: tuple[Option, ...]
    summarizers: tuple[Option, ...]
    stub: int
    stub_on: bool
    window: int
    window_own: int
    window_changed: bool
    window_high: int
    window_tick: float
    windows: tuple[Option, ...]
    fails: tuple[Option, ...]
    fail_n: int
    reset_href: str
    errors: Mapping[str, str]
    n_changed: int

    @property
    def n_more(self) -> int:
        """How many settings wait behind the fold."""
        return sum(len(group.controls) for group in self.more) + BUILT_IN


def controls(weighed: Weighed, state: ReplayState, path: str = "", prefix: str = "") -> Controls:
    """The form for a state.

    ``path`` is the page that its links lead to, "" where they need a script; ``prefix`` begins the fields' names.
    """
    policy = state.plugin
    client = initial_params.starting(weighed, policy.name)
    made = _made(weighed, state, path, prefix)
    own = weighed.window
    window = state.window or own
    high = max(1_000_000, own, window)
    name, _, stub = state.summarizer.partition(":")
    threshold, keep, changed, more = _arranged(made)
    policies = policy_groups(policy.name, weighed)
    return Controls(
        prefix=prefix,
        side=prefix.replace(".", "-"),
        policy=policy.name,
        policy_label=policy.label,
        policy_help=policy.help,
        policy_source=policy.source,
        caveats=tuple(getattr(policy, "caveats", ())),
        as_recorded=initial_params.as_recorded(weighed, policy, state.window or weighed.window),
        plain_href=_reset(state, path, params=_defaults(policy, client.params)) if client.params else "",
        policies=policies,
        n_policies=sum(len(group.policies) for group in policies),
        threshold=threshold,
        keep=keep,
        changed=changed,
        more=more,
        more_open=bool(state.fail) or state.base != "full",
        bases=(
            Option("full", "as if never compacted", state.base == "full", "every original message stays"),
            Option("recorded", "as recorded", state.base == "recorded", "asks the trigger along the recorded context"),
        ),
        estimators=_estimators(policy, state),
        summarizers=tuple(
            Option(s.name, SUMMARY_WORDS.get(s.name, s.name), s.name == name, s.label)
            for s in registry.plugins("summarizers").values()
        ),
        stub=int(stub) if stub.isdigit() else urlstate.DEFAULT_STUB,
        stub_on=name == "stub",
        window=window,
        window_own=own,
        window_changed=state.window not in (None, own),
        window_high=high,
        window_tick=round(100 * (own - urlstate.LEAST_WINDOW) / (high - urlstate.LEAST_WINDOW), 2),
        windows=_windows(own, state, path),
        fails=_fails(state),
        fail_n=int(state.fail.partition(":")[2] or 2),
        reset_href=_reset(state, path, params=(), window=None, estimator="", fail=""),
        errors=state.errors,
        n_changed=sum(control.changed for _, control in made),
    )


def _made(weighed: Weighed, state: ReplayState, path: str, prefix: str) -> list[tuple[str, Control]]:
    """Every parameter's control, with the group it belongs to."""
    policy, given = state.plugin, dict(state.params)
    client, steered = initial_params.starting(weighed, policy.name), threshold_param(weighed, state)
    return [
        (
            spec.group,
            _control(spec, given, state, path=path, prefix=prefix, threshold=spec.name == steered,
                     as_recorded=spec.name in client.params),
        )
        for spec in initial_params.specs(weighed, policy)
    ]  # fmt: skip


def _arranged(
    made: Sequence[tuple[str, Control]],
) -> tuple[Control | None, Control | None, tuple[Control, ...], tuple[ControlGroup, ...]]:
    """The controls by where they stand: the threshold's, what is kept, those that differ, the rest by group."""
    threshold = next((control for _, control in made if control.threshold), None)
    keep = _keep([control for group, control in made if group == "how" and control.is_number])
    first = [control for control in (threshold, keep) if control is not None]
    changed = tuple(c for _, c in made if (c.changed or c.error) and c not in first)
    more = tuple(
        ControlGroup(key, title, tuple(c for group, c in made if group == key and c not in {*first, *changed}))
        for key, title in GROUPS
    )
    return threshold, keep, changed, more


def _keep(found: Sequence[Control]) -> Control | None:
    """The setting that says how much stays."""
    return next((c for words in KEEPS for c in found if words.search(f"{c.name} {c.label}") and not c.threshold), None)


def _defaults(policy: Policy, settings: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """The policy's own defaults of the parameters that a client had otherwise, as written."""
    specs = parameters.specs(policy.params)
    return tuple((spec.name, urlstate.written(spec.default)) for spec in specs if spec.name in settings)


def _windows(own: int, state: ReplayState, path: str) -> tuple[Option, ...]:
    """The session's own window and those of current models, each as a link."""
    current = state.window or own
    sizes = sorted({own, *WINDOWS})
    return tuple(
        Option(_reset(state, path, window=None if n == own else n), thousands(n) + (" own" if n == own else ""),
               n == current, f"{n:,}")
        for n in sizes
    )  # fmt: skip


def _fails(state: ReplayState) -> tuple[Option, ...]:
    kind = state.fail.partition(":")[0]
    words = (
        ("", "never", "no summary call fails"), ("always", "always", "every summary call fails"),
        ("every", "every N", "every Nth summary call fails"), ("first", "first N", "the first N summary calls fail"),
    )  # fmt: skip
    return tuple(Option(value, text, value == kind, title) for value, text, title in words)


def _reset(state: ReplayState, path: str, **changes: object) -> str:
    if not path:
        return ""
    query = urlstate.query(state, **{"rows": None, "event": None} | changes)
    return f"{path}?{query}" if query else path


def _estimators(policy: Policy, state: ReplayState) -> tuple[Option, ...]:
    plugins = registry.plugins("estimators")
    own = plugins[policy.estimator].label if policy.estimator in plugins else policy.estimator
    others = (Option(e.name, e.label, e.name == state.estimator) for e in plugins.values())
    return (Option("", f"The policy's own: {own}", not state.estimator), *others)


def _control(
    spec: Spec, given: Mapping[str, str], state: ReplayState, *, path: str, prefix: str, threshold: bool,
    as_recorded: bool,
) -> Control:  # fmt: skip
    default = urlstate.written(spec.default)
    value = given.get(spec.name, default)
    options = tuple(Option(choice, choice, choice == value) for choice in spec.choices)
    low = SLIDER["low"] if spec.low is None else spec.low
    high = SLIDER["high"] if spec.high is None else spec.high
    off = value == "none"
    place = high if off or not spec.is_number else min(max(float(value), low), high)
    return Control(
        name=spec.name,
        id=f"{prefix.replace('.', '-')}{spec.name}",
        key=f"{prefix}p.{spec.name}",
        label=spec.label,
        help=spec.help,
        unit=spec.unit,
        value=value if not spec.is_number or off else united(_grouped(value), "%" if spec.unit == "%" else ""),
        default=default,
        changed=urlstate.is_changed(spec, state),
        optional=spec.optional,
        options=options,
        words=spec.words,
        low=low,
        high=high,
        step=spec.step or 1,
        slider=place,
        tick=None if spec.default is None or not spec.is_number else _place(float(spec.default), low, high),
        off=off,
        threshold=threshold,
        error=state.errors.get(f"p.{spec.name}", ""),
        reset_href=_reset(state, path, params=tuple(pair for pair in state.params if pair[0] != spec.name)),
        default_words=_default_words(spec, default),
        default_name="as recorded" if as_recorded else "default",
    )


def _default_words(spec: Spec, default: str) -> str:
    if not spec.is_number or default == "none":
        return default or "none"
    return united(_grouped(default), spec.unit)


def _grouped(value: str) -> str:
    number = float(value)
    return f"{number:,.0f}" if number.is_integer() else value


def _place(value: float, low: float, high: float) -> float:
    """Percent of the track, the thumb's own width allowed for."""
    share = (value - low) / (high - low) if high > low else 0
    return round(4.5 + 91 * min(max(share, 0), 1), 2)
