"""What the Why page shows of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions.engine.why.document import why_of
from sessions.pages.why.aftermath import AftermathTable, build_aftermath
from sessions.pages.why.events import Card, EventRow, build_cards, build_events
from sessions.pages.why.fit import FitView, build_fit
from sessions.pages.why.over_counts import OverCountView, build_over_counts
from sessions.pages.why.recorded import RecordedView, build_recorded
from sessions.runs.overview import Overview, overview


@dataclass(frozen=True, slots=True)
class WhyView:
    """Everything that ``sessions/why/page.html`` shows."""

    events: tuple[EventRow, ...]
    aftermath: AftermathTable
    cards: tuple[Card, ...]
    gates: OverCountView
    fit: FitView
    recorded: RecordedView | None


def why_view(session_id: str, view: Overview) -> WhyView:
    """The page's content, made once per view."""
    return view.once("why", lambda: _built(session_id, view))


def work_out(session_id: str) -> None:
    """Work out and keep all that the page shows of a long session, before anybody visits it."""
    view = overview(session_id)
    why_view(session_id, view)
    view.keep()


def _built(session_id: str, view: Overview) -> WhyView:
    cards = build_cards(view.weighed.transcript, view.verdicts)
    return WhyView(
        events=build_events(session_id, view, len(cards)),
        aftermath=build_aftermath(session_id, view),
        cards=cards,
        gates=build_over_counts(session_id, view),
        fit=build_fit(view),
        recorded=build_recorded(session_id, view.comparison),
    )


def why_document(view: Overview) -> dict[str, Any]:
    """``ctxweb.why/1`` of the session alone: its headline, every verdict, every gate, the fit."""
    entry = why_of(view.weighed, view.verdicts, view.gates)
    return {"schema": "ctxweb.why/1", "format": view.weighed.transcript.format, "sessions": [entry]}
