"""The replay that shows an event of the session at its own setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.agents.agent import writer_of
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.case import COMPACTION
from sessions.pages.ui.addresses import session_urls
from sessions.runs.replay_state import own_state

if TYPE_CHECKING:
    from sessions.engine.why.verdicts import Verdict


def event_href(session_id: str, weighed: Weighed, verdict: Verdict) -> str:
    """The session's own agent at the event: along the recorded context where it compacted, else in full."""
    if not writer_of(weighed.transcript).policies:
        return ""
    base = "recorded" if verdict.what == COMPACTION else "full"
    at = verdict.request if verdict.request < len(weighed.transcript.requests) else None
    return session_urls(session_id).to_replay(own_state(weighed, base), request=at)
