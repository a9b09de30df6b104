"""Apply it: the configuration of real agents for a setting that a replay or a sweep came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions.engine.agents.agent import Agent, PolicyFacts, policy_facts
from sessions.engine.agents.setting import (
    CLEAR,
    NOTHING,
    OTHER,
    SUMMARISE,
    THINKING,
    TRIM,
    Configuration,
    NotTokens,
    Rendering,
    Setting,
    built_in,
)
from sessions.engine.base import registry, suggestions
from sessions.engine.base.errors import UnknownName
from sessions.engine.policies.policy import Gate, Policy
from sessions.engine.replays import initial_params
from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.weighed import DEFAULT_WINDOW, Weighed

PARAMETRIC = {
    "summarise": SUMMARISE, "truncate": TRIM, "mask results": CLEAR, "clear thinking": THINKING, "drop images": OTHER,
}  # fmt: skip
NEAREST = "Nearest fit, not the same policy"


@dataclass(frozen=True, slots=True)
class Snippet:
    """The configuration of one agent for a setting; ``exact``: its own policy, with nothing left unsaid."""

    agent: Agent
    configuration: Configuration
    text: str
    exact: bool
    fires_at: int | None
    cannot: tuple[str, ...]


def configurable() -> dict[str, Configuration]:
    """How agents are configured, by the name of the agent, in the order of their names."""
    found = sorted(registry.plugins("agents").items())
    return {name: agent.configuration for name, agent in found if agent.configuration is not None}


def configure(
    policy: str,
    params: Mapping[str, object] | None = None,
    *,
    window: int | None = None,
    model: str = "",
    weighed: Weighed | None = None,
    agents: tuple[str, ...] = (),
) -> tuple[Snippet, ...]:
    """How agents are set so, exact ones first, then those that can; raises UnknownName or BadParameter."""
    setting = setting_of(policy, params, window=window, model=model, weighed=weighed)
    known = configurable()
    unknown = next((name for name in agents if name not in known), None)
    if unknown is not None:
        raise UnknownName(suggestions.unknown("agent", unknown, known))
    found = (_snippet(registry.get("agents", name), known[name], setting) for name in agents or known)
    return tuple(sorted(found, key=_rank))


def _rank(snippet: Snippet) -> tuple[bool, bool, bool]:
    is_nearest = bool(snippet.cannot) and snippet.cannot[0].startswith(NEAREST)
    return (not snippet.exact, not snippet.text, is_nearest)


def _snippet(agent: Agent, keys: Configuration, setting: Setting) -> Snippet:
    name, is_off = setting.policy.name, setting.edit == NOTHING
    try:
        made = keys.make(setting) if setting.edit in keys.edits else Rendering(cannot=(keys.otherwise,))
    except NotTokens as error:
        made = Rendering(cannot=(str(error),))
    own, said = name in {*keys.own, "none"}, list(made.cannot)
    if made.text and not own:
        said.insert(0, f"{NEAREST}: {keys.differs}")
    elif made.text and not is_off:
        known = f"This is of {setting.client}, as the session records: another version may compact elsewhere."
        said = [*built_in(setting, keys.own[name]), *([known] if setting.client else []), *said]
    if made.fires_at is not None and setting.trigger is not None and made.fires_at != setting.trigger:
        said.append(f"It compacts at {made.fires_at:,} tokens, where this setting does at {setting.trigger:,}.")
    exact = bool(made.text) and not said and own
    return Snippet(agent, keys, made.text, exact, made.fires_at, tuple(said))


def apply_document(policy: str, params: Mapping[str, object], snippets: tuple[Snippet, ...]) -> dict[str, Any]:
    """``ctxweb.apply/1``; an agent's ``text`` is "" where it cannot be set so."""
    return {
        "schema": "ctxweb.apply/1",
        "policy": policy,
        "params": dict(params),
        "agents": [
            {
                "agent": one.agent.name, "label": one.agent.label, "file": one.configuration.file,
                "language": one.configuration.language, "text": one.text, "exact": one.exact,
                "fires_at_tokens": one.fires_at, "cannot": list(one.cannot), "source": one.configuration.source,
                "checked": one.configuration.checked,
            }
            for one in snippets
        ],
    }  # fmt: skip


def setting_of(
    name: str,
    params: Mapping[str, object] | None = None,
    *,
    window: int | None = None,
    model: str = "",
    weighed: Weighed | None = None,
) -> Setting:
    """A policy's setting, its threshold asked of its own trigger; raises UnknownName or BadParameter.

    Without a session the window is the one given, else the model's, and nothing is taken for system prompt and tools.
    """
    policy: Policy = registry.get("policies", name)
    weighed = weighed or weigh(Transcript("", "", (), model=model))
    built = initial_params.built(weighed, policy, params or {})
    own = weighed.window or DEFAULT_WINDOW
    gate = _asked(policy, built, weighed, window or own)
    facts = policy_facts(policy.name)
    in_tokens = gate is not None and gate.unit == "tokens" and not facts.counts
    client, specs = initial_params.starting(weighed, policy.name), initial_params.specs(weighed, policy)
    changed = {s.name: getattr(built, s.name) for s in specs if getattr(built, s.name) != s.default}
    kept = _kept(facts, built, window or own)
    return Setting(
        policy=policy,
        params=built,
        changed=changed,
        window=window or own,
        own_window=own,
        model=model or weighed.transcript.model,
        edit=facts.edit or _edit(policy, built),
        trigger=gate.threshold if gate is not None and in_tokens and gate.threshold > 0 else None,
        above=gate is not None and gate.operator == ">",
        unit="" if gate is None else facts.counts or gate.unit,
        trigger_messages=gate.threshold if gate is not None and gate.unit == "messages" else None,
        keep_messages=kept.get("messages"),
        keep_tokens=kept.get("tokens"),
        keep_results=kept.get("results"),
        client=client.words if client.params else "",
    )


def _asked(policy: Policy, built: Any, weighed: Weighed, window: int) -> Gate | None:
    """The policy's trigger over an empty list: its threshold does not depend on what is in it."""
    try:
        return policy.asked(built, window, weighed.model, overhead=weighed.overhead)
    except (ValueError, ArithmeticError, LookupError, TypeError):
        return None


def _edit(policy: Policy, built: Any) -> str:
    if policy.name == "none" or getattr(built, "auto", "on") == "off":
        return NOTHING
    chosen = getattr(built, "edit", None)
    if isinstance(chosen, str) and chosen in PARAMETRIC:
        return PARAMETRIC[chosen]
    return SUMMARISE if policy.summary_calls else TRIM


def _kept(facts: PolicyFacts, built: Any, window: int) -> dict[str, int]:
    """What stays untouched at the end of the list, by the measure that the policy counts it in."""
    if facts.keeps:
        given = ((measure, getattr(built, parameter)) for measure, parameter in facts.keeps)
        measure, value = next((one for one in given if one[1] is not None), ("tokens", None))
        if value is None:
            return {}
        return {"tokens": int(value * window)} if measure == "share" else {measure: value}
    unit = getattr(built, "keep_unit", "messages")
    paused = getattr(built, "pause_after_compaction", "on") == "on"
    return {unit: built.keep_last} if hasattr(built, "keep_last") and unit in {"messages", "tokens"} and paused else {}
