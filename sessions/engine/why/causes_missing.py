"""Why no compaction came though the context stood over the threshold (verdicts 3.18 to 3.21)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from sessions.engine.agent import TURN_END
from sessions.engine.types import Label
from sessions.engine.why.case import COMPACTION, ERROR, MISSING, Candidate, Case, Evidence
from sessions.engine.why.causes import NO_USAGE, NOT_ASKED, OFF, RESUMED
from sessions.engine.why.filled import filled_rows, said_row

if TYPE_CHECKING:
    from collections.abc import Iterable

READS_USAGE = frozenset({"pi", "opencode"})
"""Agents whose trigger does nothing while no usage is known."""
IDLE = 8 * 3_600
"""Seconds without a message after which a session was taken up again."""


def needs_usage(case: Case) -> bool:
    """Whether the trigger was blind: nothing reports usage, and it reads nothing else."""
    return not case.shared.has_usage and case.agent.name in READS_USAGE


def no_usage(case: Case) -> Iterable[Candidate]:
    """The trigger had nothing to read."""
    if case.what == MISSING and needs_usage(case):
        text = "No request of this transcript reports usage, and the trigger reads nothing else"
        row = Evidence(text, None, None, 0, "tokens", "recorded")
        yield Candidate(NO_USAGE, 0.65, "no usage was reported, so the trigger never fired", (row, case.true_row))


def not_asked(case: Case) -> Iterable[Candidate]:
    """The trigger is asked at the end of a run alone, and none ended over the threshold."""
    if case.what == COMPACTION or (case.error and case.error.kind != "context") or case.agent.asked != TURN_END:
        return
    limit = case.usual or 0
    if not case.shared.has_usage:
        return
    if case.what == ERROR and not case.n_over(limit):
        return
    if limit and not case.is_asked(limit):
        row = _over_row(case, limit)
        because = f"{case.agent.label} checks its trigger when a run ends, and none ended over {limit:,}"
        yield Candidate(NOT_ASKED, 0.75, because, (row, case.true_row, *filled_rows(case)))


def off(case: Case) -> Iterable[Candidate]:
    """What is left: switched off, or not started; the transcript records neither."""
    if case.what == COMPACTION or (case.error and case.error.kind != "context") or not case.shared.has_usage:
        return
    limit = case.usual or case.window * 49 // 50
    n = case.n_passed(limit)
    if n < (1 if case.what == MISSING else 2) and not _resumed(case, limit):
        return
    known = "" if case.window_is_known else f", if the window is {case.window:,}"
    rows = (_over_row(case, limit), *said_row(case), case.true_row, *filled_rows(case))
    if _resumed(case, limit):
        because = (
            f"the session was taken up again over the threshold of {limit:,}; compaction was off, or did not start"
        )
        yield Candidate(RESUMED, 0.5, f"{because}{known}", rows)
        return
    because = f"compaction was off, or did not start, over {limit:,}, the threshold{known}"
    yield Candidate(OFF, 0.5, because, rows)


def _over_row(case: Case, limit: int) -> Evidence:
    n = case.n_passed(limit)
    text = f"{n:,} {'request' if n == 1 else 'requests'} at or over the threshold of {limit:,} tokens"
    return Evidence(text, case.request, None, limit, "tokens", Label.MEASURED.value)


def _resumed(case: Case, limit: int) -> bool:
    """Whether hours passed before this point, at a context over the threshold."""
    messages = case.weighed.transcript.messages
    start = max(1, case.tail.start)
    times = [messages[i].timestamp for i in range(start - 1, min(case.stop + 1, len(messages)))]
    known = [time for time in times if time is not None]
    gap = max((later - earlier for earlier, later in pairwise(known)), default=0)
    return gap >= IDLE and case.true >= limit
