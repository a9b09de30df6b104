"""Where a replay starts from: the client's settings, or the policy's own defaults (replay-semantics 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sessions.engine.agents.agent import NOTHING_KNOWN, KnownSetting, writer_of
from sessions.engine.base.errors import BadParameter
from sessions.engine.policies import params as parameters
from sessions.engine.policies.policy import Policy
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.policies.params import Spec

AS_RECORDED, DEFAULTS = "recorded", "defaults"
STARTS = (AS_RECORDED, DEFAULTS)


def starting(weighed: Weighed, policy: str, start: str = AS_RECORDED) -> KnownSetting:
    """The client's settings for this policy, none where it is not the client's or by defaults; raises BadParameter."""
    if start not in STARTS:
        raise BadParameter(f"start is one of {', '.join(STARTS)}, not {start!r}")
    facts = writer_of(weighed.transcript).facts.get(policy)
    return NOTHING_KNOWN if start == DEFAULTS or facts is None else facts.client(weighed.transcript)


def built(weighed: Weighed, policy: Policy, given: Mapping[str, object], start: str = AS_RECORDED) -> Any:
    """The policy's parameters: those given, over the client's settings, over its defaults; raises BadParameter."""
    return parameters.build(policy.params, {**starting(weighed, policy.name, start).params, **given})


def specs(weighed: Weighed, policy: Policy) -> tuple[Spec, ...]:
    """The policy's parameters, each with the default that it starts from here."""
    client = starting(weighed, policy.name).params
    known = parameters.specs(policy.params)
    return tuple(replace(s, default=client[s.name]) if s.name in client else s for s in known) if client else known


def as_recorded(weighed: Weighed, policy: Policy, window: int) -> str:
    """The client's threshold in words: "as recorded: threshold 155,000 (Claude Code 2.1.14)"; "" if not known."""
    client = starting(weighed, policy.name)
    if not client.words:
        return ""
    built = parameters.build(policy.params, client.params)
    gate = policy.asked(built, window, weighed.model, overhead=weighed.overhead)
    return f"as recorded: threshold {gate.threshold:,} ({client.words})"
