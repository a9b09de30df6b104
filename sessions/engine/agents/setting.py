"""A policy's setting in the terms that agents are configured in, and what an agent makes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.policies import params as parameters
from sessions.engine.policies.policy import Policy

SUMMARISE, CLEAR, THINKING, TRIM, OTHER, NOTHING = "summarise", "clear", "thinking", "trim", "other", "nothing"
"""What a policy does to the list."""
SWITCHED = (SUMMARISE, NOTHING)
"""The edits of an agent that summarises, and can be told to do nothing."""
OWN_AGENT = "parametric"
"""The policy of an agent of one's own, which ships none."""
ASSUMED = frozenset({"usage"})
"""Parameters that say what a replay assumes, not what an agent does."""


class NotTokens(Exception):
    """An agent is configured in tokens, and the trigger counts something else: the message says what."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: when it compacts, what it does, what it keeps.

    ``trigger`` is in tokens of context, None where the trigger counts something else; ``above``: it fires over the
    trigger, not at it; ``unit`` is what the trigger counts in.  ``keep_*`` are None where the policy keeps nothing by
    that measure.  ``changed`` are the parameters that differ from what the policy starts with; ``own_window`` is the
    model's.  ``client`` names the recorded client that it starts with, where that is not the policy's default.
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
    client: str = ""

    @property
    def tokens(self) -> int:
        """The trigger; raises NotTokens where there is none."""
        if self.trigger is None:
            raise NotTokens(
                f"The trigger of {self.policy.name} counts {self.unit or 'something else'}, not tokens of context."
            )
        return self.trigger


@dataclass(frozen=True, slots=True)
class Rendering:
    """What an agent makes of a setting: the text of its configuration ("" where it has none for it).

    ``fires_at`` is where the agent then compacts, in tokens, None where that is not known; ``cannot`` says in words
    what it does not express.
    """

    text: str = ""
    fires_at: int | None = None
    cannot: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Configuration:
    """How an agent is configured: its file and language, where its keys are documented.

    ``checked`` is the day on which the keys were compared with ``source``; ``own`` are the policies whose settings it
    says exactly, each with the parameters that it has a key for; ``differs`` says in a sentence what any other becomes
    there.  ``make`` is asked of a setting whose edit is one of ``edits``, and may raise NotTokens; ``otherwise`` says
    why there is none for another.
    """

    file: str
    language: str
    source: str
    checked: str
    differs: str
    make: Callable[[Setting], Rendering]
    otherwise: str
    own: Mapping[str, Collection[str]] = field(default_factory=dict)
    edits: Collection[str] = (SUMMARISE,)


def built_in(setting: Setting, expressed: Collection[str]) -> tuple[str, ...]:
    """Changed parameters of an agent's own policy that the agent has no key for."""
    labels = {spec.name: spec for spec in parameters.specs(setting.policy.params)}
    unsaid = [name for name in setting.changed if name not in expressed and name not in ASSUMED]
    return tuple(
        f"{labels[name].label}: {worded(setting.changed[name])} {labels[name].unit}".rstrip() + " has no key; it is "
        "built in."
        for name in unsaid
    )


def worded(value: object) -> str:
    """A parameter's value in words."""
    return "none" if value is None else f"{value:,}" if isinstance(value, int | float) else str(value)
