"""Why no compaction came though the context stood over the threshold (verdicts 3.18 to 3.21)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from sessions.engine.agents.agent import BETWEEN_TURNS
from sessions.engine.base.words import counted
from sessions.engine.transcript.recorded_events import ErrorKind, settings_in
from sessions.engine.transcript.types import Label
from sessions.engine.why.account import COUNTED, PASSED, SETTING, Explanation, Fact
from sessions.engine.why.case import ERROR, MISSING, Case
from sessions.engine.why.causes import CUT, FALLBACK, NO_USAGE, NOT_ASKED, NOT_FIRED, OFF, RESUMED, Evidence
from sessions.engine.why.ending import in_vain
from sessions.engine.why.said import quoted
from sessions.engine.why.shared import threshold_at
from sessions.engine.why.windows import narrowed

READS_USAGE = frozenset({"pi", "opencode"})
"""Agents whose trigger does nothing while no usage is known."""
FAR_UNDER = 0.5
"""Share of the threshold under which it would not have fired with a usage either."""
HISTORY = re.compile(r"(?:max_?)?(?:history|messages)_?(?:count|limit|size)?", re.IGNORECASE)
"""What a file calls the number of messages that its client sends."""
NOT_ON = "no compaction is recorded"
EITHER = ("a trigger that was off", "a trigger that did not start")
OWN_STOP = re.compile(r"^context limit reached .{0,4}/compact or /clear", re.IGNORECASE)
"""What Claude Code says where it asks no more by itself, under the window (public reports, 18152 and 18159)."""
IDLE = 8 * 3_600
"""Seconds without a message after which a session was taken up again."""


def no_usage(case: Case) -> Iterable[Explanation]:
    """The trigger was blind: answers came, none reports usage, and it reads nothing else (verdicts 3.18)."""
    if (case.error and case.error.kind != ErrorKind.CONTEXT) or not case.position:
        return
    if case.shared.has_usage or case.agent.name not in READS_USAGE:
        return
    row = Evidence("No request reports usage, and the trigger reads nothing else", None, None, 0, "tokens", "recorded")
    because = "no usage was reported, so the trigger never fired"
    limit = case.usual or 0
    against = (
        (f"the file holds about {case.true:,} tokens, far under {limit:,}",) if case.true < FAR_UNDER * limit else ()
    )
    yield Explanation(NO_USAGE, COUNTED | Fact.TIMING, because, (row,), (SETTING,), against)


def stated_not_fired(case: Case) -> Iterable[Explanation]:
    """The request itself gives a trigger, the context passed it, and no compaction came (verdicts 3.32)."""
    at = case.weighed.transcript.trigger_at
    if at is None or (case.error and case.error.kind != ErrorKind.CONTEXT) or not (n := case.n_passed(at)):
        return
    first = next((k for k in case.run if case.shared.runs.contexts[k] >= at), case.position)
    row = case.row(f"The request asks for a compaction at {at:,} tokens", at)
    because = f"{counted(n, 'request')} from {first:,} on passed {at:,}, the trigger that the request gives"
    because += ", and no compaction came"
    yield Explanation(NOT_FIRED, COUNTED | Fact.WORDS | Fact.TIMING, because, (row,))


def cut_off(case: Case) -> Iterable[Explanation]:
    """The usage stands still while messages come: a server cuts the prompt there (verdicts 3.33)."""
    still = case.shared.still
    if case.what != MISSING or still is None or case.position != still.first:
        return
    tokens = f"{still.most:,}" if still.least == still.most else f"between {still.least:,} and {still.most:,}"
    row = case.row(f"{still.n:,} requests in a row report {tokens} tokens", still.most, label="measured")
    text = f"What came in between weighs {still.came:,} tokens"
    came = case.row(text, still.came, label=case.label.value)
    size = f"just under or at {still.most:,}" if still.is_band else f"at {still.most:,}"
    because = f"the usage stands {size} for {still.n:,} requests while {still.came:,} tokens came"
    if known := settings_in(case.weighed.transcript.events, HISTORY):
        name, n = known[0]
        advice = f"Raise {name}, or switch it off, if the beginning is needed."
        said = f"{because}: the client sends no more than {name}, {n:,}, messages"
        yield Explanation(
            CUT, COUNTED | Fact.TIMING | Fact.WORDS, said, (row, came), ("a server that cuts",), advice=advice
        )
        return
    left = "a client that leaves old messages out" if still.is_band else "a wrong report"
    yield Explanation(
        CUT, COUNTED | Fact.TIMING | Fact.CONTENT, f"{because}: the server cuts the prompt", (row, came), (left,)
    )


def not_asked(case: Case) -> Iterable[Explanation]:
    """The trigger is asked between runs alone, and none ended over the threshold."""
    when = BETWEEN_TURNS.get(case.agent.asked)
    if (case.error and case.error.kind != ErrorKind.CONTEXT) or when is None:
        return
    limit = case.usual or 0
    if not case.shared.has_usage:
        return
    if case.error is not None and not case.window_is_known and case.error.limit:
        # Whatever window the agent worked with: at the limit that the refusal names it would have been asked too late.
        limit = threshold_at(case.weighed.transcript, case.error.limit, case.model)
    if (case.what == ERROR and not case.n_over(limit)) or in_vain(case):
        return
    if limit and not case.is_asked(limit):
        because = f"{case.agent.label} checks its trigger when a run {when}, and none ended over {limit:,}"
        if case.error is not None and case.error.tokens and case.error.limit:
            because += f"; the run reached {case.error.tokens:,} of {case.error.limit:,}"
        # Where nothing was refused, or the window is not known, the agent may have worked with another limit as well;
        # pi asks once more behind the last of several tries, and goes by the error's words then.
        known = (case.window_is_known or not case.error.limit) and case.error.count == 1 if case.error else False
        left = (SETTING,) if known else (SETTING, "a higher limit")
        yield Explanation(NOT_ASKED, PASSED | Fact.TIMING, because, (_over_row(case, limit),), left)


def off(case: Case) -> Iterable[Explanation]:
    """What is left: switched off, or not started; the transcript records neither."""
    if (case.error and case.error.kind != ErrorKind.CONTEXT) or not case.shared.has_usage:
        return
    if narrowed(case.weighed, case.position):
        # What was answered stood under another window.
        return
    compactions = case.weighed.transcript.compactions
    if case.error is not None and any(c.request == case.request and c.trigger != "manual" for c in compactions):
        return  # one came by itself right after it
    limit, window = threshold_at(case.weighed.transcript, case.window, case.model), case.window
    if case.error is not None and case.error.limit and not case.window_is_known:
        # The agent's own window is not known; the refusal names the one that there was.
        limit, window = threshold_at(case.weighed.transcript, case.error.limit, case.model), case.error.limit
    n = case.n_passed(limit)
    if n < (1 if case.what == MISSING else 2) and not _resumed(case, limit):
        return
    known = "" if case.window_is_known else f" (window {window:,})"
    rows = (_over_row(case, limit),)
    if _resumed(case, limit):
        because = f"the session was taken up again over the threshold, {limit:,}{known}"
        yield Explanation(RESUMED, Fact.SIZE | Fact.TIMING, f"{because}; {NOT_ON}", rows, EITHER)
        return
    words = f"{quoted(case.error)}; " if case.error is not None and case.error.words else ""
    if case.error is not None and OWN_STOP.search(case.error.words):
        words = f"{quoted(case.error)} is Claude Code's own stop, not a provider's refusal; "
    because = f"{words}{counted(n, 'request')} passed the threshold, {limit:,}{known}"
    if window != case.window:
        because += ": the agent took a larger window, or its trigger was off"
        yield Explanation(FALLBACK, PASSED, because, rows, EITHER)
        return
    yield Explanation(OFF, Fact.SIZE, f"{because}, and {NOT_ON}", rows, EITHER)


def _over_row(case: Case, limit: int) -> Evidence:
    text = f"{counted(case.n_passed(limit), 'request')} at or over the threshold of {limit:,} tokens"
    return case.row(text, limit, label=Label.MEASURED.value)


def _resumed(case: Case, limit: int) -> bool:
    """Whether hours passed before this point, at a context over the threshold."""
    messages = case.weighed.transcript.messages
    start = max(1, case.tail.start)
    times = [messages[i].timestamp for i in range(start - 1, min(case.stop + 1, len(messages)))]
    known = [time for time in times if time is not None]
    gap = max((later - earlier for earlier, later in pairwise(known)), default=0)
    return gap >= IDLE and case.true >= limit
