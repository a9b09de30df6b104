"""The replay that compacts by an agent's trigger, wherever a page offers one."""

from __future__ import annotations

from sessions.engine.agent import agents
from sessions.pages.ui.addresses import session_urls
from sessions.runs.replay_state import ReplayState

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
    """Its address, at ``request`` where one is given; "" where no policy has it."""
    state = trigger_state(name)
    return session_urls(session_id).to_replay(state, request=request) if state else ""
