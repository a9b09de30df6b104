"""The replay lab's results: chart, totals, events, the chosen event in short."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.utils.safestring import SafeString

from sessions.engine.base import registry
from sessions.engine.costs.cost_report import cost_sentences, span
from sessions.engine.policies.policy import Gate
from sessions.engine.quality.thrash import RAPID_REQUESTS, Refill, refills
from sessions.engine.replays.events import LayerResult
from sessions.engine.replays.replay import Replay
from sessions.engine.replays.walk import Attempt
from sessions.models import Session
from sessions.pages.replay.step import StepView, build_step
from sessions.pages.ui.addresses import Urls, session_urls
from sessions.pages.ui.before_after import BeforeAfter, before_after
from sessions.pages.ui.chart import figure_json
from sessions.pages.ui.figures import sign
from sessions.pages.ui.results import (
    TotalsRow,
    depends,
    gate_words,
    is_false_alarm,
    saw_of,
    says,
    totals_table,
    weakest_label,
)
from sessions.pages.ui.saw import GateLane, saw_figure
from sessions.runs import losses, replays
from sessions.runs.replay_state import ReplayState

FAR = 0.25
"""Share of the window by which measure and context differ before the gate's lane shows itself."""


@dataclass(frozen=True, slots=True)
class ChosenEvent:
    """The chosen event, a ``row`` of the list: where the cache breaks, and what became of its messages and its room.

    ``layers`` that took effect, with their gates in words, add up to ``freed_tokens``; ``grown`` are the kinds of block
    that filled its room with their tokens, largest first.
    """

    row: EventRow
    first_changed: int | None
    n_before: int
    n_after: int
    summary: str
    overhead: int
    diff_href: str
    tokens_label: str
    overhead_label: str
    weak_label: str
    layers: tuple[tuple[LayerResult, str], ...]
    freed_tokens: int
    grown: tuple[tuple[str, int], ...]
    other_tokens: int
    groups: BeforeAfter


@dataclass(frozen=True, slots=True)
class ReplayView:
    """Everything that ``sessions/replay/_view.html`` shows."""

    urls: Urls
    figure: SafeString
    label: str
    totals: tuple[TotalsRow, ...]
    cost: tuple[str, ...]
    events: tuple[EventRow, ...]
    n_events: int
    chosen: ChosenEvent | None
    request: int | None
    request_tokens: int | None
    request_label: str
    before_href: str
    after_href: str
    gate_words: str
    gate_shown: bool
    gate_href: str
    threshold: int | None
    unit: str
    window: int
    quiet: str
    warnings: tuple[str, ...]
    error: str
    says: str
    step: StepView | None = None
    failures: FailedEdits | None = None
    rug: str = ""

    @property
    def has_headroom(self) -> bool:
        """Whether any listed event's gate measures tokens, so that room to its threshold can be told."""
        return any(event.refill.headroom_tokens is not None for event in self.events)


def build_replay(
    session: Session, state: ReplayState, urls: Urls | None = None, *, steering: bool = False
) -> ReplayView:
    """The results of a state; ``urls`` leads elsewhere than the session's own pages where a link is shown.

    ``steering``: a hand is on a slider, and the list sent at a request is asked for once it rests.
    """
    urls = urls or session_urls(session.pk)
    ran = replays.run(session.pk, state)
    replay = ran.replay
    number = min(state.event or 0, len(replay.events) - 1) if replay.events else None
    gate = _lane(replay, state)
    lost = losses.of_replay(session, replay)
    request = _request(replay, state, number)
    last = max(len(replay.context_tokens) - 1, 0)
    tokens = replay.context_tokens[request] if request is not None else None
    label = replay.labels[request] if request is not None else None
    sample = next((g for g in reversed(replay.gates) if g is not None), None)
    words = f"{sign(sample.operator)} {sample.threshold:,} {sample.unit}" if sample else ""
    rows = _event_rows(replay, number, urls, state, lost)
    return ReplayView(
        urls=urls,
        figure=figure_json(saw_figure(saw_of(session.pk, ran, number, gate, lost))),
        label=weakest_label(replay.labels),
        totals=totals_table(session.pk, ran, (lost, losses.of_recording(session))),
        cost=(*cost_sentences(replays.recording(session.pk).cost), *_error(ran)),
        events=rows,
        rug=_rug_words(lost),
        n_events=len(replay.events),
        chosen=next((_chosen(replay, row, urls, state, lost) for row in rows if row.chosen), None),
        request=request,
        request_tokens=tokens,
        request_label=str(label) if label else "",
        before_href=urls.to_replay(state, request=max((request or 0) - 1, 0), at=None),
        after_href=urls.to_replay(state, request=min((request or 0) + 1, last), at=None),
        gate_words=words,
        gate_shown=gate is not None,
        gate_href=urls.to_replay(state, gate="off" if gate is not None else "on"),
        threshold=sample.threshold if sample and replay.policy.name != "none" else None,
        unit=sample.unit if sample else "",
        window=replay.window,
        quiet=replays.why_no_event(replay),
        warnings=replay.warnings,
        error=ran.error,
        says=says(ran.totals),
        failures=failures(replay, urls, state),
        step=None if steering or not urls.step else build_step(session.pk, replay, state, request),
    )


def _error(ran: replays.ReplayRun) -> tuple[str, ...]:
    """How far off the estimate of this replay's cost may be, as a sentence; () without a price."""
    return () if ran.around is None else (f"This replay with the estimate's own error: {span(*ran.around)}.",)


def _request(replay: Replay, state: ReplayState, number: int | None) -> int | None:
    """The request selected: the state's, else the chosen event's, else none."""
    if state.request is not None and replay.context_tokens:
        return min(state.request, len(replay.context_tokens) - 1)
    return replay.events[number].request if number is not None else None


def _lane(replay: Replay, state: ReplayState) -> GateLane | None:
    """The gate's own lane: asked for, or needed because what it measures is not the context."""
    last = next((gate for gate in reversed(replay.gates) if gate is not None), None)
    if last is None or replay.policy.name == "none" or state.gate == "off":
        return None
    far = any(
        gate.unit != "tokens" or abs(gate.measure - (tokens or 0)) > FAR * replay.window
        for gate, tokens in zip(replay.gates, replay.context_tokens, strict=True)
        if gate is not None and (not gate.fires or gate.measure > (1 + FAR) * replay.window)
    )
    if not far and state.gate != "on":
        return None
    estimator = registry.get("estimators", replay.estimator)
    fired = [event.request for event in replay.events]
    measures = [None if gate is None else gate.measure for gate in replay.gates]
    return GateLane(measures, last.threshold, last.unit, f"with {estimator.label}", fired)


def _rug_words(lost: losses.Losses | None) -> str:
    if lost is None:
        return ""
    n = len({request for one in lost.events if not one.is_open for request in one.uses})
    gone = f"{n:,} later {'request uses' if n == 1 else 'requests use'} what is lost" if n else ""
    return "; ".join(words for words in (gone, depends(lost.n_open)) if words)


def _chosen(replay: Replay, row: EventRow, urls: Urls, state: ReplayState, lost: losses.Losses | None) -> ChosenEvent:
    number = row.number
    event, loss = replay.events[number], lost.of(number) if lost else None
    kinds = [(kind, tokens) for kind, tokens in row.refill.regrew.items() if tokens]
    return ChosenEvent(
        row=row,
        first_changed=event.first_changed_message,
        n_before=event.n_before,
        n_after=event.n_after,
        summary=event.summary_source,
        overhead=replay.weighed.overhead,
        diff_href=urls.to_diff(state, event=number, request=None, rows=None, layout="groups"),
        tokens_label=weakest_label(replay.labels),
        overhead_label=str(replay.weighed.overhead_label),
        weak_label=str(replay.weighed.weak_label),
        layers=tuple((one, gate_words(one.gate)) for one in event.layers) if len(replay.policy.pipeline) > 1 else (),
        freed_tokens=event.before_tokens - event.after_tokens,
        grown=tuple(kinds[:MOST_KINDS]),
        other_tokens=sum(tokens for _, tokens in kinds[MOST_KINDS:]),
        groups=before_after(replay, number, loss, losses.likely_words(replay.weighed, loss)),
    )


MOST_EVENTS = 60
MOST_ATTEMPTS = 20
MOST_KINDS = 3
STOPS = re.compile(r"request (\d+): ((?:breaker|thrash guard): .+); the policy stops$")


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event of the list, ``number`` 0-based as in the JSON: its trigger, and what became of the room it made.

    ``false_tokens`` is what the context truly held where the trigger fired falsely; ``n_rules`` and ``n_gone`` are
    what it lost, ``n_broken`` at how many requests a lost rule was broken, ``depends`` says what only the summary's
    text could tell.
    """

    number: int
    request: int
    before: int
    after: int
    kept: int
    edited: int
    dropped: int
    inserted: int
    chosen: bool
    href: str
    gate: Gate
    fires: str
    refill: Refill
    thrashing: str
    false_tokens: int | None
    n_rules: int
    n_gone: int
    n_broken: int
    depends: str


@dataclass(frozen=True, slots=True)
class FailedEdits:
    """All failed attempts: the first with their layers and replays, how many, why the policy stopped, and where."""

    shown: tuple[tuple[Attempt, str, str], ...]
    n_failed: int
    n_calls: int
    stopped: str
    request: int | None


def _event_rows(
    replay: Replay, number: int | None, urls: Urls, state: ReplayState, lost: losses.Losses | None = None
) -> tuple[EventRow, ...]:
    """The events listed: all, or the sixty around the chosen one."""
    n = len(replay.events)
    start = min(max((number or 0) - MOST_EVENTS // 2, 0), max(n - MOST_EVENTS, 0))
    found = refills(replay)
    shown = range(start, min(start + MOST_EVENTS, n))
    return tuple(_row(replay, found[k], urls, state, lost, chosen=k == number) for k in shown)


def _row(
    replay: Replay, refill: Refill, urls: Urls, state: ReplayState, lost: losses.Losses | None, *, chosen: bool
) -> EventRow:
    event = replay.events[refill.event]
    one = lost.of(event.index) if lost else None
    return EventRow(
        event.index, event.request, event.before_tokens, event.after_tokens, event.kept, event.edited, event.dropped,
        event.inserted, chosen, urls.to_replay(state, event=event.index, request=None), event.gate,
        gate_words(event.gate), refill, _thrashing_words(refill),
        false_tokens=event.before_tokens if is_false_alarm(event, replay.window) else None,
        n_rules=len(one.rules) if one else 0,
        n_gone=one.n_gone if one else 0,
        n_broken=len(one.broken) if one else 0,
        depends=depends(one.n_open) if one else "",
    )  # fmt: skip


def _thrashing_words(refill: Refill) -> str:
    """Why an event was futile, "" where it was not."""
    if not refill.futile:
        return ""
    if refill.headroom_tokens is not None and refill.headroom_tokens <= 0:
        return "Thrashing: still over the threshold"
    return f"Thrashing: compacted again within {RAPID_REQUESTS} requests"


def failures(replay: Replay, urls: Urls, state: ReplayState) -> FailedEdits | None:
    """The failed attempts, and whether they or thrashing stopped the policy; None where there is neither."""
    stop = next((found for text in replay.warnings if (found := STOPS.match(text))), None)
    if not replay.attempts and stop is None:
        return None
    labels = {layer.name: layer.label or layer.name for layer in replay.policy.pipeline}
    shown = tuple(
        (
            attempt, labels.get(attempt.layer, attempt.layer), urls.to_replay(state, request=attempt.request, at=None)
        )
        for attempt in replay.attempts[:MOST_ATTEMPTS]
    )  # fmt: skip
    n_calls = sum(attempt.summary_calls for attempt in replay.attempts)
    stopped, request = (stop[2], int(stop[1])) if stop else ("", None)
    return FailedEdits(shown, len(replay.attempts), n_calls, stopped, request)
