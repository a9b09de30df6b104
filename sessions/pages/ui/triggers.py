"""The replay that compacts by an agent's trigger, wherever a page offers one."""

from __future__ import annotations

from sessions.engine.why.overcount import triggers
from sessions.pages.ui.addresses import session_urls
from sessions.runs.replay_state import ReplayState


def trigger_state(name: str) -> ReplayState:
    """The replay that compacts by this trigger; a session's own client's parameters are those that it starts from."""
    trigger = next(trigger for trigger in triggers() if trigger.name == name)
    params = tuple((param, str(value)) for param, value in sorted(trigger.params.items()))
    return ReplayState(policy=trigger.policy, estimator=trigger.counted_by, params=params)


def trigger_href(session_id: str, name: str, request: int | None) -> str:
    """Its address, at ``request`` where one is given."""
    return session_urls(session_id).to_replay(trigger_state(name), request=request)
