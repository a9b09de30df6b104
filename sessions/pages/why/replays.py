"""The replay that shows a trigger, or an event of the session, at its own setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.agent import agents, writer_of
from sessions.engine.why.case import COMPACTION
from sessions.pages.ui.addresses import session_urls
from sessions.runs.replay_state import ReplayState, own_state

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.why.verdicts import Verdict

OTHERS = {
    "opencode_v2": ReplayState(policy="opencode_compaction_v2"),
    "cline": ReplayState(policy="cline_basic"),
    "buzz_wire": ReplayState(policy="buzz_handoff", estimator="wire_bytes"),
    "chars_per_4": ReplayState(policy="parametric", estimator="chars_per_4", params=(("share", "90"),)),
}
"""Triggers that are not those of their agent's first policy."""


def trigger_state(name: str) -> ReplayState | None:
    """The replay that compacts by this trigger; None where no policy has it."""
    if name in OTHERS:
        return OTHERS[name]
    agent = next((a for a in agents() if any(trigger.name == name for trigger in a.triggers)), None)
    return ReplayState(policy=agent.policies[0]) if agent and agent.policies else None


def trigger_href(session_id: str, name: str, request: int | None) -> str:
    """Its address, at the request where the trigger fires first; "" where no policy has it."""
    state = trigger_state(name)
    return session_urls(session_id).to_replay(state, request=request) if state else ""


def event_href(session_id: str, weighed: Weighed, verdict: Verdict) -> str:
    """The session's own agent at the event: along the recorded context where it compacted, else in full."""
    if not writer_of(weighed.transcript).policies:
        return ""
    base = "recorded" if verdict.what == COMPACTION else "full"
    at = verdict.request if verdict.request < len(weighed.transcript.requests) else None
    return session_urls(session_id).to_replay(own_state(weighed, base), request=at)
