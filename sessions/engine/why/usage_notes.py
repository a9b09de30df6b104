"""What stands beside the event of a first line: usage that lacks, replies cut off, what was cleared (verdicts 4)."""

from __future__ import annotations

from sessions.engine.agents.agent import writer_of
from sessions.engine.base import registry
from sessions.engine.base.words import request_words
from sessions.engine.reading.formats import NO, UNKNOWN
from sessions.engine.transcript.recorded_events import BESIDE, CUT_OFF, ENDS, EventKind
from sessions.engine.transcript.types import Usage
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why import causes
from sessions.engine.why.cache_use import lost_at
from sessions.engine.why.causes_missing import READS_USAGE
from sessions.engine.why.orphans import parted_sentence
from sessions.engine.why.shared import shared_facts

LEAST_BLIND = 3
"""Answers from which usage that is missing is told."""


def beside(weighed: Weighed) -> tuple[str, ...]:
    """What was not reported, cleared or parted, and which subagents were refused, a sentence each; else ""."""
    usages = _blind(weighed), _partly_blind(weighed), _replies_cut(weighed)
    return parted_sentence(weighed.transcript), _cleared(weighed), _subagents(weighed), *usages


def usage_of_request(weighed: Weighed, request: int) -> Usage | None:
    """What was reported for a request."""
    return weighed.transcript.requests[request].usage


def _cleared(weighed: Weighed) -> str:
    """What was cleared without a compaction (microcompaction, context editing), and where first, in a sentence."""
    clearings, label = weighed.transcript.clearings, writer_of(weighed.transcript).label
    if not clearings:
        return ""
    what = "thinking" if all(one.what == "thinking" for one in clearings) else "tool results"
    n, first = len(clearings), clearings[0].request
    where = f"once, at request {first:,}" if n == 1 else f"{n:,} times, first at request {first:,}"
    lost_then = lost_at(weighed.transcript)
    anew = [lost_then[one.request] for one in clearings if one.request in lost_then]
    times = "" if len(anew) == n else f", {len(anew):,} times"
    lost = (
        f"; the request after it read next to nothing from the cache{times}: {sum(anew):,} tokens were sent anew"
        if anew
        else ""
    )
    return f"{label or 'The agent'} also cleared old {what} {where}{lost}."


def _blind(weighed: Weighed) -> str:
    """That no answer reports its usage, in a format that has a place for it, in a sentence; else ""."""
    transcript, n = weighed.transcript, sum(request.on_branch for request in weighed.transcript.requests)
    coverage = getattr(registry.plugins("formats").get(transcript.format), "coverage", UNKNOWN)
    agent = writer_of(transcript)
    if n < LEAST_BLIND or shared_facts(weighed).has_usage:
        return ""
    if agent.name in READS_USAGE:
        said = f"No usage is recorded on any of {n:,} requests: {agent.label}'s trigger reads nothing else."
        return f"{said} {causes.CHANGES[causes.NO_USAGE]}"
    return f"No usage is recorded on any of {n:,} requests." if coverage.usage != NO else ""


def _partly_blind(weighed: Weighed) -> str:
    """On how many of the answers no usage is recorded though others have theirs, in a sentence; else ""."""
    sent = [r for r in weighed.transcript.requests if r.on_branch and r.message is not None and not r.aborted]
    blind = [r for r in sent if r.usage is None]
    if not blind or len(sent) < LEAST_BLIND or len(sent) == len(blind) or 4 * len(blind) < len(sent):
        return ""
    return (
        f"No usage is recorded on {len(blind):,} of {len(sent):,} requests, first on {request_words(blind[0].index)}."
    )


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
        told.append(f"{said}: it was cut off there (possible).")
    return " ".join(told)
