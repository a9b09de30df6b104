"""How large a session without any event got, and what of it is known: its part of the first lines (verdicts 4)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.agents.agent import writer_of
from sessions.engine.base.words import counted, request_words
from sessions.engine.reading.noted_events import context_output
from sessions.engine.transcript.recorded_events import NOT_ALL_SENT, OF_TURNS, OWN_COUNT, OWN_ESTIMATE, EventKind
from sessions.engine.transcript.types import Label, Role, Usage
from sessions.engine.weigh.calibration.context_windows import ANSWER, RECORDED, SOURCES
from sessions.engine.weigh.calibration.fit import REST, overhead_parts
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why import causes
from sessions.engine.why.cache_use import is_doubled
from sessions.engine.why.falls import cutting_room
from sessions.engine.why.filled import DATA, brought, is_data
from sessions.engine.why.shared import IMPOSSIBLE, MOST_WITHOUT_TOOLS, ROUND, Shared, position_of, shared_facts
from sessions.engine.why.usage_notes import usage_of_request
from sessions.engine.why.windows import held_at

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.context_windows import ModelWindow


LESS = {
    "mcp tools": "Turn off servers that are not needed.", "system tools": "Turn off tools that are not needed.",
    "memory files": "Shorten the memory files.", "repository map": "Make the map smaller.",
    "skills": "Turn off skills that are not needed.", "custom agents": "Turn off agents that are not needed.",
}  # fmt: skip
"""What helps against a part of the context that an agent lists."""
PART_OF_WINDOW, PART_OF_FIRST, LARGE_PART, LEAST_SYSTEM = 4, 2, 10, 10_000
"""A listed part over one in so many tokens of the window, or of the first request, is told, and with what helps from a
tenth of the window; system prompt and tools from so many tokens."""
LEAST_FIRST, PART_TYPED, NEARLY_ALL = 5_000, 0.25, 0.9
"""Tokens of the first request from which it is told what is no message's of them, the share that may be one's,
and the share of a peak from which a system prompt is nearly all of it."""
LEAST_TOGETHER, MANY_PEAKS = 50_000, 4
"""Tokens, and times the peak, from which what all requests sent is told."""
LEAST_CUT, FAR_LESS = 500, 1.5
"""Tokens of text over a usage, and times the usage, from which the usage is not that of the text."""
LEAST_SHORT = 100
"""Tokens of an answer over the prompt after it, from which the prompt did not hold it."""
UNNAMED = frozenset({"prompts", "other", "tools"})
"""Sources that say nothing of what a context holds."""
UNTOLD, HIDDEN, FAR_MORE, LEAST_MORE = 2, 100_000, 4, 2_000
"""A peak over so many times what the file explains, and so many tokens more than that, is not stated as it is."""
_FIGURE = re.compile(r"\d[\d,]*")
_SUMMARY = re.compile(r"^.{0,40}summar", re.IGNORECASE)
FAR_OVER = 1.25
"""A usage over so many times a peak, which the peak leaves out, is told."""


class Peak(NamedTuple):
    """The largest context of a session, in tokens, and the request that was sent it."""

    request: int
    tokens: int
    label: Label


def short_usage(weighed: Weighed) -> tuple[str, str]:
    """That the two newest usages are a small part of the text that was sent, in a sentence of the last, and how sure
    its cause is; "" twice where they are not.
    """
    texts, requests = shared_facts(weighed).text_until, weighed.transcript.requests
    known = [(step, u) for step in weighed.steps if (u := requests[step.request].usage) and u.context]
    newest = known[-2:]
    texts_of = [(usage.context, texts[step.stop]) for step, usage in newest]
    is_short = all(text >= FAR_LESS * size and text - size >= LEAST_CUT for size, text in texts_of)
    if not newest or not is_short or weighed.transcript.clearings:
        return _without_answer(weighed)
    size, text = texts_of[-1]
    told = f"The server counted {size:,} tokens at {request_words(newest[-1][0].request)}, its text has about {text:,}"
    return f"{told}: not all of it was sent, it cut the prompt, or left cached tokens out (possible).", "possible"


def _without_answer(weighed: Weighed) -> tuple[str, str]:
    """The same of a prompt with fewer tokens than the answer before it alone, which it then did not hold."""
    requests = [weighed.transcript.requests[step.request] for step in weighed.steps]
    for before, now in pairwise(requests):
        if before.usage is None or now.usage is None or weighed.transcript.compactions:
            continue
        said, sent = before.usage.output - before.usage.reasoning, now.usage.context
        if not now.usage.last_input and 0 < sent < said - LEAST_SHORT:
            told = f"{request_words(now.index).capitalize()} had {sent:,} tokens, the answer before it alone {said:,}"
            return f"{told}: the conversation so far was not sent with it, or not counted (likely).", "likely"
    return "", ""


def noted_size(weighed: Weighed) -> str:
    """Of a session without usage: what saved settings tell, or what the agent took its requests for; else ""."""
    transcript = weighed.transcript
    if shared_facts(weighed).has_usage:
        return ""
    marks = OWN_ESTIMATE, OWN_COUNT, OF_TURNS.capitalize()
    own = next((note for note in reversed(transcript.warnings) if any(mark in note for mark in marks)), "")
    of_window = f"; the recorded window is {transcript.window:,}" if own and transcript.window else ""
    size = max((tokens for tokens in weighed.estimated if tokens), default=0)
    figure = int(found[0].replace(",", "")) if (found := _FIGURE.search(own)) else 0
    if of_window and figure > (transcript.window or 0):
        of_window += ": ".join(filter(None, (", which they passed", writer_of(transcript).asked_late)))
    is_cut = OWN_COUNT in own and 2 * ROUND <= figure < size and not figure % ROUND
    is_told = is_cut or (OWN_COUNT in own and figure > FAR_MORE * size > 0)
    stale = f"; the file holds about {size:,}" if is_told else ""
    stale += ": the server may cut the prompt there (possible)" if is_cut else ""
    begins = any(message.summary or _SUMMARY.search(message.preview) for message in transcript.messages[:1])
    if is_told and not is_cut and begins:
        stale += ", and begins with a summary, so the count is of before it (possible)"
    settings = (event.words for event in transcript.events if event.kind == EventKind.SETTINGS)
    words = next(settings, "") or f"{own}{of_window}{stale}"
    kept = next((note for note in transcript.warnings if NOT_ALL_SENT in note), "")
    if not words and kept:
        words = f"the messages of the file have {size:,} tokens together (estimated), more than was sent: {kept}"
    return f"{words[0].upper()}{words[1:]}." if words else ""


def peak_of(weighed: Weighed) -> Peak | None:
    """The largest measured context of the branch, usages that cannot be right left out, else the largest estimate."""
    estimated = (Peak(k, n, weighed.weak_label) for k, n in enumerate(weighed.estimated) if n is not None)
    found = max(_measured(weighed) or estimated, key=lambda one: one.tokens, default=None)
    return found if found and found.tokens else None


def _measured(weighed: Weighed) -> list[Peak]:
    """What each request of the branch was sent, by a usage that can be right."""
    spikes, doubled = shared_facts(weighed).spikes, is_doubled(weighed.transcript)
    sent = [request for request in weighed.transcript.requests if request.usage and request.index not in spikes]
    # A call beside the branch is none of its requests; only where nothing was compacted it stands for them.
    alone = not weighed.transcript.compactions and not any(request.on_branch for request in sent)
    known = [(r.index, r.usage) for r in sent if r.usage and (r.on_branch or alone)]
    return [Peak(index, usage.input if doubled else usage.context, Label.MEASURED) for index, usage in known]


def peak_sentence(weighed: Weighed) -> str:
    """The largest context; its share where that is 1% or more."""
    shared, found, doubled = shared_facts(weighed), peak_of(weighed), is_doubled(weighed.transcript)
    if found is None:
        said = "No request shows how large the context was"
        # Of a session that nothing answered, what stands before it is all that can be told.
        return (
            f"{said}; system prompt and tools in the file weigh about {weighed.overhead:,} tokens."
            if (weighed.transcript.system and weighed.overhead >= LEAST_SYSTEM)
            else f"{said}."
        )
    index, peak, label = found
    at = position_of(weighed, index)
    cached = "" if doubled or label is Label.ESTIMATED else _cached(weighed.transcript.requests[index].usage)
    held = held_at(weighed, at, peak, shared.windows, own=True)
    said = f"Peak {peak:,} tokens{'' if label is Label.MEASURED else f' ({label})'}"
    jump = _implausible(weighed, shared, peak)
    made = weighed.estimated[at] if at < len(weighed.estimated) else None
    far = LEAST_MORE if peak > FAR_MORE * (made or 0) else HIDDEN
    is_more = made and weighed.transcript.messages and peak > UNTOLD * made and peak - made > far
    if made and is_more:
        # A usage that adds up several calls, or content that the file does not hold.
        return f"{said}, as reported; the file explains {made:,} of them."
    if 100 * peak < held.window and held.source != ANSWER:
        return f"{said}{jump}{_system_message(weighed, at, peak) or _most(weighed, at, peak)}."
    if not held.is_known:
        part = _heaviest(weighed, at, peak) or _system_message(weighed, at, peak) or _at_first(weighed, peak)
        part = part or _most(weighed, at, peak)
        return f"{said}{jump}{part}. The model's window is unknown."
    window = writer_of(weighed.transcript).own_window(held.window)
    if peak > held.window:
        return f"{said}, {_over(weighed, peak, held, window, jump)}"
    came = brought(weighed, range(1, len(weighed.steps)), peak, "; ") or _heaviest(weighed, at, peak)
    whole = f"{held.whose} window of {window:,}" if window == held.window else f"the {window:,} usable"
    from_start = (
        _standing(weighed, peak) or _system_message(weighed, at, peak) or ("" if doubled else _at_first(weighed, peak))
    )
    whole = f"the window, recorded as {window:,}" if held.source == RECORDED and window == held.window else whole
    part = f"{came}{from_start}" or _most(weighed, at, peak)
    return f"{said}, {100 * peak / window:.0f}% of {whole}{cached}{jump}{part}."


def total_sentence(weighed: Weighed) -> str:
    """What all requests of a session under half of its window sent together, where that is far more; else ""."""
    sizes = [sent.tokens for sent in _measured(weighed)]
    if sum(sizes) < max(LEAST_TOGETHER, MANY_PEAKS * max(sizes, default=0)) or not weighed.steps:
        return ""
    held = held_at(weighed, len(weighed.steps) - 1, max(sizes), shared_facts(weighed).windows, own=True)
    if held.is_known and held.window < 2 * max(sizes):
        return ""
    return f"Its {len(sizes):,} requests sent {sum(sizes):,} tokens together: each sends the whole context again."


def _heaviest(weighed: Weighed, at: int, peak: int) -> str:
    """The message of the first request that is half of the peak or more by itself, in a clause; else ""."""
    span = weighed.transcript.messages[: weighed.steps[0].stop] if not at and weighed.steps else ()
    heaviest = max(span, key=lambda message: weighed.tokens[message.index], default=None)
    if heaviest is None or weighed.tokens[heaviest.index] < max(LEAST_SYSTEM, peak / 2):
        return ""
    return f"; message {heaviest.index:,}{f', {DATA},' if is_data(heaviest) else ''} is most of them by itself"


def _most(weighed: Weighed, at: int, peak: int) -> str:
    """The source that half of a peak or more came from, in a clause; else ""."""
    shared = shared_facts(weighed)
    if weighed.transcript.compactions or at >= len(weighed.steps) or shared.is_shortened:
        return ""
    came = shared.runs.came(0, weighed.steps[at].stop, shared.tool_of)
    name, tokens = max(came.tokens.items(), key=lambda one: one[1], default=("", 0))
    if tokens < max(LEAST_FIRST, peak / 2) or name in UNNAMED:
        return ""
    part, about = ("nearly all", "") if tokens > NEARLY_ALL * peak else ("most", f"about {tokens:,} ")
    return f"; {part} of it {name}, {about}in {counted(came.counts[name], 'message')}"


def _system_message(weighed: Weighed, at: int, peak: int) -> str:
    """That half of a peak or more is a system prompt among the messages, in a clause; else ""."""
    span = weighed.transcript.messages[: weighed.steps[at].stop] if at < len(weighed.steps) else ()
    tokens = max((weighed.tokens[one.index] for one in span if one.role is Role.SYSTEM), default=0)
    how_many = "nearly all" if tokens > NEARLY_ALL * peak else f"about {tokens:,}"
    return f"; {how_many} of them are the system prompt" if tokens >= max(LEAST_FIRST, peak / 2) else ""


def _cached(usage: Usage | None) -> str:
    """How much of a request was read from the cache, in a clause, where it is half or more; else ""."""
    if usage is None or usage.last_input or not usage.context >= usage.cache_read >= usage.context / 2 > 0:
        return ""
    return f", {usage.cache_read:,} of them read from the cache"


def _standing(weighed: Weighed, peak: int) -> str:
    """That half of a peak or more is what the file itself has of system prompt and tools, in a clause; else ""."""
    n = sum(1 for block in weighed.transcript.system if block.name)
    own = sum(part.tokens for part in overhead_parts(weighed) if part.name != REST)
    if not n or not max(LEAST_SYSTEM, peak / 2) <= own <= peak:
        return ""
    return f"; about {own:,} of them are the system prompt and {counted(n, 'tool')}"


def _at_first(weighed: Weighed, peak: int) -> str:
    """That half of a peak or more came with the first request, and hardly from its messages, in a clause; else ""."""
    shared, steps = shared_facts(weighed), weighed.steps
    usage = usage_of_request(weighed, steps[0].request) if len(steps) > 1 else None
    if usage is None or not max(LEAST_FIRST, peak / 2) <= usage.context <= MOST_WITHOUT_TOOLS or shared.begins_inside:
        return ""
    first = weighed.transcript.messages[: steps[0].stop]
    said = sum(weighed.tokens[message.index] for message in first if message.role is not Role.SYSTEM)
    if said > PART_TYPED * usage.context or steps[0].request in shared.spikes:
        return ""
    rest = "the rest is system prompt, tools, or what the file does not hold"
    return f"; {usage.context:,} came with the first request, about {said:,} of them in its messages: {rest}"


def _over(weighed: Weighed, peak: int, held: ModelWindow, window: int, jump: str) -> str:
    """Of a peak over the window: what the server does with more than it has room for, or that it is a sum."""
    if settings := cutting_room(weighed.transcript):
        return f"{peak / held.window:.1f} times its room: {settings}. {causes.CHANGES[causes.CUT]}"
    is_sum = peak > IMPOSSIBLE * held.window and held.source == RECORDED
    over = "no size of one request, for it is far over" if is_sum else "over"
    return f"{over} a window of {window:,}, {SOURCES[held.source]}{'' if is_sum else jump}."


def listed_part(weighed: Weighed) -> str:
    """The part of a recorded listing of the context that is large by itself, and what helps, in sentences; else ""."""
    listed = [event for event in weighed.transcript.events if event.kind == EventKind.CONTEXT_LISTED]
    parts = context_output(listed[-1].words) if listed else {}
    name = max(parts, key=lambda name: parts[name], default="")
    window = held_at(weighed, 0, 0, shared_facts(weighed).windows, own=True).window
    first = next((usage.context for step in weighed.steps if (usage := usage_of_request(weighed, step.request))), 0)
    if not name or (PART_OF_WINDOW * parts[name] <= window and PART_OF_FIRST * parts[name] <= (first or window)):
        return ""
    label = name.replace("mcp", "MCP") + "' definitions" if name.endswith("tools") else f"the {name}"
    share = 100 * parts[name] / window
    said = f"{parts[name]:,} tokens, {share:.0f}% of the window, are {label}, as the agent listed it."
    return f"{said} {LESS[name]}" if name in LESS and LARGE_PART * parts[name] >= window else said


def _implausible(weighed: Weighed, shared: Shared, peak: int) -> str:
    """The largest usage far over a peak that cannot be right, which the peak leaves out, in a clause; else ""."""
    known = ((usage.context, index) for index in shared.spikes if (usage := usage_of_request(weighed, index)))
    most, index = max(known, default=(0, 0))
    is_last = bool(weighed.steps) and index == weighed.steps[-1].request
    named = "the last request" if is_last else request_words(index)
    return f"; {named} reports {most:,}" if most > FAR_OVER * peak else ""
