"""``ctxweb.why/1``: the verdicts of a session, and the gates of known harnesses laid over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sessions.engine.agents.agent import Trigger
from sessions.engine.base.words import counted
from sessions.engine.transcript.types import Label, Parsed
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.fit import fit_document
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.causes import Evidence
from sessions.engine.why.culprits import Culprit
from sessions.engine.why.falls import fall_document
from sessions.engine.why.headline import group_document, grouped, headline_of
from sessions.engine.why.overcount import FALSE, LATE, Firing, GateResult, OverCount, over_count
from sessions.engine.why.shared import shared_facts
from sessions.engine.why.verdicts import Verdict, verdict_document, verdicts_of

VERDICTS, OVER_COUNT = (Verdict, Evidence), (OverCount, GateResult, Firing, Culprit, Label, Trigger)
"""The classes that what is kept of a session's verdicts and triggers is made of (``columns``)."""


def why_document(parsed: Parsed, *, window: int | None = None) -> dict[str, Any]:
    """``ctxweb.why/1`` of a parsed file; ``window`` in tokens replaces that of every session for the gates."""
    return {
        "schema": "ctxweb.why/1",
        "format": parsed.format,
        "sessions": [session_why(weigh(transcript), window=window) for transcript in parsed.transcripts],
    }


def session_why(weighed: Weighed, *, window: int | None = None) -> dict[str, Any]:
    """One entry of ``sessions[]``."""
    return why_of(weighed, verdicts_of(weighed), over_count(weighed, window=window))


def why_of(weighed: Weighed, verdicts: Sequence[Verdict], over: OverCount) -> dict[str, Any]:
    """The same from verdicts and gates that are known already."""
    return story_of(weighed, verdicts) | gates_of(over) | {"fit": fit_document(weighed)}


def story_of(weighed: Weighed, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """What happened and why, without what triggers would do."""
    lead = asdict(headline_of(weighed, verdicts))
    return {
        "id": weighed.transcript.id,
        "title": weighed.transcript.title,
        "headline": lead["text"],
        "lead": lead,
        "events": [group_document(group) for group in grouped(verdicts, len(weighed.transcript.requests))],
        "verdicts": [verdict_document(verdict) for verdict in verdicts],
        "falls": [fall_document(fall) for fall in shared_facts(weighed).falls],
    }


def gates_of(over: OverCount) -> dict[str, Any]:
    """What the triggers of known agents would do, at which window."""
    return {
        "window": over.window,
        "window_source": over.window_source,
        "stub_tokens": over.stub_tokens,
        "gates": [gate_document(result) for result in over.results],
    }


def gate_document(result: GateResult) -> dict[str, Any]:
    """One entry of ``gates[]``: the threshold in tokens, measures in ``unit``, references in display tokens."""
    gate = result.gate
    return {
        **{name: getattr(gate, name) for name in ("name", "label", "source", "estimator")},
        "uses": result.counts,
        **{name: getattr(result, name) for name in ("operator", "threshold", "unit")},
        "note": gate.note,
        "summary": summary(result),
        "n_firings": len(result.firings),
        "n_false": result.count(FALSE),
        "n_late": result.count(LATE),
        "n_for_media": result.n_for_media,
        "stopped": result.stopped,
        "firings": [_firing(firing) for firing in result.firings],
        "missed": None if result.missed is None else _firing(result.missed),
        "withheld": None if result.withheld is None else gate_document(result.withheld),
    }


def _firing(firing: Firing) -> dict[str, Any]:
    facts = asdict(firing) | {"reference_label": firing.reference_label.value}
    del facts["culprits"]
    return facts | {"culprits": [_culprit(culprit, firing) for culprit in firing.culprits]}


def _culprit(culprit: Culprit, firing: Firing) -> dict[str, Any]:
    factor = culprit.factor
    return {
        "message": culprit.message,
        "size": culprit.size,
        "tokens": culprit.tokens,
        "factor": None if factor is None else round(factor, 2),
        "has_media": culprit.has_media,
        "tested": culprit.tested,
        "without": culprit.without,
        "sentence": without_sentence(culprit, firing),
    }


def without_sentence(culprit: Culprit, firing: Firing) -> str:
    """What leaving a message out would change about the firing; "" where that was not tried."""
    if not culprit.tested:
        return ""
    message, without = culprit.message, culprit.without
    if without is None:
        return f"Without message {message} it would never fire."
    if without == firing.request:
        return f"Removing message {message} changes nothing."
    return f"Without message {message} it would fire {counted(without - firing.request, 'request')} later."


def summary(result: GateResult) -> str:
    """What a trigger does on the session, in a sentence or two."""
    label, n = result.gate.label, len(result.firings)
    said = f"{label} would {f'compact {n} times' if n > 1 else 'compact once' if n else 'not compact'}"
    said = ", ".join([said, *_details(result)])
    if result.stopped is not None:
        said += f", and stop at request {result.stopped:,}: full again at every request"
    if result.missed is not None:
        said += f". Missed at request {result.missed.request:,}, where the context passed its threshold"
    return f"{said}."


def _details(result: GateResult) -> list[str]:
    """How many of the firings were wrong, and how."""
    n, false = len(result.firings), result.count(FALSE)
    counts = (
        (result.n_for_media, "for images or documents alone"),
        (false - result.n_for_media, "with the context under its threshold"),
        (result.count(LATE), "late"),
    )
    return [
        words if n == 1 else f"{'all' if count == n else count} of them {words}" for count, words in counts if count
    ]
