"""Causes that the compaction before, or the one itself, shows: refused first, filled again at once, nothing freed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sessions.engine.agents.agent import BETWEEN_TURNS
from sessions.engine.base.words import counted
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Kind, Label, RecordedCompaction
from sessions.engine.why import causes
from sessions.engine.why.account import AFTER, ALL, AT_ONCE, ESTIMATE, FILLED, SETTING, Explanation, Fact
from sessions.engine.why.causes_floor import LEAST_CONTEXT, NEARLY_ALL, freed, left_by_compaction
from sessions.engine.why.causes_refused import was_full
from sessions.engine.why.filled import heaviest_words, smaller
from sessions.engine.why.said import MOST_QUOTED, over_limit, shortened
from sessions.engine.why.shared import ROUND, SOON, agree, withheld

if TYPE_CHECKING:
    from sessions.engine.why.case import Case

SOON_FULL = 3
"""Requests within which a context that is full again is thrashing."""
SHORT, LONG, NEXT_TO_NOTHING = 150, 400, 8
"""Tokens of a summary that can be no more than a notice, alone or behind the agent's words; words of one that say
nothing whatever they are."""
_HOLDS_NOTHING = re.compile(
    r"no (?:(?:prior|previous|earlier) )?(?:conversation|history|messages|summary|content|text)\b"
    r"|conversation is empty|nothing to (?:summar|compact)"
    r"|no (?:answers?|results?|tool output)\b.{0,40}\b(?:is|are|was|were) (?:contained|included|given|recorded)\b"
    r"|(?:summary|summari[sz]ation|compaction|compression|condensation)\b.{0,30}"
    r"\b(?:failed|fails|error|unavailable|not available|omitted|skipped|timed out|aborted|empty)"
    r"|(?:could|can)(?: ?not|n't) (?:be )?(?:summari[sz]|compact|compress|condens)"
    r"|too long to summari[sz]e|(?:messages|turns|history|context)"
    r" (?:are|were|was|is|have been|has been) (?:omitted|removed|dropped|trimmed)"
    r"|previous (?:conversation|context) (?:was )?(?:omitted|removed|cleared)|\bAPI Error: ?\d{3}\b",
    re.IGNORECASE,
)
"""What a notice says that stands in place of a summary."""
_NOTICE = re.compile(r"(?:the )?summary(?: generation)? (?:was|is) (?:unavailable|not available)", re.IGNORECASE)
"""How one begins that nothing of the history follows."""
LARGE, LOW, HALF = 0.1, 0.6, 0.5
TIMES = 3
SOON_BACK, BACK, MOST_BACK = 10, 0.7, 1.1
"""Requests after a compaction within which what it took may come back, the share that does, and the most it may be."""
MANY_IMAGES = 10
"""Pictures in what a compaction kept, from which they are told where they are half of what it left."""
MUCH = 2_000
"""Tokens of messages that a compaction took, from which a summary has something to say."""
COUNTS_LOW = 1.2
"""Times the agent's own count that a refusal names, from which the agent counts too low."""
AGREE = 0.15


def after_refusal(case: Case) -> Iterable[Explanation]:
    """The provider refused a request as too long right before: that is the trigger (verdicts 3.6)."""
    if case.trigger == "manual" or case.refusal is None:
        return
    refusal = case.refusal
    tokens = f"{refusal.tokens:,} tokens" if refusal.tokens else ""
    allowed = f"{refusal.limit:,} allowed" if refusal.limit else ""
    sizes = over_limit(refusal) or ", ".join(filter(None, (tokens, allowed)))
    said = f": {sizes}" if sizes else ""
    row = case.row(f"The provider refused the request before as too long{said}", refusal.tokens)
    because = f"the provider had refused the request as too long{said}"
    limit, advice = case.usual or 0, None
    if limit and (n := case.n_passed(limit)) > SOON:
        because += f"; {counted(n, 'request')} before it had passed the threshold, {limit:,}"
        if (when := BETWEEN_TURNS.get(case.agent.asked)) and not case.is_asked(limit):
            because += f", which {case.agent.label} checks only when a run {when}"
            advice = causes.CHANGES[causes.NOT_ASKED]
        else:
            advice = causes.CHANGES[causes.OFF]
    own = case.compaction.tokens_before if case.compaction else None
    if own and refusal.tokens and refusal.tokens >= COUNTS_LOW * own:
        because += f"; the agent itself counted {own:,}, too few"
    yield Explanation(causes.AFTER_REFUSAL, AFTER, because, (row,), advice=advice)


def after_cut(case: Case) -> Iterable[Explanation]:
    """The reply right before it was cut off, so that there was no room left: that may be the trigger (verdicts 3.6)."""
    last, usage = case.last, case.usage
    if case.compaction is None or case.trigger or last is None or usage is None or not usage.output:
        return
    if case.assumed and case.threshold is not None and case.figure >= case.threshold:
        # Its own threshold says why.
        return
    events = case.weighed.transcript.events
    cut = next((e for e in events if e.kind == EventKind.REPLY_CUT and e.code and e.request == last.index + 1), None)
    if cut is None:
        return
    whole = usage.context + usage.output
    is_room = not case.window_is_known and not whole % ROUND and bool(usage.output % ROUND)
    room = ", which is then the server's window" if is_room else " in all"
    sizes = f"{usage.output:,} tokens on top of {usage.context:,}, {whole:,}{room}"
    row = case.measured(f"The reply ends with {cut.code}, after {sizes}", whole)
    because = f"the reply before it was cut off ({cut.code}) after {sizes}"
    full = f"Set a threshold under {usage.context:,} tokens: the context was full." if was_full(usage) else None
    advice = "Name that window in the agent's configuration, or load the model with more." if is_room else full
    yield Explanation(causes.CUT_REPLY, AFTER, because, (row,), (SETTING,), advice=advice)


def placeholder(case: Case) -> Iterable[Explanation]:
    """What took the place of a history says that it holds nothing, or has next to no words (verdicts 3.31)."""
    compaction, messages = case.compaction, case.weighed.transcript.messages
    if compaction is None or compaction.message is None:
        return
    if 2 * (case.counted_overhead or 0) > (case.said or 0) > 0:
        # There was next to nothing to summarise: what it says is right.
        return
    summary = messages[compaction.message]
    blocks = list(summary.leaves())
    said, n_tokens = summary.preview.strip(), sum(block.n_tokens for block in blocks)
    n = len(said.split())
    if not blocks and not compaction.outside:
        because = f"its summary of {counted(len(case.gone), 'message')} is empty: nothing of the history is in it"
        yield Explanation(causes.PLACEHOLDER, ALL, because)
        return
    nothing = _HOLDS_NOTHING.search(said)
    says_so = nothing is not None or (0 < n <= NEXT_TO_NOTHING and _took_much(case))
    # Before a notice the agent may say what it says of every summary, which the preview leaves out.
    longest = LONG if _NOTICE.match(said) else SHORT
    if not says_so or n_tokens > longest or withheld(summary) or any(block.kind is not Kind.TEXT for block in blocks):
        return
    because = f'the summary is {counted(n, "word")}, "{shortened(said)}": nothing of the history is in it'
    if nothing and nothing.end() > MOST_QUOTED:
        words = said[nothing.start() :].partition(" {")[0].rstrip(".")
        because = f'the summary, of {counted(n, "word")}, says itself "{shortened(words)}"'
    text = f"Message {compaction.message:,}, the summary, has {counted(n, 'word')}"
    left = ("a history that is kept in a file",) if "/" in said.replace("</", "") else ()
    row = case.row(text, n, "words", message=compaction.message)
    yield Explanation(causes.PLACEHOLDER, ALL, because, (row,), left)


def _took_much(case: Case) -> bool:
    """Whether a compaction took messages of 2,000 tokens and more, or such as are not in the file."""
    if case.compaction is None or case.compaction.outside:
        return case.compaction is not None
    held = sum(case.weighed.tokens[i] for i in case.gone)
    return held >= MUCH or (case.saw or 0) - case.shared.standing >= 10 * MUCH


def came_back(case: Case) -> Iterable[Explanation]:
    """What it took is in a later request again, though nothing came that explains it (verdicts 3.40)."""
    after, before, weighed = case.after, case.said or case.true, case.weighed
    if case.compaction is None or after is None or before < LEAST_CONTEXT or after > HALF * before:
        return
    context, labels, steps = weighed.recorded.context, weighed.recorded.labels, weighed.steps
    for k in range(case.position + 1, min(case.position + SOON_BACK, len(steps))):
        jump, came = context[k] - context[k - 1], sum(weighed.tokens[steps[k].start : steps[k].stop])
        if steps[k].compaction is not None or labels[k] is not Label.MEASURED:
            return
        is_old = context[k] <= MOST_BACK * before and steps[k].request not in case.shared.spikes
        if is_old and jump >= BACK * (before - after) and came < (1 - BACK) * jump:
            request = steps[k].request
            words = f"{context[k]:,} tokens at request {request:,}, after {context[k - 1]:,}"
            resumed = any(weighed.transcript.messages[i].resumed for i in range(steps[k - 1].stop, steps[k].stop))
            because = f"what it took came back{', when the session was taken up again' if resumed else ''}: {words}"
            row = case.row(f"Measured: {words}", context[k], label=Label.MEASURED.value)
            yield Explanation(causes.UNDONE, ALL, because, (row,))
            return


def freed_nothing(case: Case) -> Iterable[Explanation]:
    """The context measured after it is nine tenths or more of the one measured before (verdicts 3.12)."""
    after = case.after
    recorded = case.compaction is not None and case.compaction.tokens_before and case.compaction.tokens_after
    if not case.shared.has_usage and not recorded:
        yield from _dropped_nothing(case)
        return
    if case.compaction is not None and (after is None or not case.run):
        yield from _recorded_as_large(case, case.compaction)
        return
    if after is None or not case.run or case.usage is None or case.is_spike:
        return
    before = max(case.usage.context, case.true)
    # One that made it larger is told however small its part of the window was.
    least = LEAST_CONTEXT if after > before else max(LEAST_CONTEXT, LARGE * case.window)
    if before < least or after < NEARLY_ALL * before:
        return
    if _standing(case) >= LOW * before:
        # Fixed overhead: no compaction can free it.
        return
    words = f"{after:,} tokens after it, {before:,} before"
    row = case.row(f"Measured: {words}", after, label=Label.MEASURED.value)
    stays, advice = _what_stays(case)
    yield Explanation(causes.GREW, ALL, f"{freed(before, after)}: {words}{stays}", (row,), advice=advice)


def _what_stays(case: Case) -> tuple[str, str | None]:
    """That pictures stayed through it, in a clause, and what helps then; else "" and None."""
    messages, compaction = case.weighed.transcript.messages, case.compaction
    stayed = (*compaction.preserved, *range(compaction.boundary, case.stop)) if compaction else ()
    pictures = {i: sum(leaf.kind is Kind.IMAGE for leaf in messages[i].leaves()) for i in stayed}
    n, tokens = sum(pictures.values()), sum(case.weighed.tokens[i] for i, held in pictures.items() if held)
    if n < MANY_IMAGES or tokens < HALF * (case.after or 0):
        return "", None
    return f"; {n:,} pictures stay in what it keeps", "Start a new session: it keeps the pictures."


def _standing(case: Case) -> int:
    """Fixed overhead, as far as what stands before the first message can be no more than a prompt."""
    return 0 if case.shared.begins_inside else case.shared.standing


def _recorded_as_large(case: Case, compaction: RecordedCompaction) -> Iterable[Explanation]:
    """The agent wrote down no smaller figure after a compaction that no request followed, or one at once (3.12)."""
    before, after = compaction.tokens_before or 0, compaction.tokens_after or 0
    words, standing = f"{after:,} tokens after it, {before:,} before", _standing(case)
    row = case.row(f"Recorded: {words}", after)
    if before < max(LEAST_CONTEXT, LARGE * case.window):
        return
    if standing >= LOW * before:
        if after >= NEARLY_ALL * before and not case.run and case.previous is not None:
            because = f"{freed(before, after)}, by the record: {words}; fixed overhead is {standing:,} of it"
            yield Explanation(causes.OVERHEAD, ALL, because, (row,))
        return
    if after < before:
        return
    yield Explanation(causes.GREW, ALL, f"{freed(before, after, larger=1)}, by the record: {words}", (row,))


def _dropped_nothing(case: Case) -> Iterable[Explanation]:
    """Without a usage: the list that it left weighs nine tenths of the one before, or is the same (verdicts 3.12)."""
    compaction, weighed = case.compaction, case.weighed
    if case.said is not None and not agree(case.true, case.said, HALF):
        # What the agent counted goes before our estimate of the same list.
        return
    if compaction is None or compaction.outside or not weighed.transcript.messages[: compaction.boundary]:
        return
    if not case.gone and compaction.message is None:
        row = case.row("The record lists no message that left", 0, "messages")
        yield Explanation(causes.GREW, ALL, "it removed no message", (row,))
        return
    made = weighed.tokens[compaction.message] if compaction.message is not None else 0
    after = case.true - sum(weighed.tokens[i] for i in case.gone) + made
    least = LARGE * case.window if case.window_is_known else LEAST_CONTEXT
    if case.true < max(LEAST_CONTEXT, least) or after < NEARLY_ALL * case.true:
        return
    words = f"{after:,} tokens after it, {case.true:,} before"
    row = case.row(f"By estimate: {words}", after, label=Label.ESTIMATED.value)
    yield Explanation(causes.GREW, ALL, f"{freed(case.true, after)}: {words}", (row,), (ESTIMATE,))


def full_again(case: Case) -> Iterable[Explanation]:
    """The threshold passed within three requests of a compaction that had left room (verdicts 3.13)."""
    previous, limit = case.previous, case.met
    if case.trigger == "manual" or limit is None or case.true < limit or not case.run:
        return
    left = left_by_compaction(case)
    n = len(case.run)
    if previous is None or previous.outside or n > SOON_FULL or left >= LOW * limit or case.true < case.sent:
        return
    found = case.filled
    if found.tokens < HALF * (limit - left):
        return
    name, tokens, _ = found.by_source[0]
    requests = "one request" if n == 1 else f"{n} requests"
    because = f"{tokens:,} tokens of {name} filled it again in {requests}"
    yield Explanation(causes.REFILLED, AT_ONCE, because)


def one_message(case: Case) -> Iterable[Explanation]:
    """One message brought half of the threshold or more, onto a context well under it (verdicts 3.14)."""
    limit = case.met
    if case.trigger == "manual" or limit is None or case.sent >= 0.7 * limit:
        return
    found = case.filled
    if found.heaviest is None or found.heaviest not in case.tail or found.heaviest_tokens < HALF * limit:
        return
    if case.true < limit or max(found.heaviest_tokens + case.sent, 0) < limit or found.heaviest in case.media:
        return
    because = f"{heaviest_words(case)} on top of {case.sent:,}"
    # Its size is counted, not measured: the recorder's own figure beside it makes it sure.
    is_sure = case.said is not None and agree(case.true, case.said, AGREE)
    yield Explanation(causes.ONE_MESSAGE, FILLED, because, (), () if is_sure else (ESTIMATE,), advice=smaller(case))


def every_step(case: Case) -> Iterable[Explanation]:
    """Compacted after every request at a small context: nothing is left of the window (verdicts 3.9)."""
    if case.trigger == "manual" or case.true >= 0.3 * case.window:
        return
    n, n_all = case.shared.n_at_once, len(case.weighed.transcript.compactions)
    if n < TIMES or 2 * n < n_all - 1:
        return
    text = f"{n} of {n_all} compactions came one request after the one before"
    row = case.row(text, n, "compactions")
    often = f"at every request, {n_all:,} times" if n == n_all - 1 else f"{n:,} of {n_all:,} times after one request"
    because = f"it compacts {often}, at {case.true:,} tokens: the reply's reserve may take the rest"
    known = Fact.TIMING | Fact.SIZE
    yield Explanation(causes.RESERVE, known, because, (row,), (SETTING, "a count that is not recorded"))
