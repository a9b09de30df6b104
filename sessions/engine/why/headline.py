"""The first lines about a session: what happened, why, how sure, what to change; what cost most first (verdicts 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sessions.engine.agents.agent import writer_of
from sessions.engine.base import registry
from sessions.engine.base.words import counted
from sessions.engine.reading.formats import NO, UNKNOWN
from sessions.engine.reading.noted_events import context_output
from sessions.engine.transcript.recorded_events import BESIDE, NOT_ALL_SENT, OWN_COUNT, OWN_ESTIMATE, EventKind
from sessions.engine.transcript.types import Label, Usage
from sessions.engine.weigh.calibration.context_windows import ANSWER, RECORDED, SOURCES
from sessions.engine.weigh.calibration.fit import REST, overhead_parts
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why import causes
from sessions.engine.why.cache_use import cache_sentence, lost_at
from sessions.engine.why.case import COMPACTION, ERROR, MISSING, PARTIAL_FACTOR
from sessions.engine.why.causes_missing import READS_USAGE
from sessions.engine.why.ending import ending_sentence
from sessions.engine.why.falls import cutting_room, falls_sentence, largest_fall
from sessions.engine.why.filled import brought
from sessions.engine.why.orphans import parted_sentence
from sessions.engine.why.said import UNFINISHED
from sessions.engine.why.shared import Shared, position_of, shared_facts
from sessions.engine.why.verdicts import OVER_LIMIT, Verdict
from sessions.engine.why.windows import held_at

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript
    from sessions.engine.weigh.calibration.context_windows import ModelWindow

SURE = {"certain": 1.0, "likely": 0.8, "possible": 0.5, "unknown": 0.6}
UNTOLD_END = 3.5
"""A compaction that began and did not end, without a word why: one with a cause tells more."""
STOPPED, RECOVERED, NOT_COME = 100.0, 5.0, 3.0
"""A refusal that ended the session leads always; one that an answer followed, a compaction that did not come."""
PLAIN = {causes.REACHED: 1.0, causes.MANUAL: 1.0, causes.CANNOT_TELL: 1.8, causes.AFTER_REFUSAL: 6.0, causes.GREW: 4.5}
NORMAL = frozenset({causes.REACHED, causes.MANUAL, causes.SWITCH, causes.CANNOT_TELL})
NEEDLESS = 4.0
"""A compaction that should not have come, or that did not help."""
MOST_GROUPS, MANY_ALIKE = 2, 3
"""Groups of other events that are told, and equal compactions from which the first line counts them."""
LESS = {
    "mcp tools": "Turn off servers that are not needed.", "system tools": "Turn off tools that are not needed.",
    "memory files": "Shorten the memory files.", "repository map": "Make the map smaller.",
    "skills": "Turn off skills that are not needed.", "custom agents": "Turn off agents that are not needed.",
}  # fmt: skip
"""What helps against a part of the context that an agent lists."""
PART_OF_WINDOW, PART_OF_FIRST, LEAST_SYSTEM = 4, 2, 10_000
"""A listed part over one in so many tokens of the window, or of the first request, is told; system prompt and tools
from so many tokens."""
LEAST_CUT = 4_000
"""Tokens of text over the largest usage from which the usage is not that of the text, where it is a third at most."""
UNTOLD, HIDDEN = 2, 100_000
"""A peak over so many times what the file explains, and so many tokens more than that, is not stated as it is."""
IMPOSSIBLE = 2
"""A usage over so many times the recorded window is of several requests together."""


@dataclass(frozen=True, slots=True)
class Headline:
    """What a session's first lines say.

    ``what``: the event and where; ``why``: its cause in a clause; ``certainty`` in a word, "" where nothing happened;
    ``change``: what a user can do, "" where nothing has to be done; ``more``: other events, counted; ``text``: all of
    it.  ``verdict`` is the position of the leading one among the verdicts, None where nothing happened.
    """

    text: str
    what: str
    why: str = ""
    certainty: str = ""
    change: str = ""
    more: str = ""
    cause: str = ""
    verdict: int | None = None


def leading(verdicts: Sequence[Verdict], n_requests: int | None = None) -> Verdict | None:
    """The verdict that the first line is about, None where nothing happened; ``n_requests`` is the session's."""
    last = n_requests if n_requests is not None else max((v.request for v in verdicts), default=0)

    # Of equals a failed compaction that says what for tells most, then a refusal that names its size, then any other
    # attempt; and one that freed nothing at the end.
    def rank(verdict: Verdict) -> tuple[float, bool, bool, bool, bool]:
        is_told = verdict.is_attempt and bool(verdict.change)
        grew = verdict.cause == causes.GREW and verdict.request >= last
        return weight(verdict, last), is_told, bool(verdict.size), verdict.is_attempt, grew

    return max(verdicts, key=rank, default=None)


def has_died(verdicts: Sequence[Verdict], n_requests: int) -> bool:
    """Whether a session ended with a refusal, a failed compaction or an error: then it is told first of several."""
    lead = leading(verdicts, n_requests)
    return lead is not None and lead.what == ERROR and lead.request >= n_requests


def is_trouble(verdict: Verdict) -> bool:
    """Whether a list has to show it: refused, not compacted, or compacted for a likely cause that is not normal."""
    if verdict.what != COMPACTION:
        return True
    return verdict.cause not in NORMAL and verdict.certainty in ("certain", "likely")


def weight(verdict: Verdict, n_requests: int) -> float:
    """What an event cost the user, times how sure its cause is."""
    if verdict.is_attempt and verdict.because.startswith(UNFINISHED):
        cost = UNTOLD_END
    elif verdict.what == ERROR:
        cost = STOPPED if verdict.request >= n_requests else RECOVERED
    elif verdict.what == MISSING:
        cost = NOT_COME
    else:
        cost = PLAIN.get(verdict.cause, NEEDLESS)
    return cost * SURE["certain" if verdict.size else verdict.certainty]


def headline_of(weighed: Weighed, verdicts: Sequence[Verdict]) -> Headline:
    """The first lines about a session."""
    lead = leading(verdicts, len(weighed.transcript.requests))
    if lead is None:
        return _uneventful(weighed)
    same = [v for v in verdicts if _kind(v) == _kind(lead)]
    if lead.what != ERROR and (lead.what != COMPACTION or lead.cause in NORMAL or len(same) < MANY_ALIKE):
        same = []
    lead = same[0] if len(same) > 1 else lead
    lead_told = _joined(lead, same, verdicts)
    more = _more([v for v in verdicts if v is not lead and v not in same])
    cache = "" if lead.what == ERROR else cache_sentence(weighed.transcript)
    fallen = falls_sentence(shared_facts(weighed).falls)
    text = " ".join(filter(None, (lead_told.sentence, lead.change, more, *_beside(weighed), fallen, cache)))
    place = next(i for i, verdict in enumerate(verdicts) if verdict is lead)
    return Headline(text, lead_told.point, lead.because, lead.certainty, lead.change, more, lead.cause, place)


def headline(weighed: Weighed, verdicts: Sequence[Verdict]) -> str:
    """The same as one text."""
    return headline_of(weighed, verdicts).text


def _beside(weighed: Weighed) -> tuple[str, ...]:
    """What was not reported, cleared or parted, and which subagents were refused, a sentence each; else ""."""
    told = parted_sentence(weighed.transcript), _blind(weighed), _cleared(weighed), _subagents(weighed)
    return (*told, _replies_cut(weighed))


def _kind(verdict: Verdict) -> tuple[str | bool | None, ...]:
    of_compaction = (verdict.certainty, verdict.trigger) if verdict.what == COMPACTION else ()
    return verdict.what, verdict.cause, verdict.is_attempt, *of_compaction


def _joined(lead: Verdict, same: Sequence[Verdict], verdicts: Sequence[Verdict]) -> Verdict:
    """The leading verdict, counted with those elsewhere that are equal."""
    if len(same) < 2:
        return lead
    between = verdicts[verdicts.index(same[0]) : verdicts.index(same[-1]) + 1]
    spread = len({v.request for v in same}) > 1
    return replace(lead, count=sum(v.count for v in same), in_a_row=len(between) == len(same), spread=spread)


def _more(verdicts: Sequence[Verdict]) -> str:
    """The other events, equal ones counted; what was refused counts as often as it was tried."""
    if verdicts and all(v.cause == causes.REACHED and v.certainty != "possible" for v in verdicts):
        return f"And {len(verdicts):,} more, {'all ' if len(verdicts) > 1 else ''}normal."
    words = {COMPACTION: "compaction", ERROR: "refusal", MISSING: "missing compaction"}
    others: Counter[tuple[str, str]] = Counter()
    for v in verdicts:
        said = "stop by the agent" if v.is_stop else "failed compaction" if v.is_attempt else words[v.what]
        hedge = f", {v.certainty}" if v.certainty in ("likely", "possible") else ""
        told = v.size if v.label == OVER_LIMIT else v.label
        others[said, "" if v.cause == causes.FAILED else f" ({told}{hedge})"] += v.count
    if not others:
        return ""
    listed = [f"{counted(n, said)}{cause}" for (said, cause), n in others.most_common(MOST_GROUPS)]
    n_more = sum(others.values()) - sum(n for _, n in others.most_common(MOST_GROUPS))
    return f"Also: {', '.join(listed)}{f', {n_more} more' if n_more else ''}."


def _uneventful(weighed: Weighed) -> Headline:
    """A session that was never compacted: where its context fell, or how far it got; what was cleared in place."""
    falls = shared_facts(weighed).falls
    fall, short = largest_fall(falls), "" if falls else _short(weighed)
    size, transcript = _noted(weighed) or _peak(weighed), weighed.transcript
    said = falls_sentence(falls) or short or " ".join(filter(None, (_listed(weighed), "No compaction.", size)))
    ends = cache_sentence(transcript), ending_sentence(transcript)
    change = causes.CHANGES[causes.CUT] if fall and fall.settings else ""
    text = " ".join(filter(None, (said, change, *_beside(weighed), *ends)))
    if fall is None:
        return Headline(text, text, certainty="possible" if short else "")
    return Headline(text, fall.point, fall.because, "possible" if fall.settings else "unknown")


def _short(weighed: Weighed) -> str:
    """That the largest usage is a small part of the text that was sent, in a sentence; else ""."""
    sizes = [(usage.context, k) for k, step in enumerate(weighed.steps) if (usage := _usage(weighed, step.request))]
    most, k = max(sizes, default=(0, 0))
    text = shared_facts(weighed).text_until[weighed.steps[k].stop] if sizes else 0
    if weighed.transcript.clearings or text < PARTIAL_FACTOR * most or text - most < LEAST_CUT:
        return ""
    where = f"request {weighed.steps[k].request:,}" if k else "the first request"
    counted_here = f"The server counted {most:,} tokens at {where}, its text has about {text:,}"
    return f"{counted_here}: it cut the prompt, or left cached tokens out (possible)."


def _usage(weighed: Weighed, request: int) -> Usage | None:
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


def _noted(weighed: Weighed) -> str:
    """Of a session without usage: what saved settings tell, or what the agent took its requests for; else ""."""
    transcript = weighed.transcript
    if shared_facts(weighed).has_usage:
        return ""
    own = next((note for note in reversed(transcript.warnings) if OWN_ESTIMATE in note or OWN_COUNT in note), "")
    of_window = f"; the recorded window is {transcript.window:,}" if own and transcript.window else ""
    words = _settings(transcript) or f"{own}{of_window}"
    kept = next((note for note in transcript.warnings if NOT_ALL_SENT in note), "")
    if not words and kept:
        size = max((tokens for tokens in weighed.estimated if tokens), default=0)
        words = f"the messages of the file have {size:,} tokens together (estimated), more than was sent: {kept}"
    return f"{words[0].upper()}{words[1:]}." if words else ""


def _settings(transcript: Transcript) -> str:
    return next((event.words for event in transcript.events if event.kind == EventKind.SETTINGS), "")


def _blind(weighed: Weighed) -> str:
    """That no answer reports its usage, in a format that has a place for it, in a sentence; else ""."""
    transcript, n = weighed.transcript, sum(request.on_branch for request in weighed.transcript.requests)
    coverage = getattr(registry.plugins("formats").get(transcript.format), "coverage", UNKNOWN)
    agent = writer_of(transcript)
    if n < MANY_ALIKE or shared_facts(weighed).has_usage:
        return ""
    if agent.name in READS_USAGE:
        said = f"No usage is recorded on any of {n:,} requests: {agent.label}'s trigger reads nothing else."
        return f"{said} {causes.CHANGES[causes.NO_USAGE]}"
    return f"No usage is recorded on any of {n:,} requests." if coverage.usage != NO else ""


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
    usage = _usage(weighed, first.request - 1) if first.request else None
    stood = f"; this session, which asked for it, stood at {usage.context:,}" if usage else ""
    return f"{who} before request {first.request:,}: {first.words}{stood}."


def _replies_cut(weighed: Weighed) -> str:
    """Which replies ended at a limit though others followed, in a sentence; else ""."""
    cut = [event for event in weighed.transcript.events if event.kind == EventKind.REPLY_CUT]
    if not cut:
        return ""
    newest, n = cut[-1], len(cut)
    usage = _usage(weighed, newest.request - 1)
    after = f" after {usage.output:,} tokens, on top of {usage.context:,}" if usage and usage.output else ""
    who = "A reply was cut off" if n == 1 else f"{n:,} replies were cut off, the newest"
    return f"{who} at request {newest.request - 1:,}{after} ({newest.code})."


def _peak(weighed: Weighed) -> str:
    """The largest context, usages that cannot be right left out; its share where that is 1% or more."""
    shared = shared_facts(weighed)
    sizes = {r.index: r.usage.context for r in weighed.transcript.requests if r.usage and r.index not in shared.spikes}
    label = "" if sizes else f" ({Label.ESTIMATED.value})"
    sizes = sizes or {k: tokens for k, tokens in enumerate(weighed.estimated) if tokens is not None}
    peak = max(sizes.values(), default=0)
    if not peak:
        said = "No request shows how large the context was"
        # Of a session that nothing answered, what stands before it is all that can be told.
        return (
            f"{said}; system prompt and tools in the file weigh about {weighed.overhead:,} tokens."
            if (weighed.transcript.system and weighed.overhead >= LEAST_SYSTEM)
            else f"{said}."
        )
    at = position_of(weighed, max(sizes, key=lambda index: sizes[index]))
    held = held_at(weighed, at, peak, shared.windows, own=True)
    said, jump = f"Peak {peak:,} tokens{label}", _last_jump(weighed, shared)
    made = weighed.estimated[at] if at < len(weighed.estimated) else None
    if made and peak > UNTOLD * made and peak - made > HIDDEN:
        # A usage that adds up several calls, or content that the file does not hold.
        return f"{said}, as reported; the file explains {made:,} of them."
    if 100 * peak < held.window and held.source != ANSWER:
        return f"{said}{jump}."
    if not held.is_known:
        return f"{said}{jump}. The model's window is unknown."
    window = writer_of(weighed.transcript).own_window(held.window)
    if peak > held.window:
        return f"{said}, {_over(weighed, peak, held, window, jump)}"
    came = brought(weighed, range(1, len(weighed.steps)), peak, "; ")
    whole = "the window" if window == held.window else f"the {window:,} usable"
    whole = f"the window, recorded as {window:,}" if held.source == RECORDED and window == held.window else whole
    return f"{said}, {100 * peak / window:.0f}% of {whole}{_cached(weighed, at)}{jump}{came}{_standing(weighed, peak)}."


def _cached(weighed: Weighed, at: int) -> str:
    """How much of the request of a step was read from the cache, in a clause, where it is half or more; else ""."""
    usage = _usage(weighed, weighed.steps[at].request) if at < len(weighed.steps) else None
    is_most = usage is not None and 2 * usage.cache_read >= usage.context > 0
    return f", {usage.cache_read:,} of them read from the cache" if usage and is_most else ""


def _standing(weighed: Weighed, peak: int) -> str:
    """That half of a peak or more is what the file itself has of system prompt and tools, in a clause; else ""."""
    n = sum(1 for block in weighed.transcript.system if block.name)
    own = sum(part.tokens for part in overhead_parts(weighed) if part.name != REST)
    if not n or not max(LEAST_SYSTEM, peak / 2) <= own <= peak:
        return ""
    return f"; about {own:,} of them are the system prompt and {counted(n, 'tool')}"


def _over(weighed: Weighed, peak: int, held: ModelWindow, window: int, jump: str) -> str:
    """Of a peak over the window: what the server does with more than it has room for, or that it is a sum."""
    if settings := cutting_room(weighed.transcript):
        return f"{peak / held.window:.1f} times its room: {settings}. {causes.CHANGES[causes.CUT]}"
    is_sum = peak > IMPOSSIBLE * held.window and held.source == RECORDED
    over = "no size of one request, for it is far over" if is_sum else "over"
    return f"{over} a window of {window:,}, {SOURCES[held.source]}{'' if is_sum else jump}."


def _listed(weighed: Weighed) -> str:
    """The part of a recorded listing of the context that is large by itself, and what helps, in sentences; else ""."""
    listed = [event for event in weighed.transcript.events if event.kind == EventKind.CONTEXT_LISTED]
    parts = context_output(listed[-1].words) if listed else {}
    name = max(parts, key=lambda name: parts[name], default="")
    window = held_at(weighed, 0, 0, shared_facts(weighed).windows, own=True).window
    first = next((usage.context for step in weighed.steps if (usage := _usage(weighed, step.request))), 0)
    if not name or (PART_OF_WINDOW * parts[name] <= window and PART_OF_FIRST * parts[name] <= (first or window)):
        return ""
    label = name.replace("mcp", "MCP") + "' definitions" if name.endswith("tools") else f"the {name}"
    share = 100 * parts[name] / window
    said = f"{parts[name]:,} tokens, {share:.0f}% of the window, are {label}, as the agent listed it."
    return f"{said} {LESS[name]}" if name in LESS else said


def _last_jump(weighed: Weighed, shared: Shared) -> str:
    """What the last request reports where no later one can show that it fell back, in a clause; else ""."""
    last = weighed.steps[-1].request if weighed.steps else -1
    usage = _usage(weighed, last) if last in shared.spikes and last not in weighed.flagged else None
    return f"; the last request reports {usage.context:,}" if usage else ""


@dataclass(frozen=True, slots=True)
class Group:
    """Events of one kind, cause, trigger and certainty; ``tries`` counts one that was refused three times as three."""

    lead: Verdict
    places: tuple[int, ...]
    requests: tuple[int, ...]
    tries: int

    @property
    def n(self) -> int:
        """At how many points of the session they stand."""
        return len(self.places)


def grouped(verdicts: Sequence[Verdict], n_requests: int) -> tuple[Group, ...]:
    """Equal events together, the group of the headline first."""
    found: dict[tuple[str, str, str, str | None], list[int]] = {}
    for place, verdict in enumerate(verdicts):
        found.setdefault((verdict.what, verdict.cause, verdict.certainty, verdict.trigger), []).append(place)
    groups = []
    for places in found.values():
        own = [verdicts[place] for place in places]
        group = Group(own[0], tuple(places), tuple(v.request for v in own), sum(v.count for v in own))
        groups.append((max(weight(verdict, n_requests) for verdict in own), group))
    return tuple(group for _, group in sorted(groups, key=lambda ranked: -ranked[0]))


def group_document(group: Group) -> dict[str, Any]:
    """One entry of ``events[]`` in ``ctxweb.why/1``."""
    lead = group.lead
    return {
        "what": lead.what,
        "trigger": lead.trigger,
        "cause": lead.cause,
        "cause_label": lead.label,
        "certainty": lead.certainty,
        "n": group.n,
        "tries": group.tries,
        "requests": list(group.requests),
        "verdicts": list(group.places),
        "because": lead.because,
        "change": lead.change,
    }
