"""A policy's setting in the terms that agents are configured in, and what an agent makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine import params as parameters
from sessions.engine import registry
from sessions.engine.calibration.calibrate import weigh
from sessions.engine.calibration.weighed import DEFAULT_WINDOW
from sessions.engine.summaries import empty_view
from sessions.engine.types import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.policy import Gate, Policy

SUMMARISE, CLEAR, THINKING, TRIM, OTHER, NOTHING = "summarise", "clear", "thinking", "trim", "other", "nothing"
EDITS = {
    "none": NOTHING,
    "anthropic_clear_tool_uses": CLEAR,
    "anthropic_clear_thinking": THINKING,
    "langchain_clear_tool_uses": CLEAR,
    "opencode_prune": CLEAR,
    "inspect_edit": CLEAR,
    "goose_tool_pairs": OTHER,
}
"""What a policy does, where its summary calls do not say."""
KEPT = {
    "anthropic_clear_tool_uses": ("results", "keep"),
    "langchain_clear_tool_uses": ("results", "keep"),
    "inspect_edit": ("results", "keep_tool_uses"),
    "opencode_compaction": ("tokens", "preserve_recent_tokens"),
    "opencode_compaction_v2": ("tokens", "keep_tokens"),
}
"""What a policy leaves at the end of the list, and the parameter that says how much."""
PARAMETRIC = {
    "summarise": SUMMARISE, "truncate": TRIM, "mask results": CLEAR, "clear thinking": THINKING, "drop images": OTHER,
}  # fmt: skip
OTHER_TOKENS = {"aider": "tokens of its chat history", "opencode_prune": "tokens that can be pruned"}
"""Policies whose gate counts tokens, but not those of the whole context."""
ASSUMED = frozenset({"usage"})
"""Parameters that say what a replay assumes, not what an agent does."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A setting: when it compacts, what it does, what it keeps.

    ``trigger`` is in tokens of context, None where the gate counts something else; ``above``: it fires over the
    trigger, not at it; ``unit`` is what the gate counts in.  ``keep_*`` are None where the policy keeps nothing by
    that measure.  ``changed`` are the parameters that differ from the policy's defaults; ``own_window`` is the model's.
    """

    policy: Policy
    params: Any
    changed: Mapping[str, Any]
    window: int
    own_window: int
    model: str
    edit: str
    trigger: int | None
    above: bool
    unit: str
    trigger_messages: int | None
    keep_messages: int | None
    keep_tokens: int | None
    keep_results: int | None

    @property
    def share(self) -> float | None:
        """The trigger as a share of the window."""
        return None if self.trigger is None else self.trigger / self.window


@dataclass(frozen=True, slots=True)
class Made:
    """What an agent makes of a setting: the text of its configuration ("" where it has none for it).

    ``fires_at`` is where the agent then compacts, in tokens, None where that is not known; ``cannot`` says in words
    what it does not express.
    """

    text: str = ""
    fires_at: int | None = None
    cannot: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that can be configured: its file and language, its own policies, where its keys are documented.

    ``checked`` is the day on which the keys were compared with ``source``; ``differs`` says in a sentence what another
    policy than its own becomes there.
    """

    name: str
    label: str
    file: str
    language: str
    source: str
    checked: str
    own: frozenset[str]
    differs: str
    make: Callable[[Wanted], Made]


@dataclass(frozen=True, slots=True)
class Snippet:
    """The configuration of one agent for a setting; ``exact``: its own policy, with nothing left unsaid."""

    agent: Agent
    text: str
    exact: bool
    fires_at: int | None
    cannot: tuple[str, ...]


def wanted(
    name: str,
    params: Mapping[str, object] | None = None,
    *,
    window: int | None = None,
    model: str = "",
    weighed: Weighed | None = None,
) -> Wanted:
    """A policy's setting, its threshold asked of its own gate; raises UnknownName or BadParameter.

    Without a session the window is the one given, else the model's, and nothing is taken for system prompt and tools.
    """
    policy: Policy = registry.get("policies", name)
    built = parameters.build(policy.params, dict(params or {}))
    weighed = weighed or weigh(Transcript("", "", (), model=model))
    own = weighed.window or DEFAULT_WINDOW
    gate = _asked(policy, built, weighed, window or own)
    in_tokens = gate is not None and gate.unit == "tokens" and name not in OTHER_TOKENS
    specs = parameters.specs(policy.params)
    changed = {s.name: getattr(built, s.name) for s in specs if getattr(built, s.name) != s.default}
    kept = _kept(policy.name, built, window or own)
    return Wanted(
        policy=policy,
        params=built,
        changed=changed,
        window=window or own,
        own_window=own,
        model=model or weighed.transcript.model,
        edit=_edit(policy, built),
        trigger=gate.threshold if gate is not None and in_tokens and gate.threshold > 0 else None,
        above=gate is not None and gate.operator == ">",
        unit="" if gate is None else OTHER_TOKENS.get(name, gate.unit),
        trigger_messages=gate.threshold if gate is not None and gate.unit == "messages" else None,
        keep_messages=kept.get("messages"),
        keep_tokens=kept.get("tokens"),
        keep_results=kept.get("results"),
    )


def built_in(setting: Wanted, expressed: Collection[str]) -> tuple[str, ...]:
    """Changed parameters of an agent's own policy that the agent has no key for."""
    labels = {spec.name: spec for spec in parameters.specs(setting.policy.params)}
    unsaid = [name for name in setting.changed if name not in expressed and name not in ASSUMED]
    return tuple(
        f"{labels[name].label}: {_value(setting.changed[name])} {labels[name].unit}".rstrip() + " has no key; it is "
        "built in."
        for name in unsaid
    )


def not_tokens(setting: Wanted) -> str:
    """Why a gate that does not count tokens cannot be said."""
    counted = setting.unit or "something else"
    return f"The gate of {setting.policy.name} counts {counted}, not tokens of context."


def gate_threshold(name: str, params: Mapping[str, object], window: int, model: str = "") -> int | None:
    """What a policy's gate compares with under these parameters, tokens; None where it does not count tokens."""
    return wanted(name, params, window=window, model=model).trigger


def _asked(policy: Policy, built: Any, weighed: Weighed, window: int) -> Gate | None:
    """The policy's gate over an empty list: its threshold does not depend on what is in it."""
    try:
        return policy.drawn.gate(built, empty_view(weighed, policy.estimator, window))
    except (ValueError, ArithmeticError, LookupError, TypeError):
        return None


def _edit(policy: Policy, built: Any) -> str:
    if policy.name in EDITS:
        return EDITS[policy.name]
    chosen = getattr(built, "edit", None)
    if isinstance(chosen, str) and chosen in PARAMETRIC:
        return PARAMETRIC[chosen]
    return SUMMARISE if policy.summary_calls else TRIM


def _kept(name: str, built: Any, window: int) -> dict[str, int]:
    """What stays untouched at the end of the list, by the measure that the policy counts it in."""
    if name in KEPT:
        measure, parameter = KEPT[name]
        value = getattr(built, parameter)
        return {} if value is None else {measure: value}
    if name == "langchain_summarization":
        share = None if built.keep_fraction is None else int(built.keep_fraction * window)
        tokens = built.keep_tokens if built.keep_tokens is not None else share
        return {"messages": built.keep_messages} if tokens is None else {"tokens": tokens}
    unit = getattr(built, "keep_unit", "messages")
    paused = getattr(built, "pause_after_compaction", "on") == "on"
    return {unit: built.keep_last} if hasattr(built, "keep_last") and unit in {"messages", "tokens"} and paused else {}


def _value(value: object) -> str:
    return "none" if value is None else f"{value:,}" if isinstance(value, int | float) else str(value)
