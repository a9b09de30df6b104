"""Verdicts as the Why page shows them: the cause, how sure, what was seen against what was true, the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.engine.transcript.types import Transcript
from sessions.engine.why.case import COMPACTION, ERROR, MISSING
from sessions.engine.why.causes import WRONG_COUNT
from sessions.engine.why.steps import STEPS
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import message_place

if TYPE_CHECKING:
    from sessions.engine.why.causes import Evidence
    from sessions.engine.why.verdicts import Verdict

MOST_CARDS = 40
BAR_WIDTH = 280
WORDS = {COMPACTION: "compacted", ERROR: "refused", MISSING: "not compacted"}
BADGES = {COMPACTION: "", ERROR: "badge-warn", MISSING: "badge-warn"}
PIPS = {"certain": 3, "likely": 2, "possible": 1, "unknown": 0}
FAR = 1.1


@dataclass(frozen=True, slots=True)
class ScaleBar:
    """One figure to scale: ``width`` in pixels of ``BAR_WIDTH``; ``over`` where it is what the gate saw too much."""

    name: str
    words: str
    label: str
    width: float
    css: str


@dataclass(frozen=True, slots=True)
class Proof:
    """One row of evidence and the message that it stands at, "" where it names none."""

    text: str
    href: str
    place: str
    label: str


@dataclass(frozen=True, slots=True)
class Step:
    """One of the four steps of an account, and its rows."""

    name: str
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """One verdict; ``pips`` of three are filled, ``limit`` and ``track`` place threshold and window on the bars."""

    anchor: str
    words: str
    badge: str
    request: int
    n_requests: int
    href: str
    trigger: str
    cause: str
    wrong: bool
    because: str
    certainty: str
    pips: tuple[bool, bool, bool]
    bars: tuple[ScaleBar, ...]
    limit: float | None
    track: float
    threshold: int | None
    window: int
    proofs: tuple[Proof, ...]
    steps: tuple[Step, ...]


def build_cards(session_id: str, transcript: Transcript, verdicts: Sequence[Verdict]) -> tuple[Card, ...]:
    """The first forty verdicts in the order they came; the JSON has all."""
    base = reverse("sessions:session", args=[session_id])
    return tuple(_card(number, verdict, transcript, base) for number, verdict in enumerate(verdicts[:MOST_CARDS]))


def _card(number: int, verdict: Verdict, transcript: Transcript, base: str) -> Card:
    bars, limit, track = _bars(verdict)
    filled = PIPS[verdict.certainty]
    return Card(
        anchor=f"v-{number}",
        words=WORDS[verdict.what],
        badge=BADGES[verdict.what],
        request=verdict.request,
        n_requests=len(transcript.requests),
        href=message_place(base, _message(transcript, verdict.request)),
        trigger=verdict.trigger or "",
        cause=verdict.label,
        wrong=verdict.cause in WRONG_COUNT,
        because=verdict.because,
        certainty=verdict.certainty,
        pips=(filled > 0, filled > 1, filled > 2),
        bars=bars,
        limit=limit,
        track=track,
        threshold=verdict.threshold,
        window=verdict.window,
        proofs=tuple(_proof(row, transcript, base, verdict.request) for row in verdict.evidence),
        steps=_steps(verdict, transcript, base),
    )


def _steps(verdict: Verdict, transcript: Transcript, base: str) -> tuple[Step, ...]:
    rows = [(row.step, _proof(row, transcript, base, verdict.request)) for row in verdict.account]
    return tuple(Step(name, tuple(proof for of, proof in rows if of == step)) for step, name in STEPS.items())


def _message(transcript: Transcript, request: int | None) -> int | None:
    """The reply to a request, else the last message where the request was never answered."""
    if request is None or not transcript.messages:
        return None
    known = transcript.requests[request].message if request < len(transcript.requests) else None
    return known if known is not None else len(transcript.messages) - 1


def _proof(row: Evidence, transcript: Transcript, base: str, own: int) -> Proof:
    """A row without a link where it stands at the verdict's ``own`` request, which the card links already."""
    if row.message is not None:
        return Proof(row.text, message_place(base, row.message), f"message {row.message:,}", row.label)
    if row.request is not None:
        here = "" if row.request == own else message_place(base, _message(transcript, row.request))
        return Proof(row.text, here, f"request {row.request:,}", row.label)
    return Proof(row.text, "", "", row.label)


def _bars(verdict: Verdict) -> tuple[tuple[ScaleBar, ...], float | None, float]:
    """What the gate saw, what was true and the window, to one scale; the threshold as a place on it."""
    saw, true = verdict.saw, verdict.true
    most = max(saw or 0, true or 0, verdict.threshold or 0, verdict.window, 1)
    scale = BAR_WIDTH / most
    far = saw is not None and true is not None and saw > FAR * true
    bars = []
    if saw is not None:
        bars.append(_bar("counted", saw, verdict.saw_label, scale, "x" if far else "s"))
    if true is not None:
        bars.append(_bar("actual", true, verdict.true_label, scale, "t"))
    limit = None if verdict.threshold is None else round(verdict.threshold * scale, 1)
    return tuple(bars), limit, round(verdict.window * scale, 1)


def _bar(name: str, value: int, label: str, scale: float, css: str) -> ScaleBar:
    return ScaleBar(name, figures.count(value), label, round(max(value * scale, 1), 1), css)
