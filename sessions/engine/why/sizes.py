"""The sizes that a clause about a point lacks: before it, after it, as a share of a window (verdicts 3.38)."""

from __future__ import annotations

import re

from sessions.engine.transcript.recorded_events import OWN_ESTIMATE, ErrorKind
from sessions.engine.weigh.calibration.context_windows import RECORDED, WHOSE
from sessions.engine.why.case import COMPACTION, MISSING, Case
from sessions.engine.why.causes_plain import alike
from sessions.engine.why.filled import LEAST
from sessions.engine.why.shared import agree

WRONGLY = 2
"""Times what a file holds from which a recorded figure is not told alone."""
TOKENS = re.compile(r"\d tokens\b")
APART = 0.1
"""The share by which the record's own figure differs from what a clause names: then it is told as well."""
SHRUNK = 0.9
"""The share of the size before up to which what a compaction left is told."""


def size_of(case: Case, because: str) -> str:
    """The size at which it happened, where no clause names one: as recorded, answered or shown (verdicts 3.38)."""
    last, refused = case.usage or case.answered, case.error or case.refusal
    own = case.compaction.tokens_before if case.compaction else None
    peak = case.shared.runs.peak(case.run_on) if case.what == MISSING else 0
    known = (own, peak, case.saw, case.true, last.context if last else 0, case.counted, case.sent, case.text)
    named = (*known, case.figure, refused.tokens if refused and refused.kind != ErrorKind.BODY else 0)
    told = [n for n in named if n and f"{n:,}" in because]
    is_other = own is not None and case.said is not None and not any(agree(n, own, APART) for n in told)
    if (told and not is_other) or (case.compaction and case.compaction.outside and not own):
        return ""
    if peak:
        return f"the largest context had {peak:,} tokens"
    if case.compaction is not None:
        return _before(case, own or 0)
    if last is not None and not case.is_partial and last.context >= LEAST:
        with_reply = f" ({last.context + last.output:,} with the reply)" if last.output else ""
        return f"the request before had {_with_share(case, last.context)}{with_reply}"
    is_told = (
        case.true < LEAST or TOKENS.search(because) or (case.error is not None and case.error.kind == ErrorKind.BODY)
    )
    estimate = _own_estimate(case) if case.error is not None and case.error.of_compaction else ""
    return "" if is_told else estimate or f"the file holds about {case.true:,} tokens"


def _own_estimate(case: Case) -> str:
    """What the agent itself took the context for last, where no usage is recorded, in a clause; else ""."""
    notes = [note for note in case.weighed.transcript.warnings if OWN_ESTIMATE in note]
    said = notes[-1].partition(":")[0] if notes and not case.shared.has_usage else ""
    return f"{said[:1].lower()}{said[1:]}"


def _before(case: Case, own: int) -> str:
    """The size before a compaction, by the record's figure ``own`` where it has one."""
    last = case.usage
    if not own and not case.shared.has_usage:
        return figure_of(case)
    if own > WRONGLY * case.true >= LEAST:
        return f"{own:,} tokens before it by the record, about {case.true:,} by what the file holds"
    before = own or (last.context if last and not case.is_spike else case.saw if case.is_spike else case.true) or 0
    after = case.compaction.tokens_after if case.compaction else None
    left = f", {after:,} after" if after and after < before else ""
    return f"{_with_share(case, before)} before it{left}" if before >= LEAST else ""


def left_after(case: Case, told: str) -> str:
    """What the context held after a compaction, as recorded or measured, in a clause, where it is less; else ""."""
    compaction = case.compaction
    after = (compaction.tokens_after or case.after or 0) if compaction else 0
    is_told = any(words in told for words in (f"{after:,}", " after", "freed", "it left"))
    if not LEAST <= after < SHRUNK * (case.said or case.true) or is_told:
        return ""
    share = f", still {case.share(after)}" if case.window_is_known and 2 * after >= case.own_window else ""
    return f"{after:,} after it{share}"


def _with_share(case: Case, figure: int) -> str:
    """Tokens, and of what window where one is known that holds them."""
    window = case.own_window
    fits = case.window_is_known and figure <= window
    whose = f"{case.held.whose} " if case.held.source in WHOSE else ""
    return f"{figure:,} of {whose}{window:,} tokens" if fits else f"{figure:,} tokens"


def figure_of(case: Case) -> str:
    """The size of the context, with its share where the window is known, and the threshold that it was under."""
    figure = case.said if case.said is not None and case.error is None else case.true
    if case.compaction is not None and case.said is None and case.usage is None:
        # The last reply has no figure: what the file records before it is known, not what was added since.
        figure = case.compaction.tokens_before or figure
    elif case.compaction is not None and case.said is None and case.usage is not None and not case.is_partial:
        # What was answered goes before our estimate of what came after it.
        figure = case.usage.context
    if case.is_spike and case.said is None:
        # What the request reported, though the file does not explain it.
        figure = case.counted or figure
    if not figure:
        return ""
    if case.said is None and not case.shared.has_usage:
        named = f"; the recorded window is {case.own_window:,}" if case.held.source == RECORDED else ""
        return f"about {figure:,} tokens, as far as the file shows{named}"
    window = case.own_window
    whose = "the recorded" if case.held.source == RECORDED else case.held.whose
    told = case.window_is_known and 100 * figure >= case.window
    share = f", {100 * figure / window:.0f}% of {whose} window of {window:,}" if told else ""
    under = case.thresholds[0] if case.thresholds and case.what == COMPACTION and case.window_is_known else None
    limit = f", under {under.name}, {under.tokens:,}" if under and figure < under.tokens else ""
    n, least, _ = alike(case.shared.figures, figure)
    again = f"; {n} compactions at about {least:,}" if n > 1 and case.what == COMPACTION else ""
    return f"{figure:,} tokens{share}{limit}{again}"
