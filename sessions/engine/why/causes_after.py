"""Causes that the compaction before, or the one itself, shows: refused first, filled again at once, nothing freed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.types import Label
from sessions.engine.why.case import COMPACTION, Candidate, Case, Evidence
from sessions.engine.why.causes import AFTER_REFUSAL, GREW, ONE_MESSAGE, REFILLED, RESERVE
from sessions.engine.why.causes_floor import LEAST_CONTEXT, left_by_compaction
from sessions.engine.why.filled import filled, filled_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

SOON_FULL = 3
"""Requests within which a context that is full again is thrashing."""
NOT_FREED = 0.9
"""Share of the context that a compaction leaves which freed nothing to speak of."""
LARGE, LOW, HALF = 0.1, 0.6, 0.5
TIMES = 3
AGREE = 0.15


def after_refusal(case: Case) -> Iterable[Candidate]:
    """The provider refused a request as too long right before: that is the trigger (verdicts 3.6)."""
    if case.what != COMPACTION or case.trigger == "manual" or case.refusal is None:
        return
    refusal = case.refusal
    said = f": {refusal.tokens:,} tokens" if refusal.tokens else ""
    allowed = f", {refusal.limit:,} allowed" if refusal.limit else ""
    row = Evidence(
        f"The provider refused the request before as too long{said}{allowed}",
        case.request, None, refusal.tokens, "tokens", "recorded",
    )  # fmt: skip
    because = f"the provider had refused the request as too long{said}{allowed}"
    yield Candidate(AFTER_REFUSAL, 0.95, because, (row, case.true_row))


def freed_nothing(case: Case) -> Iterable[Candidate]:
    """The context measured after it is nine tenths or more of the one measured before (verdicts 3.12)."""
    after = case.after
    if case.what == COMPACTION and not case.shared.has_usage:
        yield from _dropped_nothing(case)
        return
    if case.what != COMPACTION or after is None or not case.run or case.usage is None or case.is_spike:
        return
    before = max(case.usage.context, case.true)
    if before < max(LEAST_CONTEXT, LARGE * case.window) or after < NOT_FREED * before:
        return
    if case.shared.standing >= LOW * before:
        # Fixed overhead: no compaction can free it.
        return
    words = f"{after:,} tokens after it, {before:,} before"
    rows = (
        Evidence(f"Measured: {words}", case.request, None, after, "tokens", Label.MEASURED.value),
        *case.size_rows,
    )
    yield Candidate(GREW, 0.97, f"it freed {'nothing' if after >= before else 'next to nothing'}: {words}", rows)


def _dropped_nothing(case: Case) -> Iterable[Candidate]:
    """Without a usage: the list that it left weighs nine tenths of the one before, or is the same (verdicts 3.12)."""
    compaction, weighed = case.compaction, case.weighed
    if compaction is None or compaction.outside or not weighed.transcript.messages[: compaction.boundary]:
        return
    gone = set(range(case.start, compaction.boundary)).union(case.kept).difference(compaction.preserved)
    if not gone and compaction.message is None:
        row = Evidence("The record lists no message that left", case.request, None, 0, "messages", "recorded")
        yield Candidate(GREW, 0.97, "it removed no message", (row, case.true_row))
        return
    made = weighed.tokens[compaction.message] if compaction.message is not None else 0
    after = case.true - sum(weighed.tokens[i] for i in gone) + made
    least = LARGE * case.window if case.window_is_known else LEAST_CONTEXT
    if case.true < max(LEAST_CONTEXT, least) or after < NOT_FREED * case.true:
        return
    words = f"{after:,} tokens after it, {case.true:,} before"
    row = Evidence(f"By estimate: {words}", case.request, None, after, "tokens", Label.ESTIMATED.value)
    yield Candidate(GREW, 0.75, f"it freed {'nothing' if after >= case.true else 'next to nothing'}: {words}", (row,))


def full_again(case: Case) -> Iterable[Candidate]:
    """The threshold passed within three requests of a compaction that had left room (verdicts 3.13)."""
    previous, limit = case.previous, case.met
    if case.what != COMPACTION or case.trigger == "manual" or limit is None or case.true < limit or not case.run:
        return
    left = left_by_compaction(case)
    n = len(case.run)
    if previous is None or previous.outside or n > SOON_FULL or left >= LOW * limit or case.true < case.sent:
        return
    found = filled(case)
    if found.tokens < HALF * (limit - left):
        return
    name, tokens, _ = found.by_source[0]
    requests = "one request" if n == 1 else f"{n} requests"
    because = f"{tokens:,} tokens of {name} filled it again in {requests}"
    yield Candidate(REFILLED, 0.97, because, (*case.size_rows, *filled_rows(case)))


def one_message(case: Case) -> Iterable[Candidate]:
    """One message brought half of the threshold or more, onto a context well under it (verdicts 3.14)."""
    limit = case.met
    if case.what != COMPACTION or case.trigger == "manual" or limit is None or case.sent >= 0.7 * limit:
        return
    found = filled(case)
    if found.heaviest is None or found.heaviest not in case.tail or found.heaviest_tokens < HALF * limit:
        return
    if case.true < limit or max(found.heaviest_tokens + case.sent, 0) < limit or found.heaviest in case.media:
        return
    because = f"message {found.heaviest} added {found.heaviest_tokens:,} tokens to {case.sent:,}"
    # Its size is counted, not measured: the recorder's own figure beside it makes it sure.
    is_sure = case.said is not None and case.same(case.true, case.said, AGREE)
    yield Candidate(ONE_MESSAGE, 0.97 if is_sure else 0.8, because, (*case.size_rows, *filled_rows(case)))


def every_step(case: Case) -> Iterable[Candidate]:
    """Compacted after every request at a small context: nothing is left of the window (verdicts 3.9)."""
    if case.what != COMPACTION or case.trigger == "manual" or case.true >= 0.3 * case.window:
        return
    n, n_all = case.shared.n_at_once, len(case.weighed.transcript.compactions)
    if n < TIMES or 2 * n < n_all - 1:
        return
    text = f"{n} of {n_all} compactions came one request after the one before"
    row = Evidence(text, case.request, None, n, "compactions", "recorded")
    because = f"every request passes the usable window, at {case.true:,} tokens: the reply's reserve takes the rest"
    yield Candidate(RESERVE, 0.62, because, (row, case.true_row))
