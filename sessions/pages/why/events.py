"""The table of a session's events: equal ones together, with what was counted, what was true, and a replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.agents.agent import writer_of
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.case import COMPACTION, ERROR
from sessions.engine.why.causes import WRONG_COUNT
from sessions.engine.why.headline import grouped
from sessions.pages.ui.addresses import session_urls
from sessions.pages.ui.causes import named_message
from sessions.runs.replay_state import own_state

if TYPE_CHECKING:
    from sessions.engine.why.headline import Group
    from sessions.engine.why.verdicts import Verdict
    from sessions.runs.overview import Overview

MOST = 40
NAMED = 6
"""Requests that a row names; the evidence below has all."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """Equal events; ``places`` are the requests named, each with the card of its evidence, "" where it has none."""

    group: Group
    words: str
    places: tuple[tuple[int, str], ...]
    n_more: int
    wrong: bool
    message: int | None
    href: str


def build_events(session_id: str, view: Overview, n_cards: int) -> tuple[EventRow, ...]:
    """The rows, the one of the headline first; ``n_cards`` verdicts have a card of their own below."""
    groups = grouped(view.verdicts, len(view.weighed.transcript.requests))
    return tuple(_row(session_id, view, group, n_cards) for group in groups[:MOST])


def _row(session_id: str, view: Overview, group: Group, n_cards: int) -> EventRow:
    shown = zip(group.requests[:NAMED], group.places[:NAMED], strict=True)
    return EventRow(
        group,
        words=_words(group.lead),
        places=tuple((request, f"#v-{place}" if place < n_cards else "") for request, place in shown),
        n_more=max(0, group.n - NAMED),
        wrong=group.lead.cause in WRONG_COUNT,
        message=named_message(group.lead),
        href=event_href(session_id, view.weighed, group.lead),
    )


def _words(verdict: Verdict) -> str:
    if verdict.what == COMPACTION:
        return {"auto": "auto-compacted", "manual": "manually compacted"}.get(verdict.trigger or "", "compacted")
    if verdict.what == ERROR:
        if verdict.is_stop:
            return "stopped by the agent"
        return "compaction failed" if verdict.is_attempt else "refused"
    return "not compacted"


def event_href(session_id: str, weighed: Weighed, verdict: Verdict) -> str:
    """The session's own agent at the event: along the recorded context where it compacted, else in full."""
    if not writer_of(weighed.transcript).policies:
        return ""
    base = "recorded" if verdict.what == COMPACTION else "full"
    at = verdict.request if verdict.request < len(weighed.transcript.requests) else None
    return session_urls(session_id).to_replay(own_state(weighed, base), request=at)
