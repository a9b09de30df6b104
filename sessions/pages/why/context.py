"""What the Why page shows of a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sessions.engine.quality.baseline import own_policy
from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.case import COMPACTION, ERROR, MISSING
from sessions.engine.why.causes import WRONG_COUNT, Evidence
from sessions.engine.why.document import why_of
from sessions.engine.why.headline import Group, grouped
from sessions.engine.why.steps import STEPS
from sessions.engine.why.verdicts import Verdict
from sessions.pages.ui.addresses import session_urls
from sessions.pages.ui.causes import named_message
from sessions.pages.why.aftermath import AftermathTable, RecordedView
from sessions.pages.why.fit import FitView
from sessions.pages.why.over_counts import OverCountView
from sessions.runs.overview import Overview, overview
from sessions.runs.replay_state import own_state

Bar = tuple[str, int, str, float, str]


class WhyView:
    """Everything that ``sessions/why/page.html`` shows."""

    def __init__(self, session_id: str, view: Overview) -> None:
        # In the order they came; the JSON has all.
        self.cards = [Card(verdict, view.weighed.transcript) for verdict in view.verdicts[:MOST_CARDS]]
        groups = grouped(view.verdicts, len(view.weighed.transcript.requests))  # that of the headline first
        self.events = [EventRow(session_id, view, group, len(self.cards)) for group in groups[:MOST]]
        self.aftermath = AftermathTable(session_id, view)
        self.gates, self.fit = OverCountView(session_id, view), FitView(view)
        self.recorded = RecordedView(session_id, view.comparison) if view.comparison else None


def why_view(session_id: str, view: Overview) -> WhyView:
    """The page's content, made once per view."""
    return view.once("why", lambda: WhyView(session_id, view))


def work_out(session_id: str) -> None:
    """Work out and keep all that the page shows of a long session, before anybody visits it."""
    view = overview(session_id)
    why_view(session_id, view)
    view.keep()


def why_document(view: Overview) -> dict[str, Any]:
    """``ctxweb.why/1`` of the session alone: its headline, every verdict, every gate, the fit."""
    entry = why_of(view.weighed, view.verdicts, view.gates)
    return {"schema": "ctxweb.why/1", "format": view.weighed.transcript.format, "sessions": [entry]}


MOST = 40
NAMED = 6
"""Requests that a row names; the evidence below has all."""


class EventRow:
    """Equal events; ``places`` are the requests named, each with the card of its evidence, "" where it has none."""

    def __init__(self, session_id: str, view: Overview, group: Group, n_cards: int) -> None:
        shown = zip(group.requests[:NAMED], group.places[:NAMED], strict=True)
        self.group, self.words = group, _words(group.lead)
        self.places = [(request, f"#v-{place}" if place < n_cards else "") for request, place in shown]
        self.n_more = max(0, group.n - NAMED)
        self.wrong, self.message = group.lead.cause in WRONG_COUNT, named_message(group.lead)
        self.href = event_href(session_id, view.weighed, group.lead)


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
    if not own_policy(weighed):
        return ""
    base = "recorded" if verdict.what == COMPACTION else "full"
    at = verdict.request if verdict.request < len(weighed.transcript.requests) else None
    return session_urls(session_id).to_replay(own_state(weighed, base), request=at)


MOST_CARDS = 40
BAR_WIDTH = 280
WORDS = {COMPACTION: "compacted", ERROR: "refused", MISSING: "not compacted"}
PIPS = {"certain": 3, "likely": 2, "possible": 1, "unknown": 0}
FAR = 1.1


class Proof:
    """One row of evidence and the message that it stands at, None where it names none.

    It has no link where it stands at the verdict's ``own`` request, which the card links already.
    """

    def __init__(self, row: Evidence, transcript: Transcript, own: int) -> None:
        self.text, self.label, self.message, self.place = row.text, row.label, row.message, ""
        if row.message is not None:
            self.place = f"message {row.message:,}"
        elif row.request is not None:
            self.message = None if row.request == own else _message(transcript, row.request)
            self.place = f"request {row.request:,}"


class Card:
    """One verdict; ``pips`` of three are filled, ``limit`` and ``track`` place threshold and window on the bars.

    A bar is its name, tokens, label, pixels of ``BAR_WIDTH`` and class.  ``steps`` are the four of its account by
    name, each with its rows; ``at_end``: it came after the last request.
    """

    def __init__(self, verdict: Verdict, transcript: Transcript) -> None:
        def proofs(rows: Iterable[Evidence]) -> list[Proof]:
            return [Proof(row, transcript, verdict.request) for row in rows]

        self.verdict, self.words = verdict, WORDS[verdict.what]
        self.at_end = verdict.request >= len(transcript.requests)
        self.message = _message(transcript, verdict.request)
        self.wrong = verdict.cause in WRONG_COUNT
        self.pips = [PIPS[verdict.certainty] > pip for pip in range(3)]
        self.bars, self.limit, self.track = _bars(verdict)
        self.proofs = proofs(verdict.evidence)
        self.steps = [
            (name, proofs(row for row in verdict.account if row.step == step)) for step, name in STEPS.items()
        ]


def _message(transcript: Transcript, request: int | None) -> int | None:
    """The reply to a request, else the last message where the request was never answered."""
    if request is None or not transcript.messages:
        return None
    known = transcript.requests[request].message if request < len(transcript.requests) else None
    return known if known is not None else len(transcript.messages) - 1


def _bars(verdict: Verdict) -> tuple[tuple[Bar, ...], float | None, float]:
    """What the gate saw, what was true and the window, to one scale; the threshold as a place on it."""
    saw, true = verdict.saw, verdict.true
    most = max(saw or 0, true or 0, verdict.threshold or 0, verdict.window, 1)
    scale = BAR_WIDTH / most
    far = saw is not None and true is not None and saw > FAR * true
    figures = (("counted", saw, verdict.saw_label, "x" if far else "s"), ("actual", true, verdict.true_label, "t"))
    bars = [
        (name, value, label, round(max(value * scale, 1), 1), css)
        for name, value, label, css in figures
        if value is not None
    ]
    limit = None if verdict.threshold is None else round(verdict.threshold * scale, 1)
    return tuple(bars), limit, round(verdict.window * scale, 1)
