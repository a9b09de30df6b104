"""Why a request was refused for its tokens, or why a compaction failed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

from sessions.engine.base.words import counted
from sessions.engine.transcript.recorded_events import CUT_OFF, CUTS, SERVER, ErrorKind
from sessions.engine.transcript.types import Kind, Label, Message, ProviderError, RecordedCompaction, Role, Usage
from sessions.engine.weigh.calibration.context_windows import RECORDED, REFUSAL
from sessions.engine.why import causes
from sessions.engine.why.account import ALL, COUNTED, ESTIMATE, FILLED, SETTING, UNLISTED, Explanation, Fact
from sessions.engine.why.causes_floor import held_in_bytes, less_in_bytes, status_of
from sessions.engine.why.filled import heaviest_words, newest_answer, smaller
from sessions.engine.why.said import (
    NOTHING_LEFT,
    OVERDRAWN,
    PASSED_OWN,
    STILL_OVER,
    UNSENT,
    advice_of,
    asked_for,
    counted_before,
    figures_of,
    meaning_of,
    over_limit,
    quoted,
    reply_alone,
)
from sessions.engine.why.shared import IMPOSSIBLE, ROUND, agree, thresholds_of
from sessions.engine.why.windows import differ

if TYPE_CHECKING:
    from sessions.engine.why.case import Case
    from sessions.engine.why.causes import Evidence

SIZES = frozenset(ErrorKind)
"""Kinds of errors that say what was too large, or that no request got."""
ROOM = 0.75
"""Share of the window under which the call that writes the summary fits, whatever its reply may have."""
NEXT_TO_NOTHING = 0.05
"""Share of the window under which what the file holds does not explain that the summary's call was too long."""
SMALL, OVER = 0.5, 1.05
"""Share of the window under which nothing needs to be compacted; times a limit from which an answer contradicts it."""
IN_A_ROW = 3
"""Compactions without an answer between them that are a loop."""
FULL = 0.85
"""Share of the window over which the call that writes the summary may not fit."""
AGREE, AGREE_INPUT = 0.15, 0.35
ALL_OF = 0.98
"""Share of a reply's tokens from which it was thinking alone."""
NEARLY = 0.97
"""Share of the window from which a reply that was cut off filled it."""
SHORT_REPLY, FULL_TIMES, LEAST_FULL = 1_000, 50, 4_096
"""Tokens under which no client's maximum for a reply lies; times of it, and tokens, that fill a context."""
ENOUGH = re.compile(STILL_OVER, re.IGNORECASE)
"""How the words begin of an agent that compacted and is still over its limit: no call of its own was too long."""
MISCOUNTED = 10
"""Times what an agent counted before a compaction that failed from which its count is wrong."""
MORE_SENT = 2
"""Times the last answered request from which a refused one was of more than the conversation then."""
HELD_BACK = re.compile(f"{PASSED_OWN}|{OVERDRAWN}|{UNSENT}", re.IGNORECASE)
"""What an agent says that did not ask the provider: by a limit of its own, or a count that is wrong."""
OWN_MAXIMUM = "a maximum of the reply's own"
AGAIN = "Try again: the model takes more."
NO_LOOP = "Start a new session: compacting does not make this one fit."
FULL_WINDOW = "Compact, or start a new session: the window is full."
LONGER = "Raise the context length that the server runs with."


def failed(case: Case) -> Iterable[Explanation]:
    """A compaction was tried and failed: its own call too long, or for another reason (verdicts 3.16, 3.17)."""
    error = case.error
    if error is None or not error.of_compaction:
        return
    limit = case.window if case.held.source == REFUSAL else 0
    named = (case.row(f"The provider allows {limit:,} tokens", limit),) if limit else ()
    rows = (*tries_row(case, error), *named)
    if _is_needless(case, error):
        because = f"there was nothing left to compact, {quoted(error)}, and the context is far under the window"
        yield Explanation(causes.NOTHING, Fact.WORDS, because, rows, advice="")
    elif error.kind == ErrorKind.COMPACTION or ENOUGH.search(error.words):
        yield _failed_for(case, error, causes.FAILED, rows)
    elif error.kind == ErrorKind.BODY:
        because = f"{figures_of(error)}the compaction's own request was refused for its bytes, not for its tokens"
        because, held = f"{because}{status_of(error)}", held_in_bytes(case)
        yield Explanation(causes.BODY, COUNTED | Fact.WORDS, f"{because}{held}", rows, advice=less_in_bytes(held))
    else:
        yield from _too_long(case, error, rows)


def _is_needless(case: Case, error: ProviderError) -> bool:
    """Whether there was nothing to compact and no need to: far under the window, nothing refused (verdicts 3.43)."""
    if (
        not re.search(NOTHING_LEFT, error.words, re.IGNORECASE)
        or not case.window_is_known
        or case.true >= SMALL * case.window
    ):
        return False
    return not any(one.kind in (ErrorKind.CONTEXT, ErrorKind.BODY) for one in case.weighed.transcript.errors)


def _too_long(case: Case, error: ProviderError, rows: tuple[Evidence, ...]) -> Iterable[Explanation]:
    """The words say that the summary's call was too long: contradicted where the context was measured well under it."""
    tokens = error.tokens or (case.usage.context if case.usage and not case.is_partial else case.true)
    limit = error.limit or 0
    if error.tokens and tokens < 0.5 * limit:
        return
    allowed = limit or (case.window if case.held.source == REFUSAL else 0)
    of = f" of {allowed:,} allowed" if allowed else ""
    if case.held.source == RECORDED and not error.tokens and tokens > IMPOSSIBLE * case.own_window:
        because = f"{tokens:,} tokens are counted, {tokens / case.own_window:.1f} times the recorded window of"
        because += f" {case.own_window:,}, which no request can have; {quoted(error)}"
        yield Explanation(causes.SUMMARY_LONG, COUNTED | Fact.WORDS, because, rows, advice="Start a new session.")
        return
    because = f"the call that was to write the summary did not fit, at {tokens:,} tokens{of}"
    if not error.tokens and not allowed and (answer := newest_answer(case)):
        of = f"; the window is {case.own_window:,}" if case.window_is_known else ""
        because = f"the call that was to write the summary did not fit: {answer}{of}"
    if error.tokens and tokens < limit:
        room = f"{reply:,} for its reply" if (reply := asked_for(error).reply) else "its reply's reserve"
        because = f"the summary's call did not fit: {tokens:,} tokens, and {room}, passed {limit:,}"
    compactions = case.weighed.transcript.compactions
    now = case.models[1] if any(one.request == case.request for one in compactions) else ""
    because += f"; it was made once {now} was taken" if now else ""
    least = NEXT_TO_NOTHING if case.is_blind else ROOM
    held = (
        not now
        and error.tokens is None
        and case.window_is_known
        and not case.is_partial
        and tokens < least * case.window
    )
    against = (f"{tokens:,} tokens are {case.share(tokens)}",)
    if case.is_blind:
        against = (f"as far as the file shows, {tokens:,} tokens of {case.window:,}",)
    if not error.tokens and not allowed and error.words:
        because += f"; {quoted(error)}"
    known, advice = COUNTED | Fact.WORDS, f"Compact with {now}." if now else None
    if error.tokens and case.usage is not None and error.tokens >= MORE_SENT * case.usage.context > 0:
        because += f"; the last answered request had {case.usage.context:,}: more was sent than it held"
        because += f"; {heaviest_words(case)}" if 2 * case.filled.heaviest_tokens >= case.filled.new > 0 else ""
        advice = "Start a new session."
    left = (SETTING,) if now else ()
    yield Explanation(causes.SUMMARY_LONG, known, because, rows, left, against if held else (), advice)


def other_error(case: Case) -> Iterable[Explanation]:
    """An error that is neither a refusal for size nor a compaction's: its own words (verdicts 3.30)."""
    error = case.error
    if error is None or error.kind in SIZES or error.of_compaction:
        return
    if error.words.startswith(CUT_OFF):
        yield _cut_reply(case, error)
    else:
        yield _failed_for(case, error, causes.REQUEST_FAILED, tries_row(case, error))


def _cut_reply(case: Case, error: ProviderError) -> Explanation:
    """The last reply ends at a limit, its own or the window's; a trigger between turns is no help (verdicts 3.34)."""
    usage = case.answered
    said = error.words.removeprefix(CUT_OFF).removeprefix(": ")
    left, advice, is_thought = "", "", False
    because = f'it ends with "{said}"' if said == error.code else said.rstrip(".")
    if usage is not None and usage.output and not case.is_partial:
        whole = usage.context + usage.output
        part = f", {usage.reasoning:,} of them thinking," if 2 * usage.reasoning >= usage.output else ","
        is_thought = usage.reasoning >= ALL_OF * usage.output
        spent = ", all of them thinking, so that no answer came," if is_thought else part
        because += f" after {usage.output:,} tokens{spent} on top of {usage.context:,}"
        if case.window_is_known and NEARLY * case.window <= whole <= case.window:
            because += f": {whole:,} of a window of {case.window:,}"
            advice = FULL_WINDOW
        elif whole >= 2 * ROUND and not whole % ROUND and usage.output % ROUND:
            because += f": {whole:,} in all, which is then the server's window"
            because += f", where the agent counts on {case.own_window:,}" if case.held.source == RECORDED else ""
            left, advice = OWN_MAXIMUM, LONGER
        elif was_full(usage):
            because += ": the context was full there, the reply was not too long"
            left, advice = OWN_MAXIMUM, f"Set a threshold under {usage.context:,} tokens, or the model's real window."
    if left:
        return Explanation(causes.CUT_REPLY, Fact.WORDS, because, tries_row(case, error), (left,), advice=advice)
    only = "" if is_thought else _only(case) or _in_call(case)
    because += f"; {only}" if only else ""
    is_full = case.window_is_known and (usage is None or 2 * usage.context >= case.window)
    if case.agent.asked_late and is_full and (n := _in_turn(case)) > 1:
        because += f"; {case.agent.asked_late}, and {n:,} requests came in the last turn"
    thought = "Ask for less thinking, or raise the reply's maximum." if is_thought or only else advice or None
    return Explanation(causes.CUT_REPLY, Fact.WORDS, because, tries_row(case, error), advice=thought)


def was_full(usage: Usage) -> bool:
    """Whether a reply that was cut off was too short to be over any maximum of its own: the context was full."""
    return usage.output < SHORT_REPLY and usage.context >= max(LEAST_FULL, FULL_TIMES * usage.output)


def _last_reply(case: Case) -> Message | None:
    messages = (case.weighed.transcript.messages[i] for i in reversed(case.tail))
    return next((message for message in messages if message.role is Role.ASSISTANT), None)


def _only(case: Case) -> str:
    """That the last reply holds nothing but thinking, or nothing at all, in a clause; else ""."""
    reply = _last_reply(case)
    kinds = {block.kind for block in reply.blocks if block.n_chars or block.n_payload} if reply else set()
    if reply and kinds == {Kind.TEXT} and not reply.preview.strip():
        return "the reply is blank"
    if reply is None or kinds - {Kind.THINKING, Kind.OPAQUE}:
        return ""
    return "the reply has nothing in it but thinking, no text" if kinds else "the reply is empty, it has no text"


def _in_call(case: Case) -> str:
    """The call that the last reply ends in, which was cut with it, in a clause; else ""."""
    reply = _last_reply(case)
    last = reply.blocks[-1] if reply and reply.blocks else None
    named = last is not None and last.kind is Kind.TOOL_USE and last.name
    return f"it ends in a call of {named}, which was cut as well" if named else ""


def _in_turn(case: Case) -> int:
    """Requests since the newest message that a person typed."""
    messages = case.weighed.transcript.messages
    typed = max((i for i in range(case.stop) if messages[i].typed), default=-1)
    return sum(case.weighed.steps[k].stop > typed for k in case.run)


def _failed_for(case: Case, error: ProviderError, cause: str, rows: tuple[Evidence, ...]) -> Explanation:
    """What the words mean, then the words; only quoted where they name no cause that is known."""
    found, words = meaning_of(error.words), quoted(error)
    n = case.n_passed(case.usual) if error.of_compaction and case.usual and case.window_is_known else 0
    over = f"; {counted(n, 'request')} had passed the threshold, {case.usual:,}" if n else ""
    if wrong := _counted_wrongly(case, error):
        advice = causes.CHANGES[causes.DOUBLE]
        return Explanation(cause, Fact.WORDS, f"{wrong}; {words}{over}", rows, advice=advice)
    if found:
        told = f"{found.because}, {words}" if words else found.because
        because = f"{figures_of(error)}{told}{over}{_longest_data(case, error)}"
        return Explanation(cause, Fact.WORDS, because, rows, advice=advice_of(error.words))
    who = "its error" if error.of_compaction else "the record"
    because = (
        f"{who} says {words}{status_of(error, words)}{over}"
        if words
        else f"no words of its error are recorded{status_of(error)}{over}"
    )
    before = _in_vain(case, error)
    if len(before) >= IN_A_ROW and not error.of_compaction:
        kept_all = all(len(one.preserved) == one.boundary and not one.outside for one in before)
        removed = ", none of which removed a message" if kept_all else ""
        because += f"; {len(before):,} compactions in a row came before it{removed}, and no answer"
    return Explanation(cause, Fact.WORDS, because, rows if words else (*rows, *_full_row(case)), advice="")


def _counted_wrongly(case: Case, error: ProviderError) -> str:
    """That a failed compaction took its list for far less than was sent, in a clause; else ""."""
    before, usage = counted_before(error), case.usage
    if usage is None or case.is_partial or not 0 < MISCOUNTED * before < usage.context:
        return ""
    return f"the agent took the context for {before:,} tokens, the request before had {usage.context:,}"


def _longest_data(case: Case, error: ProviderError) -> str:
    """The length of the longest base64 of what was refused, in a clause, where the error repeats some; else ""."""
    leaves = (leaf for i in case.tail for leaf in case.weighed.transcript.messages[i].leaves())
    n = max((leaf.media.n_base64 for leaf in leaves if leaf.media), default=0) if "data:" in error.words else 0
    return f"; the longest in it has {n:,} characters of base64" if n else ""


def _in_vain(case: Case, error: ProviderError) -> list[RecordedCompaction]:
    """The compactions between the last answer and the error."""
    last = case.weighed.steps[case.position - 1].stop if case.position else 0
    return [one for one in case.weighed.transcript.compactions if last <= one.boundary <= error.message]


def tries_row(case: Case, error: ProviderError) -> tuple[Evidence, ...]:
    """How often it was tried, with its own words."""
    what = "a compaction that failed" if error.of_compaction else "a request that was refused"
    times = "once" if error.count == 1 else f"{error.count} times in a row"
    words = quoted(error)
    return (case.row(f"The transcript records {what}, {times}{f': {words}' if words else ''}", error.count, "tries"),)


def _full_row(case: Case) -> tuple[Evidence, ...]:
    """That a call with little room may have been too long, as a row; () where it had enough, or that is unknown."""
    if not case.window_is_known or case.true < FULL * case.window:
        return ()
    text = f"At {case.share(case.true)} its call may have been too long"
    return (case.row(text, case.true, label=case.label.value),)


def media_limit(case: Case) -> Iterable[Explanation]:
    """A picture or document is over a limit of its own, or there are too many (verdicts 3.27)."""
    error = case.error
    if error is None or error.kind != ErrorKind.MEDIA:
        return
    words = quoted(error)
    because = f"{figures_of(error)}a picture or document is over a limit of its own; the context was not too long"
    because += f": {words}" if words else ""
    yield Explanation(causes.MEDIA_LIMIT, Fact.WORDS, because, tries_row(case, error))


def reserve(case: Case) -> Iterable[Explanation]:
    """The input alone was within the limit: the reply's reserve passed it (verdicts 3.9)."""
    error = case.error
    if error is None or error.kind != ErrorKind.CONTEXT or not error.limit:
        return
    whole, reply, _ = asked_for(error)
    if not error.tokens:
        if alone := reply_alone(error):
            because = f"{alone:,} tokens were asked for the reply alone, {error.limit:,} are allowed for all"
            yield Explanation(causes.RESERVE, COUNTED | Fact.WORDS, because, tries_row(case, error))
        return
    sent = error.tokens if error.tokens < error.limit else whole - reply
    if sent >= error.limit:
        return
    # A figure that is far from what was measured may be of something else than the request.
    is_sure = case.usage is None or case.is_partial or agree(case.true, sent, AGREE_INPUT)
    text = f"The request had {sent:,} tokens of {error.limit:,}: what the reply reserves did not fit beside it"
    row = case.row(text, sent)
    because = f"{sent:,} tokens and the reserve for the reply passed the limit of {error.limit:,}"
    if over := over_limit(error):
        because = f"{over}; the other {sent:,} fit"
    known, left = COUNTED | Fact.WORDS, () if is_sure else ("figures of another request",)
    advice = "Lower the reply's maximum, or compact." if 2 * sent >= error.limit else None
    yield Explanation(causes.RESERVE, known, because, (row,), left, advice=advice)


def again(case: Case) -> Iterable[Explanation]:
    """Refused after each of several compactions, with no answer between: they leave too much (verdicts 3.15)."""
    error = case.error
    if error is None or error.kind != ErrorKind.CONTEXT or error.of_compaction:
        return
    places = [*(one.boundary for one in _in_vain(case, error)), error.message]
    n = len(places) - 1
    errors = case.weighed.transcript.errors
    told = sorted(one.message for one in errors if one.kind == error.kind and not one.of_compaction)
    # A refusal stands between two places where more stand up to the second than up to the first.
    if n < IN_A_ROW or not all(bisect_right(told, a) < bisect_right(told, b) for a, b in pairwise(places)):
        return
    row = case.row(f"{counted(n, 'compaction')} since the last answer, and a refusal after each", n, "compactions")
    because = "compacted again and again, and refused after each, with no answer between: it leaves too much"
    yield Explanation(causes.RETAINED, ALL, because, (row,), advice=NO_LOOP)


def held_back(case: Case) -> Iterable[Explanation]:
    """The agent itself held the request back: the provider was not asked (verdicts 3.30)."""
    error = case.error
    if error is not None and not error.of_compaction and HELD_BACK.search(error.words):
        yield _failed_for(case, error, causes.REQUEST_FAILED, tries_row(case, error))


def one_message(case: Case) -> Iterable[Explanation]:
    """What came after the last answer took a context under the threshold past the window (verdicts 3.14)."""
    error = case.error
    if (
        error is None
        or error.kind not in (ErrorKind.CONTEXT, ErrorKind.COMPACTION)
        or any(i in case.tail for i in case.media)
    ):
        return
    limit, found = error.limit or case.window, case.filled
    safe = next((one.tokens for one in thresholds_of(case.weighed.transcript, limit, case.model)), limit * 9 // 10)
    if case.switched or found.heaviest is None or found.heaviest not in case.tail or case.sent >= safe:
        return
    whole = case.sent + found.new
    reached = max(whole, error.tokens or 0)
    is_alone = found.heaviest_tokens >= 0.6 * found.new and found.heaviest_tokens >= 0.8 * (limit - case.sent)
    if not is_alone or reached < limit or (error.tokens and whole < (1 - AGREE) * error.tokens):
        return
    if error.tokens and found.heaviest_tokens > (1 + AGREE_INPUT) * error.tokens:
        # An estimate over all that was sent is wrong.
        return
    because = f"{heaviest_words(case)} on top of {case.sent:,}; {limit:,} are allowed"
    # The text of a message is counted, not measured: only figures before and after it make it sure.
    is_sure = case.usage is not None and not case.is_partial and error.tokens is not None
    known = FILLED | Fact.FIGURE | (Fact.WORDS if error.of_compaction else Fact(0))
    yield Explanation(causes.ONE_MESSAGE, known, because, (), () if is_sure else (ESTIMATE,), advice=smaller(case))


def changed_model(case: Case) -> Iterable[Explanation]:
    """Another model was asked than the one that had answered more than it takes (verdicts 3.11)."""
    error, last = case.error, case.last
    if error is None or error.kind != ErrorKind.CONTEXT or error.of_compaction or last is None or last.usage is None:
        return
    if not differ(last.model, error.model):
        return
    limits = [one.limit for one in case.weighed.transcript.errors if one.limit and one.model == error.model]
    if any(limit > last.usage.context for limit in limits):
        # It takes what was answered: more was sent.
        return
    row = case.measured(f"{last.model} answered {last.usage.context:,} tokens", last.usage.context)
    because = f"the model was changed from {last.model}, which answered {last.usage.context:,} tokens, to {error.model}"
    because += f", which takes {error.limit:,}" if error.limit else ", which takes less"
    yield Explanation(causes.SWITCH, FILLED | Fact.CHANGE | Fact.WORDS, because, (row,))


def other_window(case: Case) -> Iterable[Explanation]:
    """The provider's limit is under the threshold that the agent worked with (verdicts 3.7, 3.8)."""
    error = case.error
    if error is None or error.kind != ErrorKind.CONTEXT or not error.limit or not case.assumed:
        return
    limit, sent = error.limit, error.tokens or case.true
    if answered := _answered_over(case, error.model, limit):
        text = f"{answered:,} tokens were answered, the refusal names a limit of {limit:,}"
        because = f"the provider named a limit of {limit:,} for that request alone: {sent:,} were sent, and"
        because += f" {answered:,} were answered in this session"
        row = case.row(text, answered, label=Label.MEASURED.value)
        yield Explanation(causes.WINDOW, COUNTED | Fact.FIGURE, because, (row,), (SETTING,), advice=AGAIN)
        return
    if case.assumed < 1.2 * limit or sent < (1 - AGREE) * limit or not case.thresholds:
        # What an agent works with whose trigger is not known is the model's window at most by our guess.
        return
    text = f"The provider's limit is {limit:,} tokens, the agent's window {case.window:,}"
    row = case.row(text, limit)
    is_fallback = not case.model.known or bool(case.model.note)
    known = thresholds_of(case.weighed.transcript, case.assumed, case.model)
    threshold = known[0].tokens if known else case.assumed
    # Certain where the agent counted what the provider did, and was still under its own threshold.
    agrees = case.counted is not None and agree(case.true, sent, AGREE) and sent < threshold
    left: tuple[str, ...] = () if agrees and not case.is_partial else (SETTING,)
    left += (causes.CAUSES[causes.SWITCH],) if case.shared.n_models > 1 else ()
    because = f"the agent worked with {case.window:,} tokens, the provider allows {limit:,}; {sent:,} were sent"
    yield Explanation(causes.FALLBACK if is_fallback else causes.WINDOW, COUNTED, because, (row,), left)


def _answered_over(case: Case, model: str, limit: int) -> int:
    """The largest context that the refused model answered in this session, where it is well over a limit; else 0."""
    cuts = any(event.code in (CUTS, SERVER) for event in case.weighed.transcript.events)
    is_one = case.shared.n_models <= 1 and not differ(model, case.model.name) and not cuts
    most = case.shared.runs.most
    return most if is_one and most > OVER * limit else 0


def partial_usage(case: Case) -> Iterable[Explanation]:
    """The usage reported is a small part of what was sent (verdicts 3.5)."""
    if case.usage is None or not case.is_partial:
        return
    text = f"The newest usage says {case.usage.context:,} tokens; the text alone makes {case.text:,}"
    row = case.measured(text, case.usage.context)
    because = f"the usage reported {case.usage.context:,} tokens of about {case.text:,}: cached ones are left out"
    yield Explanation(causes.CACHE, COUNTED | Fact.TIMING, because, (row,), (UNLISTED,))
