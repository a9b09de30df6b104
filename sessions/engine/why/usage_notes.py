"""What stands beside the event of a first line: usage that lacks, replies cut off, what was cleared (verdicts 4)."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from sessions.engine.agents.agent import trigger_of, writer_of
from sessions.engine.base import registry
from sessions.engine.base.words import request_words
from sessions.engine.reading.formats import NO, UNKNOWN, YES, Coverage
from sessions.engine.transcript.recorded_events import (
    APPLIED_EDITS,
    BESIDE,
    CUT_OFF,
    CUTS,
    ENDS,
    SERVER,
    TROUBLES,
    EventKind,
    settings_in,
)
from sessions.engine.transcript.types import Transcript, Usage
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why import causes
from sessions.engine.why.cache_use import lost_at
from sessions.engine.why.causes_missing import READS_USAGE
from sessions.engine.why.orphans import parted_sentence
from sessions.engine.why.said import quoted
from sessions.engine.why.shared import shared_facts
from sessions.engine.why.windows import differ

LEAST_BLIND, LEAST_KNOWN, MOST_TOOLS, MANY_CUT, MOST_LIMITS = 3, 2, 2, 3, 3
"""Answers from which usage that is missing is told, and known calls beside the branch from which it is; tools that are
told; replies of one size from which they are likely cut off there; limits that are told."""


OF_MESSAGES = re.compile(r"(?:threshold|target)_count", re.IGNORECASE)
"""What a file calls the number of messages from which its history is to be reduced."""


class Beside(NamedTuple):
    """What stands beside the event of a first line; where there is none, ``trouble`` stands before the size."""

    trouble: str
    notes: str


def beside(weighed: Weighed) -> Beside:
    """What was cut off, parted, cleared, refused to subagents, or not reported, in sentences; "" where nothing was."""
    blind, transcript = _blind(weighed), weighed.transcript
    counts = coverage_of(transcript.format).usage == YES and trigger_of(transcript) is not None
    is_blind = counts or writer_of(transcript).name in READS_USAGE
    trouble = _replies_cut(weighed), parted_sentence(transcript), _cleared(weighed), _subagents(weighed), _room(weighed)
    troubles = (*trouble, _switched_after_error(transcript), blind if is_blind else "")
    notes = ("" if is_blind else blind, _partly_blind(weighed))
    return Beside(" ".join(filter(None, troubles)), " ".join(filter(None, notes)))


def limits_sentence(transcript: Transcript, told: str) -> str:
    """The limits that the file sets and what is ``told`` does not name, in a sentence; else ""."""
    limits = [event.words for event in transcript.events if event.kind == EventKind.LIMIT_SET]
    # Short figures and yes or no stand anywhere.
    new = [words for words in limits if (words.rsplit(" ", 1)[-1] if "," in words else words) not in told][:MOST_LIMITS]
    counts = settings_in(transcript.events, OF_MESSAGES)
    n, made = len(transcript.messages), any(message.summary for message in transcript.messages)
    is_over = counts and not made and not transcript.compactions and n > max(most for _, most in counts)
    held = f"; it holds {n:,} messages, and no summary" if is_over else ""
    return f"The file sets {', '.join(new)}{held}." if new else ""


def usage_of_request(weighed: Weighed, request: int) -> Usage | None:
    """What was reported for a request."""
    return weighed.transcript.requests[request].usage


def _cleared(weighed: Weighed) -> str:
    """What was cleared without a compaction (microcompaction, context editing), where first, and what it freed."""
    clearings, label = weighed.transcript.clearings, writer_of(weighed.transcript).label
    if not clearings:
        return ""
    what = "thinking" if all(one.what == "thinking" for one in clearings) else "tool results"
    n, first = len(clearings), clearings[0].request
    counts, sizes = [one.n_cleared or 0 for one in clearings], [one.tokens_freed or 0 for one in clearings]
    # The API clears the whole list that it is sent anew for each request: its newest count holds those before.
    is_whole = coverage_of(weighed.transcript.format).clearing == APPLIED_EDITS and n > 1
    cleared, tokens = (counts[-1], sizes[-1]) if is_whole else (sum(counts), sum(sizes))
    how_many = f"{cleared:,} old" if cleared > 1 and what != "thinking" else "old"
    each = f"for each of {n:,} requests" if is_whole else f"{n:,} times"
    where = f"at request {first:,}" if n == 1 else f"{each}, first at request {first:,}"
    freed = f", {tokens:,} tokens by its own count{' at the last' if is_whole else ''}" if tokens else ""
    lost_then = lost_at(weighed.transcript)
    anew = [lost_then[one.request] for one in clearings if one.request in lost_then]
    times = "" if len(anew) == n else f", {len(anew):,} times"
    lost = (
        f"; the request after it read next to nothing from the cache{times}: {sum(anew):,} tokens were sent anew"
        if anew
        else ""
    )
    return f"{label or 'The agent'} cleared {how_many} {what}{_of_tools(weighed)} {where}{freed}{lost}."


def _of_tools(weighed: Weighed) -> str:
    """The tools of which most results were cleared, where that is recorded, with their numbers; else ""."""
    tool_of = shared_facts(weighed).tool_of
    tools = Counter(tool_of[call] for one in weighed.transcript.clearings for call in one.calls if tool_of.get(call))
    if len(tools) == 1:
        return f" of {next(iter(tools))}"
    told = ", ".join(f"{count:,} of {name}" for name, count in tools.most_common(MOST_TOOLS))
    return f" ({told})" if told else ""


def _blind(weighed: Weighed) -> str:
    """That no answer reports its usage, in a format that has a place for it, in a sentence; else ""."""
    transcript, n = weighed.transcript, sum(request.on_branch for request in weighed.transcript.requests)
    agent = writer_of(transcript)
    if n < LEAST_BLIND or shared_facts(weighed).has_usage:
        return ""
    if agent.name in READS_USAGE:
        said = f"No usage is recorded on any of {n:,} requests: {agent.label}'s trigger reads nothing else."
        return f"{said} {causes.CHANGES[causes.NO_USAGE]}"
    return f"No usage is recorded on any of {n:,} requests." if coverage_of(transcript.format).usage != NO else ""


def coverage_of(name: str) -> Coverage:
    """What the format of that name records."""
    return getattr(registry.plugins("formats").get(name), "coverage", UNKNOWN)


def no_error(transcript: Transcript) -> str:
    """That the file records no error, in a sentence, where it has requests and its format records errors; else ""."""
    records = coverage_of(transcript.format).refusals == YES and transcript.requests and transcript.messages
    is_clean = not transcript.errors and all(event.kind not in TROUBLES for event in transcript.events)
    return "No error is recorded." if records and is_clean else ""


def _room(weighed: Weighed) -> str:
    """Of a session that was refused, what its server says of the room that it gives, in a sentence; else ""."""
    events = weighed.transcript.events if weighed.transcript.errors else ()
    told = (e.words for e in events if e.kind == EventKind.SETTINGS and e.code in (CUTS, SERVER))
    return next((f"{words[0].upper()}{words[1:]}." for words in told if words), "")


def _partly_blind(weighed: Weighed) -> str:
    """On how many of the answers no usage is recorded though others have theirs, in a sentence; else ""."""
    requests = weighed.transcript.requests
    sent = [r for r in requests if not r.aborted and (r.message is not None or not r.on_branch)]
    known = [r for r in sent if r.usage and r.usage.context]
    blind = [r for r in sent if not r.usage or not r.usage.context]
    is_known = any(r.on_branch for r in known) or len(known) >= LEAST_KNOWN
    if not blind or len(sent) < LEAST_BLIND or not is_known or 4 * len(blind) < len(sent):
        return ""
    return (
        f"No usage is recorded on {len(blind):,} of {len(sent):,} requests, first on {request_words(blind[0].index)}."
    )


def _switched_after_error(transcript: Transcript) -> str:
    """That another model answered after an error that was no refusal for size, in its words, in a sentence; else ""."""
    failed = {event.request: event for event in transcript.events if event.kind == EventKind.ERROR}
    for one, other in pairwise(request for request in transcript.requests if request.on_branch):
        if other.index in failed and differ(one.model, other.model):
            words = quoted(failed[other.index]) or "an error"
            return f"{other.model} answered from {request_words(other.index)} on, after {words} on {one.model}."
    return ""


def _subagents(weighed: Weighed) -> str:
    """Which subagents were refused, and where this session stood, in a sentence; else ""."""
    refused = [event for event in weighed.transcript.events if event.kind == EventKind.SUBAGENT]
    if not refused:
        return ""
    first, n = refused[0], len(refused)
    who = "A subagent was refused" if n == 1 else f"Subagents were refused {n:,} times, the first"
    if first.code == BESIDE:
        times = "" if n == 1 else f" {n:,} times, first"
        who = f"A call beside the conversation, which went on, was refused{times}"
    usage = usage_of_request(weighed, first.request - 1) if first.request else None
    stood = f"; this session, which asked for it, stood at {usage.context:,}" if usage else ""
    return f"{who} before request {first.request:,}: {first.words}{stood}."


def _replies_cut(weighed: Weighed) -> str:
    """Which replies ended at a limit, or where one is usual, though others followed, in sentences; else ""."""
    transcript = weighed.transcript
    compacted = {compaction.request for compaction in transcript.compactions}
    events = [event for event in transcript.events if event.kind == EventKind.REPLY_CUT]
    cut = [event for event in events if event.code]
    usual = [event for event in events if not event.code]
    told = []
    if cut and (len(cut) > 1 or cut[0].request not in compacted):
        newest = cut[-1]
        usage = usage_of_request(weighed, newest.request - 1)
        after = f" after {usage.output:,} tokens, on top of {usage.context:,}" if usage and usage.output else ""
        ended = any(event.words.startswith(CUT_OFF) for event in transcript.events if event.kind in ENDS)
        as_well = " as well" if ended else ""
        n = f"{len(cut):,} replies were" if len(cut) > 1 else "A reply was"
        newest_of = ", the newest" if len(cut) > 1 else ""
        told.append(f"{n} cut off{as_well}{newest_of} at {request_words(newest.request - 1)}{after} ({newest.code}).")
    if usual:
        more = f", as {len(usual) - 1:,} before it" if len(usual) > 1 else ""
        said = f"The reply at {request_words(usual[-1].request - 1)} has {usual[-1].words}{more}"
        hedge = "likely" if len(usual) >= MANY_CUT else "possible"
        told.append(f"{said}: it was cut off there ({hedge}).")
    return " ".join(told)
