"""What an agent is: the program that runs a model, wrote a transcript, and compacts by a trigger of its own.

A module in ``sessions/engine/agents`` declares ``AGENT = Agent(...)``, or is a row of ``transcripts``; whoever needs to
know an agent reads its record here.  What no record says is not known, and is told so.  Windows and thresholds are
tokens unless named otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.base import registry
from sessions.engine.models.model_info import ModelInfo
from sessions.engine.policies import params as parameters
from sessions.engine.policies.policy import NOTHING_SENT, Gate, Policy
from sessions.engine.transcript.types import Message, Transcript

if TYPE_CHECKING:
    from sessions.engine.agents.setting import Configuration

OVER = ">"
USUAL_WINDOWS = (1_000_000, 400_000, 272_000, 256_000, 200_000, 128_000, 64_000, 32_000)
"""Windows that agents take a model for: those of the models they know, and their fall-backs."""
EVERY_REQUEST, TURN_END, TURN_START = "every request", "turn's end", "turn's start"
"""When a trigger is asked: before every request, or when a turn ends or begins and never within it."""
BETWEEN_TURNS = {TURN_END: "ends", TURN_START: "begins"}
"""What a turn does when a trigger is asked that is not asked within one."""
ALWAYS, WITH_TRIGGER = "always", "with trigger"
"""When a recorded compaction's ``tokens_before`` is the agent's own; elsewhere one that equals our sum may be ours."""
_BETWEEN = re.compile(r"[\s/_-]+")


@lru_cache(maxsize=1_024)
def _asked(
    policy: str, params: tuple[tuple[str, object], ...], window: int, model: ModelInfo, *, is_told: bool = True
) -> Gate:
    rule: Policy = registry.get("policies", policy)
    usage = NOTHING_SENT if is_told else None
    return rule.asked(parameters.build(rule.params, dict(params)), window, model, usage=usage)


@dataclass(frozen=True, slots=True)
class Trigger:
    """What starts a compaction: the gate of a policy under parameters that differ from its defaults, never a copy.

    ``counted_by`` names an estimator other than the policy's own.  ``words`` names the threshold where the agent's own
    sessions are held against it; ``is_default`` is false for an option, and for a version that does not write them.
    ``version`` ends the client's name where this was the default of those versions alone.
    """

    name: str
    label: str
    source: str
    policy: str
    params: Mapping[str, object] = field(default_factory=dict)
    counted_by: str = ""
    words: str = ""
    note: str = ""
    is_default: bool = True
    version: str = ""

    @property
    def rule(self) -> Policy:
        """The policy."""
        rule: Policy = registry.get("policies", self.policy)
        return rule

    @property
    def built(self) -> Any:
        """The policy's parameters; raises BadParameter."""
        return parameters.build(self.rule.params, self.params)

    @property
    def estimator(self) -> str:
        """The name of the estimator that it measures with."""
        name: str = registry.get("estimators", self.counted_by or self.rule.measured_by(self.built)).name
        return name

    def asked(self, window: int, model: ModelInfo, *, is_told: bool = True) -> Gate:
        """What its gate says of a request with nothing in it; ``is_told``: it knows the usage of a request before."""
        return _asked(self.policy, tuple(sorted(self.params.items())), window, model, is_told=is_told)

    def threshold(self, window: int, model: ModelInfo) -> int:
        """Tokens for a window in tokens and a model; bytes are compared with tokens one to one where it counts them."""
        return self.asked(window, model).threshold


class Threshold(NamedTuple):
    """One threshold in tokens and whose it is."""

    tokens: int
    name: str


class KnownSetting(NamedTuple):
    """Parameters that some client or user is known to have had, what to call them, and what it counted otherwise."""

    params: dict[str, object]
    words: str
    note: str = ""


DEFAULTS = (KnownSetting({}, "the defaults"),)
NOTHING_KNOWN = KnownSetting({}, "")


def nothing_known(_: Transcript) -> KnownSetting:
    """What is known of the client of a recording where no record says more."""
    return NOTHING_KNOWN


def stated(param: str) -> Callable[[Transcript], KnownSetting]:
    """The setting of a client whose requests name their own trigger: it is that parameter's value."""

    def client(transcript: Transcript) -> KnownSetting:
        at = transcript.trigger_at
        return NOTHING_KNOWN if at is None else KnownSetting({param: at}, "as its requests ask")

    return client


@dataclass(frozen=True, slots=True)
class PolicyFacts:
    """What is known of an agent's policy beside its rule.

    ``settings`` are those tried where a recording's are not known; ``client`` gives those of the client that wrote a
    transcript, by its version, with that version in words ("" where nothing is known).  ``edit`` is what it does where
    its summary calls do not say (SUMMARISE, CLEAR …), ``counts`` what its trigger counts in tokens that are not the
    whole context's.  ``keeps`` names the parameters that say how much stays at the end of the list, each by its measure
    ("messages", "tokens", "results", or "share" of the window); the first that is set counts.
    """

    settings: tuple[KnownSetting, ...] = DEFAULTS
    client: Callable[[Transcript], KnownSetting] = nothing_known
    edit: str = ""
    counts: str = ""
    keeps: tuple[tuple[str, str], ...] = ()


class Place(NamedTuple):
    """A folder of transcripts, and patterns of paths in it, subagents' files left out; () where none can be listed."""

    folder: str
    patterns: tuple[str, ...] = ()


class Beside(NamedTuple):
    """Tokens that a trigger adds to the usage before, and how many of them are an estimate: the file lost them."""

    tokens: int = 0
    estimated: int = 0


def nothing_beside(_messages: Sequence[Message], _reported: Mapping[int, int]) -> Beside:
    """An agent that adds nothing to the usage and to what came after it."""
    return Beside()


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent.

    ``formats`` are those of the transcripts it writes, ``policies`` how it compacts: the first is what a recording is
    compared with, ``opaque_policy`` where its compaction left an item that cannot be read, ``stated_policy`` where its
    requests name their own trigger.  ``triggers`` are laid over any session, those of agents of a lower ``rank`` first;
    ``older`` are thresholds of earlier versions.  ``windows`` are those it takes models for; with ``assumes_window``
    also for a model that it does not know.  ``asked`` and ``own_figure`` are "" where that is not known.
    ``usable``: percent of a model's window that it takes for its own.
    ``least_trigger``: each request names its own trigger, this many tokens or more.  ``api`` is the one whose opaque
    blocks its transcripts hold.  ``is_chained``: a summary names the transcript that it was made of; ``places`` is
    where transcripts of each format are kept, as far as that is known.  ``beside`` is what it counts of the messages of
    a context beside their usage, given the reasoning that replies reported, by message.
    """

    name: str
    label: str
    formats: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    opaque_policy: str = ""
    stated_policy: str = ""
    facts: Mapping[str, PolicyFacts] = field(default_factory=dict)
    triggers: tuple[Trigger, ...] = ()
    rank: int = 100
    usable: int = 100
    older: tuple[Trigger, ...] = ()
    windows: tuple[int, ...] = USUAL_WINDOWS
    assumes_window: bool = False
    asked: str = ""
    own_figure: str = ""
    least_trigger: int | None = None
    api: str = ""
    is_chained: bool = False
    places: Mapping[str, Place] = field(default_factory=dict)
    configuration: Configuration | None = None
    beside: Callable[[Sequence[Message], Mapping[int, int]], Beside] = nothing_beside

    @property
    def asked_late(self) -> str:
        """That the trigger is asked between turns alone, in a clause; else ""."""
        when = BETWEEN_TURNS.get(self.asked)
        return f"{self.label} checks its trigger when a turn {when}" if when else ""

    def own_window(self, window: int) -> int:
        """What it takes, and records, for a model's window of so many tokens."""
        return round(window * self.usable / 100)


UNKNOWN = Agent("", "")


@cache
def agents() -> tuple[Agent, ...]:
    """All agents by rank, then by name."""
    return tuple(sorted(registry.plugins("agents").values(), key=lambda agent: (agent.rank, agent.name)))


def _namesake(name: str) -> Agent:
    return registry.alone("agents", name) or UNKNOWN


def agent_of(format_name: str) -> Agent:
    """The agent that writes this format, UNKNOWN where none is known; a namesake is found without loading others."""
    own = _namesake(format_name)
    if format_name in own.formats:
        return own
    return next((agent for agent in agents() if format_name in agent.formats), UNKNOWN)


def writer_of(transcript: Transcript) -> Agent:
    """The agent that wrote a transcript: its format's, else the one that its client names, UNKNOWN where none is.

    What a session's own agent, policy, trigger or settings are is asked here, never of the format alone.
    """
    found = agent_of(transcript.format)
    named = _spelled(transcript.client)
    if found is not UNKNOWN or not named:
        return found
    return next((agent for agent in agents() if f"{named} ".startswith(f"{_spelled(agent.label)} ")), UNKNOWN)


def _spelled(name: str) -> str:
    """A name in lower case with blanks: "claude-code/2.1.17" is "claude code 2.1.17"."""
    return _BETWEEN.sub(" ", name.lower())


def own_trigger(transcript: Transcript) -> Trigger | None:
    """The trigger that a transcript ran under, None where it is not known."""
    defaults = [trigger for trigger in writer_of(transcript).triggers if trigger.is_default]
    of_version = (one for one in defaults if one.version and transcript.client.endswith(one.version))
    return next(of_version, next(iter(defaults), None))


def trigger_of(transcript: Transcript) -> Trigger | None:
    """The trigger that a transcript ran under as its client had it (policies 4.11), None where it is not known."""
    trigger = own_trigger(transcript)
    return None if trigger is None else as_client(trigger, transcript)


def as_client(trigger: Trigger, transcript: Transcript) -> Trigger:
    """A trigger under the parameters that the client of a transcript is known to have had for its policy."""
    known = policy_facts(trigger.policy).client(transcript)
    if not known.params:
        return trigger
    return replace(trigger, params={**trigger.params, **known.params}, note=f"{trigger.note} {known.note}".strip())


def policy_facts(policy: str) -> PolicyFacts:
    """What a record says of a policy; asked of one that bears its name before all."""
    own = _namesake(policy)
    if policy in own.facts:
        return own.facts[policy]
    return next((agent.facts[policy] for agent in agents() if policy in agent.facts), PolicyFacts())


def thresholds(agent: Agent, window: int, model: ModelInfo) -> tuple[Threshold, ...]:
    """What the agent's own sessions are held against: the present threshold, older ones, others; () if not known."""
    present = [trigger for trigger in agent.triggers if trigger.words and trigger.is_default]
    other = [trigger for trigger in agent.triggers if trigger.words and not trigger.is_default]
    found = (_least(trigger, window, model) for trigger in (*present, *agent.older, *other))
    return tuple(one for one in found if one.tokens > 0)


def _least(trigger: Trigger, window: int, model: ModelInfo) -> Threshold:
    """The smallest context at which it fires."""
    asked = trigger.asked(window, model)
    return Threshold(asked.threshold + (asked.operator == OVER), trigger.words)
