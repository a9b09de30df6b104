"""Usage that is no size of a prompt: chunks added up, growth by what never came, ups and downs (verdicts 3.42)."""

from __future__ import annotations

from itertools import pairwise

from sessions.engine.base.words import request_words
from sessions.engine.transcript.types import Request, Role
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.shared import agree, shared_facts

LEAST_CHUNKS, MANY_TIMES, LIKE_TEXT = 20, 5, 0.5
"""Tokens of a reply from which a prompt that is a multiple of them shows chunks; times the text that stands before it;
the share within which one part is that text."""
SWING, LEAST_SWINGS = 1.5, 3
"""Times the request before, or after, that a usage has; how often it rises and falls by that, so that it is told."""
LEAST_GROWN, LEAST_SIZES, FOLD, SHOWN = 1_000, 4, 3, 4
"""Tokens that a usage grew by, over so many requests and to so many times what it was, from which that is told where
five times what came is less; sizes that are told."""


def odd_usage(weighed: Weighed) -> tuple[str, str]:
    """What shows that the usage is no size of a prompt, in a sentence, and how sure that is; "" twice without it.

    Chunks are seen by an estimate of the text as well, so no more than likely; a growth is a fact.
    """
    chunks = _chunks_added(weighed)
    return (chunks, "likely") if chunks else (_grown_alone(weighed) or _up_and_down(weighed), "")


def _chunks_added(weighed: Weighed) -> str:
    """That each usage is a multiple of its reply's tokens, one part the text before it: it was added up by chunks."""
    texts, requests = shared_facts(weighed).text_until, weighed.transcript.requests
    sent = [(step, requests[step.request]) for step in weighed.steps if requests[step.request].usage]
    long = [(texts[step.stop], request) for step, request in sent if _written(request) >= LEAST_CHUNKS]
    if not long or not all(_is_multiple(request, text) for text, request in long):
        return ""
    _, most = max(long, key=lambda one: _size(one[1]))
    size, n = _size(most), _written(most)
    told = f"The usage of {request_words(most.index)}, {size:,} tokens, is no size of a prompt: it is {n:,} times"
    return f"{told} {size // n:,}, and the reply has {n:,} tokens; the usage of each chunk was added up (likely)."


def _is_multiple(request: Request, text: int) -> bool:
    part, rest = divmod(_size(request), _written(request))
    return not rest and _size(request) > MANY_TIMES * text and agree(text, part, LIKE_TEXT)


def _grown_alone(weighed: Weighed) -> str:
    """That the usage grew far beyond what came, of a chat without tools, pictures or compactions, else ""."""
    transcript = weighed.transcript
    if transcript.compactions or transcript.clearings or transcript.n_tool_calls or shared_facts(weighed).media:
        return ""  # what tools brought may not be in the file
    sent = [(step, request) for step in weighed.steps if (request := transcript.requests[step.request]).usage]
    sizes = [_size(request) for _, request in sent]
    if len(sizes) < LEAST_SIZES:
        return ""
    most = sizes.index(max(sizes))
    span = range(sent[0][0].stop, sent[most][0].stop)
    if not any(transcript.messages[i].role is Role.USER for i in span):
        return ""  # its prompts were not stored
    written = sum(_written(request) for _, request in sent[:most])
    came, grown = max(written, sum(weighed.tokens[span.start : span.stop])), sizes[most] - sizes[0]
    if most + 1 < LEAST_SIZES or grown < LEAST_GROWN or grown < MANY_TIMES * came or sizes[most] < FOLD * sizes[0]:
        return ""
    if sizes[: most + 1] != sorted(sizes[: most + 1]):
        return ""
    told = ", ".join(f"{size:,}" for size in sizes[:SHOWN])
    told = f"The usage grows from request to request, {told} … {sizes[most]:,}, while about {came:,} tokens came"
    return f"{told}: the server counts, or adds, what the file does not hold."


def _up_and_down(weighed: Weighed) -> str:
    """That the usage rises and falls by half and more, again and again, with nothing taken out, else ""."""
    transcript = weighed.transcript
    sent = [request for step in weighed.steps if (request := transcript.requests[step.request]).usage]
    if transcript.compactions or transcript.clearings or len({request.model for request in sent}) > 1:
        return ""
    sizes = [_size(request) for request in sent]
    pairs = list(pairwise(sizes))
    falls = [k for k, (before, size) in enumerate(pairs) if before >= LEAST_GROWN and before >= SWING * size]
    if min(len(falls), sum(size >= SWING * before for before, size in pairs)) < LEAST_SWINGS:
        return ""
    told = ", ".join(f"{size:,}" for size in sizes[max(0, falls[0] - 1) :][:SHOWN])
    told = f"The usage goes up and down {len(falls):,} times and no compaction is recorded: {told} …"
    return f"{told}; whether as much was sent, or only counted, the file does not say."


def _size(request: Request) -> int:
    return request.usage.context if request.usage else 0


def _written(request: Request) -> int:
    return request.usage.output if request.usage and not request.usage.placeholder else 0
