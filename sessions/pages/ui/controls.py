"""The form of a replay, made from a policy's typed parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sessions.engine.agents.agent import writer_of
from sessions.engine.base import registry
from sessions.engine.base.words import united
from sessions.engine.policies import params as parameters
from sessions.engine.policies.policy import Policy
from sessions.engine.replays import initial_params
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.pages.ui.addresses import with_query
from sessions.pages.ui.chart import thousands
from sessions.runs import replay_state as urlstate
from sessions.runs.ranges import reaching, threshold_param

WINDOWS = (128_000, 200_000, 400_000, 1_000_000)
"""Windows of current models, in tokens."""
GROUPS = (("when", "When it checks"), ("how", "What is kept"), ("summary", "Summary"), ("", "The replay"))
EDIT = "edit"
"""The parameter that says what happens to old messages, where a policy leaves that open."""
KEPT = "How much is kept"
KEEPS = re.compile(r"last|recent|tail|newest|attached", re.I), re.compile(r"keep|kept|preserve", re.I)
"""Names of the parameter that says how much stays: at the end of the list, else at all."""
SUMMARY_WORDS = {"anthropic": "by a model", "stub": "placeholder"}
"""What summarizers are called whose names say little."""
STARTS: dict[str, object] = {
    name: getattr(urlstate.ReplayState(), name) for name in ("estimator", "summarizer", "base", "fail")
}
"""What a replay starts from besides its policy."""
MOST_BESIDE = 4
SLIDER = {"low": 0.0, "high": 1_000_000.0}


@dataclass(frozen=True, slots=True)
class Control:
    """One parameter as form fields.

    ``value`` is as written ("none" where off), ``slider`` its place on the track; ``tick`` is the place of the
    policy's default in percent of the track, None where the default is off.
    ``default_name`` says whose the default is: the policy's, or that of the client that recorded the session.
    ``also`` is a number that one of the options asks for.
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
    also: Control | None = None

    @property
    def is_seg(self) -> bool:
        """Whether its choices stand beside each other; more of them are a list to open."""
        return 0 < len(self.options) <= MOST_BESIDE

    @property
    def is_number(self) -> bool:
        """Whether it is a slider."""
        return not self.options and not self.words


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """Settings to be searched, under a name."""

    title: str
    controls: tuple[Control, ...]


class Controls:
    """The whole form: ``threshold``, ``edit`` and ``keep`` always in sight, ``more`` all that nobody changed, by group.

    ``path``: where links lead, "" where they need a script; ``prefix`` begins the fields' names.  ``as_recorded`` is
    the threshold of the client that recorded the session, in words; ``plain_href`` leads to the policy's own defaults
    where that client had other settings; both "" elsewhere.
    """

    def __init__(self, weighed: Weighed, state: urlstate.ReplayState, path: str = "", prefix: str = "") -> None:
        self.policy = policy = state.plugin
        own = weighed.window
        self.prefix, self.side = prefix, prefix.replace(".", "-")
        self.as_recorded = initial_params.as_recorded(weighed, policy, state.window or own)
        client = initial_params.starting(weighed, policy.name).params
        own_specs = (spec for spec in parameters.specs(policy.params) if spec.name in client)
        plain = tuple((spec.name, urlstate.written(spec.default)) for spec in own_specs)
        self.plain_href = reset(state, path, params=plain) if client else ""
        self.policies = policy_groups(policy.name, weighed)
        self.n_policies = sum(len(group.policies) for group in self.policies)
        made = _made(weighed, state, path, prefix)
        (self.threshold, self.edit, self.keep), self.changed, self.more = _arranged(made)
        self.n_changed = sum(control.changed for _, control in made)
        self.n_more = sum(len(group.controls) for group in self.more)
        self.window, self.window_own = state.window or own, own
        self.window_changed = state.window not in (None, own)
        self.window_high = high = max(1_000_000, own, self.window)
        self.window_tick = round(100 * (own - urlstate.LEAST_WINDOW) / (high - urlstate.LEAST_WINDOW), 2)
        self.windows = _windows(own, state, path)
        self.reset_href = reset(state, path, params=(), window=None, **STARTS)


def _made(weighed: Weighed, state: urlstate.ReplayState, path: str, prefix: str) -> list[tuple[str, Control]]:
    policy, given = state.plugin, dict(state.params)
    client, steered = initial_params.starting(weighed, policy.name), threshold_param(weighed, state)
    own = [
        (
            spec.group,
            _control(reaching(spec, weighed, state), given, state, path=path, prefix=prefix,
                     threshold=spec.name == steered, as_recorded=spec.name in client.params),
        )
        for spec in initial_params.specs(weighed, policy)
    ]  # fmt: skip
    return [*own, *(("", control) for control in _of_replay(policy, state, path, prefix))]


def _arranged(
    made: Sequence[tuple[str, Control]],
) -> tuple[tuple[Control | None, ...], tuple[Control, ...], tuple[ControlGroup, ...]]:
    """The controls by where they stand: threshold, edit and what is kept, those that differ, the rest by group."""
    threshold = next((control for _, control in made if control.threshold), None)
    edit = next((control for _, control in made if control.name == EDIT), None)
    kept = [control for group, control in made if group == "how" and control.is_number and not control.threshold]
    keep = next((c for words in KEEPS for c in kept if words.search(f"{c.name} {c.label}")), None)
    rest = [(group, control) for group, control in made if control not in (threshold, edit, keep)]
    first = (threshold, edit, keep and replace(keep, label=KEPT, help=f"{keep.label}. {keep.help}"))
    changed = tuple(c for _, c in rest if c.changed or c.error)
    groups = ((title, tuple(c for g, c in rest if g == key and c not in changed)) for key, title in GROUPS)
    return first, changed, tuple(ControlGroup(title, found) for title, found in groups if found)


def _of_replay(policy: Policy, state: urlstate.ReplayState, path: str, prefix: str) -> tuple[Control, ...]:
    """What a replay is asked besides its policy: estimator, summary, history, and summary calls that fail."""
    plugins = registry.plugins("estimators")
    own = plugins[policy.estimator].label if policy.estimator in plugins else policy.estimator
    estimators = (("", f"The policy's own: {own}"), *((e.name, e.label) for e in plugins.values()))
    summarizers = tuple((s.name, SUMMARY_WORDS.get(s.name, s.name)) for s in registry.plugins("summarizers").values())

    def asked(name: str, label: str, says: str, words: Sequence[tuple[str, str]], also: Control | None) -> Control:
        value, start = str(getattr(state, name)).partition(":")[0], str(STARTS[name])
        return Control(
            name, f"{prefix.replace('.', '-')}{name}", prefix + name, label, says, "", value, start,
            changed=value != start, options=tuple(Option(v, text, v == value) for v, text in words),
            error=state.errors.get(name, ""), reset_href=reset(state, path, **{name: STARTS[name]}),
            default_words=dict(words)[start], also=also,
        )  # fmt: skip

    def number(name: str, label: str, unit: str, track: tuple[int, int, int], given: str) -> Control:
        start, high, step = track
        value = int(given.partition(":")[2] or start)
        return Control(
            name, f"{prefix.replace('.', '-')}{name}", prefix + name, label, "", unit, f"{value:,}", str(start),
            changed=value != start, low=1, high=high, step=step, slider=min(value, high),
            default_words=f"{start:,}",
        )  # fmt: skip

    stub = state.summarizer if state.summarizer.startswith("stub:") else ""
    return (
        asked("estimator", "Trigger counts with", "The rule by which the trigger sizes the context.", estimators, None),
        asked("summarizer", "Summary", "Where the text of a summary comes from.", summarizers,
              number("stub", "Placeholder summary", "tokens", (urlstate.DEFAULT_STUB, 20_000, 500), stub)),
        asked("base", "History", "What the trigger is asked along: every original message, or the recorded context.",
              (("full", "as if never compacted"), ("recorded", "as recorded")), None),
        asked("fail", "Summary calls fail", "Which calls for a summary get no answer.",
              (("", "never"), ("always", "always"), ("every", "every N"), ("first", "first N")),
              number("fail_n", "N", "calls", (2, 20, 1), state.fail)),
    )  # fmt: skip


def _windows(own: int, state: urlstate.ReplayState, path: str) -> tuple[Option, ...]:
    """The session's own window and those of current models, each as a link."""
    current = state.window or own
    sizes = sorted({own, *WINDOWS})
    return tuple(
        Option(reset(state, path, window=None if n == own else n), thousands(n) + (" own" if n == own else ""),
               n == current, f"{n:,}")
        for n in sizes
    )  # fmt: skip


def reset(state: urlstate.ReplayState, path: str, **changes: object) -> str:
    """The page with some settings as they start; "" where links need a script."""
    if not path:
        return ""
    return with_query(path, urlstate.query(state, **{"rows": None, "event": None} | changes))


def choice_words(choice: str) -> str:
    """A choice as people read it: an estimator by its label."""
    estimator = registry.plugins("estimators").get(choice)
    return estimator.label if estimator else choice


def _control(
    spec: parameters.Spec, given: Mapping[str, str], state: urlstate.ReplayState, *, path: str, prefix: str,
    threshold: bool, as_recorded: bool,
) -> Control:  # fmt: skip
    default = urlstate.written(spec.default)
    value = given.get(spec.name, default)
    options = tuple(Option(choice, choice_words(choice), choice == value) for choice in spec.choices)
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
        reset_href=reset(state, path, params=tuple(pair for pair in state.params if pair[0] != spec.name)),
        default_words=_default_words(spec, default),
        default_name="as recorded" if as_recorded else "default",
    )


def _default_words(spec: parameters.Spec, default: str) -> str:
    if not spec.is_number or default == "none":
        return choice_words(default) or "none"
    return united(_grouped(default), spec.unit)


def _grouped(value: str) -> str:
    number = float(value)
    return f"{number:,.0f}" if number.is_integer() else value


def _place(value: float, low: float, high: float) -> float:
    """Percent of the track, the thumb's own width allowed for."""
    share = (value - low) / (high - low) if high > low else 0
    return round(4.5 + 91 * min(max(share, 0), 1), 2)


COMMON = (
    "claude_code", "codex_local", "anthropic_clear_tool_uses", "langchain_summarization", "sliding_window", "none",
    "anchored_iterative",
)  # fmt: skip
"""What most readers try; six of them are listed."""
N_COMMON = 6
FAMILIES = (
    ("Claude Code", ("claude_code", "claw_code")), ("Codex and OpenAI", ("codex_", "openai_")),
    ("Anthropic API and SDK", ("anthropic_",)), ("LangChain", ("langchain_", "deepagents_")),
    ("OpenHands and SWE-agent", ("openhands_", "swe_agent_", "mini_swe_")), ("opencode", ("opencode_",)),
    ("Gemini and ADK", ("gemini_", "adk_")), ("Cline and Roo Code", ("cline_", "roo_code")),
    ("goose and buzz-agent", ("goose", "buzz_")),
    ("AutoGen, AG2 and Microsoft", ("autogen_", "ag2_", "agent_framework")),
    ("Inspect", ("inspect_",)),
    ("Other agents", ("aider", "browser_use", "copilot_chat", "crush", "kimi", "letta", "pi", "smolagents_")),
)  # fmt: skip
"""Whose policies they are, by how their names begin."""
GENERAL = "General"


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a select or of a segmented control."""

    value: str
    words: str
    current: bool
    title: str = ""


@dataclass(frozen=True, slots=True)
class PolicyGroup:
    """Policies under one heading."""

    title: str
    policies: tuple[Option, ...]


def policy_groups(current: str, weighed: Weighed | None = None) -> tuple[PolicyGroup, ...]:
    """Used by this session's agent, six common ones, then everything else; each policy stands once."""
    plugins: dict[str, Policy] = registry.plugins("policies")
    used = [name for name in (writer_of(weighed.transcript).policies if weighed else ()) if name in plugins]
    common = [name for name in COMMON if name in plugins and name not in used][:N_COMMON]
    rest = [name for name in plugins if name not in {*used, *common}]
    parts: list[tuple[str, Iterable[str]]] = [("Used by this session", used), ("Common", common)]
    family = {name: next((title for title, begins in FAMILIES if name.startswith(begins)), GENERAL) for name in rest}
    parts += [(title, [n for n in rest if family[n] == title]) for title in (*(t for t, _ in FAMILIES), GENERAL)]
    found = []
    for title, names in parts:
        options = [Option(name, plugins[name].label or name, name == current, plugins[name].help) for name in names]
        if title not in {"Used by this session", "Common"}:
            options.sort(key=lambda option: option.words.lower())
        if options:
            found.append(PolicyGroup(title, tuple(options)))
    return tuple(found)
