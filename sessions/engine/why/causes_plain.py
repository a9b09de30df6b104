"""The plain reasons: compacted by hand, or a threshold honestly reached.  Sizes are tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.why.case import COMPACTION, ERROR, MISSING, Candidate, Case, Evidence
from sessions.engine.why.causes import MANUAL, REACHED
from sessions.engine.why.causes_window import fitting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.agent import Threshold

CLOSE_TO, BLIND = 0.97, 0.8
"""An estimate this near to a threshold may be at it; one without any usage beside it is that much less exact."""
SOON = 3
"""Requests over a threshold that may pass before a gate is asked."""
USUAL = (0.7, 1.02)
"""Where agents whose trigger is not known compact, as shares of the window (policies 3)."""


def manual(case: Case) -> Iterable[Candidate]:
    """The recorder says so; where it says nothing, a compaction under every threshold while the agent was idle."""
    compaction, limit = case.compaction, case.threshold
    if compaction is None:
        return
    share = f"{100 * case.true / case.window:.0f} % of the window"
    if compaction.trigger == "manual":
        row = Evidence("The transcript records the trigger as manual", case.request, None, None, "", "recorded")
        yield Candidate(MANUAL, 1.0, "somebody asked for it", (row, case.true_row))
        return
    if compaction.trigger is None and limit is not None and max(case.true, case.saw or 0) < limit and case.is_idle:
        text = f"No trigger is recorded; at {share} it was under the threshold of {limit:,}, and the agent was idle"
        row = Evidence(text, case.request, None, limit, "tokens", "rule")
        # An estimate that nothing measured stands beside does not show that a threshold was not reached.
        score = 0.45 if _is_blind(case) else 0.6
        yield Candidate(
            MANUAL,
            score,
            "somebody asked for it: it came below the threshold while the agent was idle",
            (row, case.true_row),
        )


def reached(case: Case) -> Iterable[Candidate]:
    """What the gate saw, and the true size, are at or over a threshold of this harness that was not reached before."""
    if case.what == MISSING:
        return
    if case.switched and max(case.saw or 0, case.true) >= (case.threshold or case.window):
        size = f"the threshold of {case.usual:,}" if case.usual else f"all {case.window:,} tokens"
        because = f"the model had been changed to {case.model.name}, and the context had passed {size} of its window"
        yield Candidate(REACHED, 0.85, because, (*case.switch_rows, *case.size_rows))
        return
    if case.what == COMPACTION and case.weighed.transcript.errors and case.was_refused:
        fits = case.true >= 0.8 * (case.usual or case.window)
        because = "the provider had refused the request as too long"
        yield Candidate(REACHED, 0.9 if fits else 0.45, because, (case.true_row,))
        return
    if case.what == ERROR:
        return
    if case.is_spike and case.usual is not None and (case.counted or 0) >= case.usual > case.true:
        because = f"the provider's own usage, {case.counted:,} tokens, had reached {case.usual:,}"
        yield Candidate(REACHED, 0.45, because, case.size_rows)
        return
    figure = max(case.saw or 0, case.true)
    met = [one for one in case.thresholds if figure >= one.tokens >= case.peak_before]
    close = BLIND if case.said is not None and _is_blind(case) else CLOSE_TO
    passed = [one for one in case.thresholds if case.true >= close * one.tokens]
    threshold = max((one for one in met if one in passed), default=None)
    if threshold is not None:
        score = 0.95 if case.compaction and case.compaction.trigger == "auto" else 0.9
        yield _honest(case, threshold, _doubted(case, score))
    elif passed:
        late = max(passed)
        n = case.n_over(late.tokens)
        if n:
            score = 0.75 if n <= SOON or not case.is_asked(late.tokens) else 0.55
            yield _honest(case, late, _doubted(case, score), f"{n} requests before")
        else:
            because = f"{case.true:,} tokens had come within 3 % of the threshold of {late.tokens:,}"
            yield Candidate(REACHED, _doubted(case, 0.65), because, case.size_rows)
    elif case.assumed is None and case.thresholds and (found := fitting(case, figure, case.agent.windows, 0.04)):
        threshold, window = found
        because = f"{figure:,} tokens fit the threshold of a window of {window:,}; the model's is not known"
        yield Candidate(REACHED, 0.6, because, case.size_rows)
    elif case.agent.least_trigger is not None:
        yield from _server(case, case.agent.least_trigger)
    elif not case.thresholds:
        yield from _usual(case)


def _is_blind(case: Case) -> bool:
    """Whether no usage was reported since the compaction before: what was true is an estimate from the ground up."""
    return all(case.request_of(k).usage is None for k in case.run)


def _doubted(case: Case, score: float) -> float:
    """Less sure where the window is only assumed, or where a longer one may have been asked for."""
    if not case.window_is_known:
        return score - 0.2
    return score


def _honest(case: Case, threshold: Threshold, score: float, late: str = "") -> Candidate:
    """The threshold was reached."""
    figure = max(case.saw or 0, case.true)
    text = f"{threshold.name} is {threshold.tokens:,} tokens at a window of {case.window:,}"
    rows = (
        *case.size_rows,
        Evidence(text, case.request, None, threshold.tokens, "tokens", "rule"),
    )
    if late:
        because = f"the context had reached the threshold of {threshold.tokens:,} tokens {late}"
        return Candidate(REACHED, score, because, rows)
    return Candidate(REACHED, score, f"{figure:,} tokens had reached the threshold of {threshold.tokens:,}", rows)


def _server(case: Case, least: int) -> Iterable[Candidate]:
    """Server-side compaction: the request names its own trigger, ``least`` tokens or more."""
    figure = max(case.saw or 0, case.true)
    if figure >= least:
        because = f"{figure:,} tokens had reached the trigger that the request itself gives the API"
        yield Candidate(REACHED, 0.6, because, case.size_rows)


def _usual(case: Case) -> Iterable[Candidate]:
    low, high = USUAL
    measured = any(r.usage for r in case.weighed.transcript.requests)
    if measured and case.window_is_known and low * case.window <= case.true <= high * case.window:
        because = f"the context had reached {100 * case.true / case.window:.0f} % of the window"
        yield Candidate(REACHED, 0.55, because, (case.true_row,))
