"""What an agent is: the program that runs a model, wrote a transcript, and compacts by a trigger of its own.

A module in ``sessions/engine/agents`` declares ``AGENT = Agent(...)``; whoever needs to know an agent reads its record
here.  What no record says is not known, and is told so.  Windows and thresholds are tokens unless named otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sessions.engine.model_info import ModelInfo
    from sessions.engine.setting import Configuration
    from sessions.engine.types import Message, Transcript

    Tokens = Callable[[int, ModelInfo], int]
    """Tokens for a window in tokens and a model."""

AT_LEAST, OVER = ">=", ">"
USUAL_WINDOWS = (1_000_000, 400_000, 272_000, 256_000, 200_000, 128_000, 64_000, 32_000)
"""Windows that agents take a model for: those of the models they know, and their fall-backs."""
EVERY_REQUEST, TURN_END = "every request", "turn's end"
"""When a trigger is asked: before every request, or when the agent has finished and never within its run."""
ALWAYS, WITH_TRIGGER = "always", "with trigger"
"""When a recorded compaction's ``tokens_before`` is the agent's own; elsewhere one that equals our sum may be ours."""
_BETWEEN = re.compile(r"[\s/_-]+")
LIST_ALONE = "Counts the messages; the system prompt and the tools are not in its estimate here."
"""A note on triggers that ask an estimate of the list alone."""


class Uses(StrEnum):
    """What a trigger measures at a request (replay-semantics 4: last usage is that of the request before).

    ``tail``: last usage with its output, plus an estimate of what came after it; ``growth``: last input plus the
    growth of the whole list in bytes; ``total``: last usage with its output alone; ``input``: last input alone;
    ``either``: the larger of the last total and an estimate of the list; ``estimate``: an estimate of the list.
    Cached tokens are part of the input.
    """

    TAIL = "tail"
    GROWTH = "growth"
    TOTAL = "total"
    INPUT = "input"
    EITHER = "either"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True)
class Trigger:
    """What starts a compaction, at the agent's defaults.

    ``threshold`` gives tokens; a trigger that counts bytes compares them with tokens one to one, as its original does.
    While no usage is known, the estimate of the list is compared with it by ``first_operator``, at most with
    ``first_cap``; where ``estimates_first`` is false, nothing is.  ``words`` names the threshold where the agent's own
    sessions are held against it; ``is_default`` is false for an option, and for a version that does not write them.
    ``version`` ends the client's name where this was the default of those versions alone.
    """

    name: str
    label: str
    source: str
    estimator: str
    operator: str
    uses: Uses
    threshold: Tokens
    words: str = ""
    first_operator: str = ""
    first_cap: int | None = None
    note: str = ""
    estimates_first: bool = True
    is_default: bool = True
    version: str = ""


class Threshold(NamedTuple):
    """One threshold in tokens and whose it is."""

    tokens: int
    name: str


class KnownSetting(NamedTuple):
    """Parameters that some client or user is known to have had, and what to call them."""

    params: dict[str, object]
    words: str


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
    its summary calls do not say (SUMMARISE, CLEAR …), ``counts`` what its gate counts in tokens that are not the whole
    context's.  ``keeps`` names the parameters that say how much stays at the end of the list, each by its measure
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


class Counting(NamedTuple):
    """What a client's own trigger counted otherwise: ``uses`` None as the present version, ``is_written``: the output
    as the transcript has it, a streaming placeholder included; ``note`` says so.
    """

    uses: Uses | None = None
    is_written: bool = False
    note: str = ""


class Beside(NamedTuple):
    """Tokens that a trigger adds to the usage before, and how many of them are an estimate: the file lost them."""

    tokens: int = 0
    estimated: int = 0


def nothing_beside(_messages: Sequence[Message], _reported: Mapping[int, int]) -> Beside:
    """An agent that adds nothing to the usage and to what came after it."""
    return Beside()


def counts_as_now(_: Transcript) -> Counting:
    """An agent of which no version is known to have counted otherwise."""
    return Counting()


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent.

    ``formats`` are those of the transcripts it writes, ``policies`` how it compacts: the first is what a recording is
    compared with, ``opaque_policy`` where its compaction left an item that cannot be read, ``stated_policy`` where its
    requests name their own trigger.  ``triggers`` are laid over
    any session, those of agents of a lower ``rank`` first; ``older`` are thresholds of earlier versions with what to
    call them.  ``windows`` are those it takes models for; with ``assumes_window`` also for a model that it does not
    know.  ``asked`` and ``own_figure`` are "" where that is not known.  ``least_trigger``: each request names its own
    trigger, this many tokens or more.  ``api`` is the one whose opaque blocks its transcripts hold.  ``is_chained``: a
    summary names the transcript that it was made of; ``places`` is where transcripts of each format are kept,
    as far as that is known.  ``counting`` is what the client of a transcript counted, ``beside`` what
    it counts of the messages of a context beside their usage, given the reasoning that replies reported, by message.
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
    older: tuple[tuple[str, Tokens], ...] = ()
    windows: tuple[int, ...] = USUAL_WINDOWS
    assumes_window: bool = False
    asked: str = ""
    own_figure: str = ""
    least_trigger: int | None = None
    api: str = ""
    is_chained: bool = False
    places: Mapping[str, Place] = field(default_factory=dict)
    configuration: Configuration | None = None
    counting: Callable[[Transcript], Counting] = counts_as_now
    beside: Callable[[Sequence[Message], Mapping[int, int]], Beside] = nothing_beside


UNKNOWN = Agent("", "")


@cache
def agents() -> tuple[Agent, ...]:
    """All agents by rank, then by name."""
    return tuple(sorted(registry.plugins("agents").values(), key=lambda agent: (agent.rank, agent.name)))


def _namesake(name: str) -> Agent:
    return registry.alone("agents", name) or UNKNOWN


def agent_of(format_name: str) -> Agent:
    """The agent that writes transcripts of this format, UNKNOWN where it is not known.

    One that bears the format's name is found without loading the others and their policies.
    """
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


def policy_facts(policy: str) -> PolicyFacts:
    """What a record says of a policy; asked of one that bears its name before all."""
    own = _namesake(policy)
    if policy in own.facts:
        return own.facts[policy]
    return next((agent.facts[policy] for agent in agents() if policy in agent.facts), PolicyFacts())


def thresholds(agent: Agent, window: int, model: ModelInfo) -> tuple[Threshold, ...]:
    """What the agent's own sessions are held against: the present threshold, older ones, others; () if not known."""
    named = [trigger for trigger in agent.triggers if trigger.words]
    present, other = ([_least(t, window, model) for t in named if t.is_default is wanted] for wanted in (True, False))
    older = [Threshold(tokens(window, model), words) for words, tokens in agent.older]
    return tuple(one for one in (*present, *older, *other) if one.tokens > 0)


def _least(trigger: Trigger, window: int, model: ModelInfo) -> Threshold:
    """The smallest context at which it fires."""
    return Threshold(trigger.threshold(window, model) + (trigger.operator == OVER), trigger.words)
