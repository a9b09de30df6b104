"""Why a request was refused for its tokens, or why a compaction failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.engine.types import FAILED_COMPACTION, Label
from sessions.engine.why.case import ERROR, Candidate, Case, Evidence
from sessions.engine.why.causes import (
    CACHE,
    FAILED,
    FALLBACK,
    MEDIA_LIMIT,
    NO_USAGE,
    ONE_MESSAGE,
    RESERVE,
    SUMMARY_LONG,
    WINDOW,
)
from sessions.engine.why.causes_missing import needs_usage
from sessions.engine.why.filled import filled, filled_rows, said_row
from sessions.engine.why.shared import thresholds_of

if TYPE_CHECKING:
    from collections.abc import Iterable


FULL = 0.85
"""Share of the window over which the call that writes the summary may not fit."""
AGREE, AGREE_INPUT = 0.15, 0.35


def failed(case: Case) -> Iterable[Candidate]:
    """A compaction was tried and failed: its own call too long, or for another reason (verdicts 3.16, 3.17)."""
    error = case.error
    if error is None or not error.of_compaction:
        return
    n = error.count
    tried = f"{n} times in a row" if n > 1 else "once"
    row = Evidence(
        f"The transcript records a compaction that failed, {tried}", case.request, None, n, "attempts", "recorded"
    )
    if error.kind != FAILED_COMPACTION:
        tokens, limit = error.tokens or case.true, error.limit or 0
        if error.tokens and tokens < 0.5 * limit:
            return
        because = f"the call that was to write the summary did not fit, at {tokens:,} tokens"
        if error.tokens and tokens < limit:
            because = f"the summary's call did not fit: {tokens:,} tokens, and its reply's reserve, passed {limit:,}"
        rows = (row, *said_row(case), case.true_row, *filled_rows(case))
        yield Candidate(SUMMARY_LONG, 0.95, because, rows)
        return
    because = f"the summary's call failed, {tried}; its error names no size"
    yield Candidate(FAILED, 0.95, because, (row, *_full_row(case), case.true_row))


def _full_row(case: Case) -> tuple[Evidence, ...]:
    """That a call with little room may have been too long, as a row; () where it had enough, or that is unknown."""
    if not case.window_is_known or case.true < FULL * case.window:
        return ()
    share = f"{100 * case.true / case.window:.0f}%"
    text = f"At {share} of the window the summary's call was too long (possible); its error does not say so"
    return (Evidence(text, case.request, None, case.true, "tokens", case.label.value),)


def media_limit(case: Case) -> Iterable[Candidate]:
    """A picture or document is over a limit of its own, or there are too many (verdicts 3.27)."""
    error = case.error
    if error is None or error.kind != "media":
        return
    n = f", {error.count} times" if error.count > 1 else ""
    row = Evidence(
        f"The provider refused a picture or document{n}", case.request, None, error.count, "tries", "recorded"
    )
    because = "a picture or document is over a limit of its own; the context was not too long"
    yield Candidate(MEDIA_LIMIT, 0.97, because, (row, case.true_row))


def reserve(case: Case) -> Iterable[Candidate]:
    """The input alone was within the limit: the reply's reserve passed it (verdicts 3.9)."""
    error = case.error
    if error is None or error.kind != "context" or not error.limit or not error.tokens or error.tokens >= error.limit:
        return
    # A figure that is far from what was measured may be of something else than the request.
    is_sure = case.usage is None or case.is_partial or case.same(case.true, error.tokens, AGREE_INPUT)
    text = f"The request had {error.tokens:,} tokens of {error.limit:,}: what the reply reserves did not fit beside it"
    row = Evidence(text, case.request, None, error.tokens, "tokens", "recorded")
    because = f"{error.tokens:,} tokens and the reserve for the reply passed the limit of {error.limit:,}"
    yield Candidate(RESERVE, 0.96 if is_sure else 0.7, because, (row, case.true_row))


def one_message(case: Case) -> Iterable[Candidate]:
    """What came after the last answer took a context under the threshold past the window (verdicts 3.14)."""
    error = case.error
    if error is None or error.kind in ("body", "media") or case.media_in_tail:
        return
    limit, found = error.limit or case.window, filled(case)
    safe = next((one.tokens for one in thresholds_of(case.weighed.transcript, limit, case.model)), limit * 9 // 10)
    if case.switched or found.heaviest is None or found.heaviest not in case.tail or case.sent >= safe:
        return
    whole = case.sent + found.new
    reached = max(whole, error.tokens or 0)
    is_alone = found.heaviest_tokens >= 0.6 * found.new and found.heaviest_tokens >= 0.8 * (limit - case.sent)
    if not is_alone or reached < limit or (error.tokens and whole < (1 - AGREE) * error.tokens):
        return
    because = f"message {found.heaviest} added {found.heaviest_tokens:,} tokens to {case.sent:,}; {limit:,} are allowed"
    rows = (*said_row(case), *filled_rows(case), case.true_row)
    # The text of a message is counted, not measured: only figures before and after it make it sure.
    is_sure = case.usage is not None and not case.is_partial and error.tokens is not None
    yield Candidate(ONE_MESSAGE, 0.95 if is_sure else 0.75, because, rows)


def other_window(case: Case) -> Iterable[Candidate]:
    """The provider's limit is under the threshold that the agent worked with (verdicts 3.7, 3.8)."""
    error = case.error
    if error is None or error.kind != "context" or not error.limit or not case.assumed:
        return
    limit, sent = error.limit, error.tokens or case.true
    if case.assumed < 1.2 * limit or sent < (1 - AGREE) * limit:
        return
    text = f"The provider's limit is {limit:,} tokens, the agent's window {case.window:,}"
    row = Evidence(text, case.request, None, limit, "tokens", "recorded")
    rows = (row, *said_row(case), case.true_row)
    is_fallback = not case.model.known or bool(case.model.note)
    known = thresholds_of(case.weighed.transcript, case.assumed, case.model)
    threshold = known[0].tokens if known else case.assumed
    # Certain where the agent counted what the provider did, and was still under its own threshold.
    agrees = case.counted is not None and case.same(case.true, sent, AGREE) and sent < threshold
    score = 0.93 if agrees and not case.is_partial else 0.7
    because = f"the agent worked with {case.window:,} tokens, the provider allows {limit:,}"
    if not case.thresholds:
        # What an agent works with whose trigger is not known is the model's window at most by our guess.
        score, because = 0.5, f"the provider allows {limit:,} tokens, fewer than the model takes, {case.window:,}"
    yield Candidate(FALLBACK if is_fallback else WINDOW, score, because, rows)


def silent(case: Case) -> Iterable[Candidate]:
    """No usage is reported, and the agent's trigger reads nothing else (verdicts 3.18)."""
    if case.what == ERROR and case.error and case.error.kind == "context" and needs_usage(case):
        text = "No request of this transcript reports usage, and the trigger reads nothing else"
        row = Evidence(text, None, None, 0, "tokens", "recorded")
        because = "no usage was reported, so the trigger never fired"
        yield Candidate(NO_USAGE, 0.7, because, (row, *said_row(case), case.true_row))


def partial_usage(case: Case) -> Iterable[Candidate]:
    """The usage reported is a small part of what was sent (verdicts 3.5)."""
    if case.usage is None or not case.is_partial:
        return
    text = f"The newest usage says {case.usage.context:,} tokens; the text alone makes {case.text:,}"
    index = case.last.index if case.last else None
    row = Evidence(text, index, None, case.usage.context, "tokens", Label.MEASURED.value)
    because = f"the usage reported {case.usage.context:,} tokens of about {case.text:,}: cached ones are left out"
    yield Candidate(CACHE, 0.75, because, (row, *said_row(case), case.true_row))
