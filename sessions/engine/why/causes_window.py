"""The wrong window, or the wrong share of it: what a count was held against.  Sizes are tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.engine.agents.agent import USUAL_WINDOWS
from sessions.engine.transcript.types import Label
from sessions.engine.weigh.calibration.context_windows import CLIENT, RECORDED
from sessions.engine.why.account import COUNTED, FILLED, PASSED, SETTING, Explanation, Fact
from sessions.engine.why.causes import CAUSES, REACHED, SWITCH, WINDOW
from sessions.engine.why.shared import thresholds_of

if TYPE_CHECKING:
    from sessions.engine.agents.agent import Threshold
    from sessions.engine.why.case import Case

OPT_IN, OPT_IN_CLAUDE = 272_000, 200_000
"""Tokens: larger windows of models are asked for (policies 6.1), or agents work with less (policies 15)."""

LARGER = "Set a larger window in the agent, if the provider takes it."
SET_WINDOWS = tuple(range(100_000, 1_000_000, 50_000))
"""Windows that people set, and that clients were seen to work with (150,000 and 500,000 of 1,000,000)."""
ANSWERED = 1.2
"""Times a recorded window from which an answered context shows that it is wrong."""
AT_ONCE = 2
"""Requests within which a compaction came right after another."""
CLOSE_TO, MUCH_LARGER = 0.9, 2
"""Share of a threshold from which it may be the one; times a figure from which an earlier one shows another."""
CLOSE_BY = 0.04
"""Share of a threshold by which one request may pass it."""
AT = 0.003
"""Overshoot of a threshold, as a share of it, that no neighbouring setting explains as well."""


def fitting(
    case: Case, figure: int, windows: Iterable[int], share: float, *, step: bool = True
) -> tuple[Threshold, int] | None:
    """The threshold of another window that was first reached here, overshot by a ``share`` at most, or one ``step``."""
    near = [
        (figure - one.tokens, one, window)
        for window in windows
        if window < 0.95 * case.window or not case.window_is_known
        for model in (case.model, replace(case.model, window=window, input_limited=True))
        for one in thresholds_of(case.weighed.transcript, window, model)[:1]
        if (0 if case.said is not None and case.is_blind else case.peak_before)
        < one.tokens
        <= figure
        <= one.tokens + max(share * one.tokens, _overshoot(case) if step else 0)
    ]
    return min(near, key=lambda one: one[0])[1:] if near else None


def _overshoot(case: Case) -> int:
    """By how much the context grew since the gate was asked before, as far as that is less than a tenth of it."""
    growth = max(0, case.true - (case.peak_before or case.true))
    return growth if growth <= 0.1 * case.true else 0


def small_window(case: Case) -> Iterable[Explanation]:
    """A recorded window far under what its model takes: 272,000 at most, for larger ones are opt-in; no variant's."""
    transcript, model, limit = case.weighed.transcript, case.model, case.threshold
    usual = min(model.window, OPT_IN_CLAUDE if model.family == "claude" else OPT_IN)
    most = case.shared.runs.most
    if transcript.window == case.window and most > ANSWERED * case.window:
        row = case.row(f"The transcript records a window of {case.own_window:,} tokens; {most:,} were answered", most)
        because = f"the agent took {case.own_window:,} tokens for the window, and {most:,} were answered"
        yield Explanation(WINDOW, FILLED | Fact.CHANGE | Fact.FLOOR | Fact.TIMING, because, (row,))
        return
    if transcript.window != case.window or not model.known or model.note or limit is None:
        return
    if transcript.window > 0.75 * usual or case.larger < limit:
        return
    text = f"The transcript records a window of {transcript.window:,} tokens; {model.name} takes {usual:,}"
    row = case.row(text, transcript.window)
    because = f"the agent used a window of {transcript.window:,} tokens; the model's is {usual:,}"
    yield Explanation(WINDOW, FILLED | Fact.CHANGE, because, (row,), (SETTING,))


def fallen_window(case: Case) -> Iterable[Explanation]:
    """The recorded window fell within the session though the model stayed the same (verdicts 3.35)."""
    before, now = case.agent.own_window(case.shared.windows_until[case.position]), case.own_window
    if case.trigger == "manual" or case.held.source != RECORDED or before < MUCH_LARGER * now:
        return
    if {case.request_of(k).model for k in range(case.position)} - {"", case.model.name}:
        return
    row = case.row(f"The transcript records a window of {before:,} tokens, then one of {now:,}", now)
    because = f"the recorded window fell from {before:,} to {now:,} tokens while the model stayed {case.model.name}"
    yield Explanation(WINDOW, FILLED | Fact.CHANGE, because, (row,), advice=LARGER)


def smaller_later(case: Case) -> Iterable[Explanation]:
    """It came by itself far under what was answered, and compacted at, earlier in the session (verdicts 3.35)."""
    figure, previous = case.saw, case.previous
    if case.trigger != "auto" or not figure or previous is None or case.switched:
        return
    if len(case.run) <= AT_ONCE or (case.usual is not None and figure >= CLOSE_TO * case.usual):
        # Right after another it goes by what it counted before that one.
        return
    model, requests, labels = case.model.name, case.weighed.transcript.requests, case.weighed.recorded.labels
    contexts = enumerate(case.shared.runs.contexts[: case.run.start])
    before = max((size for k, size in contexts if labels[k] is Label.MEASURED), default=0)
    at = max((c.tokens_before or 0 for c in case.weighed.transcript.compactions[: case.number]), default=0)
    if min(before, at) < MUCH_LARGER * figure:
        return
    names = {requests[step.request].model for step in case.weighed.steps[: case.position]} - {"", model}
    row = case.row(f"{before:,} tokens were answered before, and an earlier compaction came at {at:,}", before)
    because = f"{figure:,} tokens, where {before:,} were answered before and an earlier compaction came at {at:,}"
    because += ": it went by a smaller window or a lower threshold this time"
    left = (SETTING, CAUSES[SWITCH]) if names else (SETTING,)
    yield Explanation(WINDOW, COUNTED, because, (row,), left)


def wrong_window(case: Case) -> Iterable[Explanation]:
    """The gate held the context against another window, or against the wrong share of it."""
    figure, limit = case.said or case.larger, case.threshold
    if limit is None or figure >= limit or case.true < 0.6 * figure or case.assumed is None:
        return
    if case.trigger == "manual" or case.weighed.transcript.window == case.window:
        # The agent itself wrote down the window that it worked with.
        return
    found = fitting(case, figure, case.agent.windows, CLOSE_BY) or fitting(case, figure, SET_WINDOWS, AT, step=False)
    if found:
        threshold, window = found
        would = f"{threshold.name} would be {threshold.tokens:,} at a window of {window:,}"
        text = f"{would}; the session's is {case.window:,}"
        rows = (case.row(text, threshold.tokens, label="rule"),)
        if case.held.source == CLIENT and window in case.agent.windows:
            # Only a table says what the client takes the model for: this is another window of its own.
            because = f"{figure:,} tokens passed {threshold.name}, {threshold.tokens:,} at a window of {window:,}"
            yield Explanation(REACHED, PASSED, because, rows, (SETTING,))
            return
        left = [SETTING] if case.window_is_known else [SETTING, CAUSES[WINDOW]]
        # Of an agent whose own windows are not known several are tried, each with room for a step: one fits by chance.
        by_chance = case.agent.windows is USUAL_WINDOWS and figure > (1 + AT) * threshold.tokens
        left += ["a threshold that is not known"] if by_chance else []
        because = f"{figure:,} tokens passed {threshold.tokens:,}, the threshold of a window of {window:,}"
        because += f"; the model's is {case.window:,}" if case.window_is_known else ""
        yield Explanation(WINDOW, PASSED, because, rows, tuple(left), advice=None if len(left) > 1 else LARGER)
