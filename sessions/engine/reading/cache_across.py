"""Calls of one file that begin alike, each a session of its own, whose cache was written and never read (formats 21.1).

A system prompt that begins with the time of day differs in each call: nothing of it can be read again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from sessions.engine.base.prompt_cache import LEAST_CACHED, TTL_SECONDS
from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import Parsed, Role, Transcript

_COUNTED = re.compile(rb"cache[\w.]*\"[\s:,]", re.IGNORECASE)
"""That a file has a place for cached tokens: without one it does not say that there were none."""
LEAST_CALLS, LEAST_SENT = 10, 100_000
"""Calls without any cached token, and what they sent in tokens, from which that is told."""
LEAST, ALIKE, SHOWN = 3, 0.01, 3
"""Calls at least; share within which their openings are as long; written sizes that are named."""


def noted_unread(parsed: Parsed, source: Source) -> Parsed:
    """The same, each of such calls with that as an event; or each session of Claude's whose calls record no cache."""
    words = _uncached(parsed.transcripts)
    if words and _COUNTED.search(source.head().data):
        return _with_event(parsed, words)
    found = [transcript for transcript in parsed.transcripts if _written(transcript)]
    if len(found) < LEAST or len(found) < len(parsed.transcripts) or not _are_alike(found):
        return parsed
    written = ", ".join(f"{_written(transcript):,}" for transcript in found[:SHOWN])
    more = " …" if len(found) > SHOWN else ""
    words = (
        f"The cache is written on all of {len(found):,} calls of this file and never read: {written}{more} tokens;"
        " something at the front of the prompt changes each time"
    )
    return _with_event(parsed, words)


def _with_event(parsed: Parsed, words: str) -> Parsed:
    event = RecordedEvent(EventKind.CACHE_UNREAD, 0, 0, words)
    return replace(parsed, transcripts=tuple(replace(t, events=(event, *t.events)) for t in parsed.transcripts))


def _uncached(transcripts: tuple[Transcript, ...]) -> str:
    """That no call to Claude has a token of the cache, in words; "" where one has, or where little was sent.

    Anthropic caches what a request asks it to; other providers do it by themselves, or do not tell.
    """
    requests = [request for transcript in transcripts for request in transcript.requests]
    usages = [request.usage for request in requests if request.usage]
    sent = sum(usage.context for usage in usages)
    if len(usages) < LEAST_CALLS or len(usages) < len(requests) or sent < LEAST_SENT:
        return ""
    if any(usage.cache_read or usage.cache_write for usage in usages) or any("claude" not in r.model for r in requests):
        return ""
    return (
        f"By the record no token of the {len(usages):,} calls of this file came from the cache, of {sent:,} of input;"
        " prompt caching has to be asked for"
    )


def _written(transcript: Transcript) -> int:
    """What the one call of a session wrote to the cache, 0 where it read of it, or where there are more calls."""
    usage = transcript.requests[0].usage if len(transcript.requests) == 1 else None
    is_written = usage is not None and not usage.cache_read and usage.cache_write >= LEAST_CACHED
    return usage.cache_write if usage is not None and is_written else 0


def _are_alike(found: list[Transcript]) -> bool:
    """Whether they came soon after each other, from one model, with a system prompt as long."""
    times = sorted(t.requests[0].timestamp or 0.0 for t in found)
    is_soon = all(0 < later - earlier <= TTL_SECONDS for earlier, later in pairwise(times))
    sizes = [_n_system(t) for t in found]
    is_one = max(sizes) - min(sizes) <= ALIKE * max(sizes) and min(sizes) > 0
    return is_soon and is_one and len({t.requests[0].model for t in found}) == 1 and times[0] > 0


def _n_system(transcript: Transcript) -> int:
    """Characters of the system prompt, which stands apart or as the first message."""
    first = transcript.messages[0] if transcript.messages else None
    own = first.blocks if first is not None and first.role is Role.SYSTEM else ()
    return sum(block.n_chars for block in (*transcript.system, *own) if not block.name)
