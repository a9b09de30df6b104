"""The table of a session's events: equal ones together, with what was counted, what was true, and a replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.engine.why.case import COMPACTION, ERROR
from sessions.engine.why.causes import WRONG_COUNT
from sessions.engine.why.headline import grouped
from sessions.pages.ui.addresses import message_place
from sessions.pages.ui.causes import named_message
from sessions.pages.why.replays import event_href

if TYPE_CHECKING:
    from sessions.engine.why.headline import Group
    from sessions.engine.why.verdicts import Verdict
    from sessions.runs.overview import Overview

MOST = 40
NAMED = 6
"""Requests that a row names; the evidence below has all."""


@dataclass(frozen=True, slots=True)
class Place:
    """One request of a row: its number and the card of its evidence, "" where it has none."""

    request: int
    anchor: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """Equal events: how many tries, where, why, how sure; ``counted`` and ``actual`` are the first's, in tokens."""

    n: int
    words: str
    places: tuple[Place, ...]
    n_more: int
    cause: str
    wrong: bool
    because: str
    certainty: str
    change: str
    counted: int | None
    counted_label: str
    actual: int | None
    actual_label: str
    threshold: int | None
    message: int | None
    message_href: str
    href: str


def build_events(session_id: str, view: Overview, n_cards: int) -> tuple[EventRow, ...]:
    """The rows, the one of the headline first; ``n_cards`` verdicts have a card of their own below."""
    groups = grouped(view.verdicts, len(view.weighed.transcript.requests))
    return tuple(_row(session_id, view, group, n_cards) for group in groups[:MOST])


def _row(session_id: str, view: Overview, group: Group, n_cards: int) -> EventRow:
    lead = group.lead
    named = named_message(lead)
    base = reverse("sessions:session", args=[session_id])
    shown = zip(group.requests[:NAMED], group.places[:NAMED], strict=True)
    return EventRow(
        n=group.tries,
        words=_words(lead),
        places=tuple(Place(request, f"#v-{place}" if place < n_cards else "") for request, place in shown),
        n_more=max(0, group.n - NAMED),
        cause=lead.label,
        wrong=lead.cause in WRONG_COUNT,
        because=lead.because,
        certainty=lead.certainty,
        change=lead.change,
        counted=lead.saw,
        counted_label=lead.saw_label,
        actual=lead.true,
        actual_label=lead.true_label,
        threshold=lead.threshold,
        message=named,
        message_href=message_place(base, named) if named is not None else "",
        href=event_href(session_id, view.weighed, lead),
    )


def _words(verdict: Verdict) -> str:
    if verdict.what == COMPACTION:
        return {"auto": "auto-compacted", "manual": "manually compacted"}.get(verdict.trigger or "", "compacted")
    if verdict.what == ERROR:
        if verdict.is_stop:
            return "stopped by the agent"
        return "compaction failed" if verdict.is_attempt else "refused"
    return "not compacted"
