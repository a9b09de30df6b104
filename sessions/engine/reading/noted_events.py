"""Events that are told of a session once it is read, in any format (formats 21.1).

What an agent lists of its own context, each part by name: Claude Code's ``/context``, aider's ``/tokens``.

Settings that it saves in a file beside the session, Mistral Vibe's ``meta.json``: looked for only beside a
``messages.jsonl`` that is read from its own folder, as an upload has nothing beside it.

Calls of one file that begin alike, each a session of its own, whose cache was written and never read: a system prompt
that begins with the time of day differs in each call, and nothing of it can be read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from sessions.engine.base.errors import EngineError
from sessions.engine.base.limits import MAX_TOKENS
from sessions.engine.base.prompt_cache import LEAST_CACHED, TTL_SECONDS
from sessions.engine.reading.endings import request_after
from sessions.engine.reading.formats._values import as_dict, as_list, count_of
from sessions.engine.reading.json_values import JsonProblem, loads
from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import Content, Message, Parsed, Role, Transcript

CONTEXT_HEAD = "Context Usage"
_CONTEXT_LINE = re.compile(
    r"(System prompt|System tools|MCP tools|Custom agents|Memory files|Skills"
    r"|System messages|Chat history|Repository map)"
    r"(?::| *\|) *([\d.,]+)(k?)(?: tokens| *\|)",
    re.IGNORECASE,
)
SESSION, SETTINGS = "messages.jsonl", "meta.json"
MAX_BYTES = 4_000_000
_COUNTED = re.compile(rb"cache[\w.]*\"[\s:,]", re.IGNORECASE)
"""That a file has a place for cached tokens: without one it does not say that there were none."""
LEAST_CALLS, LEAST_SENT = 10, 100_000
"""Calls without any cached token, and what they sent in tokens, from which that is told."""
LEAST, ALIKE, SHOWN = 3, 0.01, 3
"""Calls at least; share within which their openings are as long; written sizes that are named."""


def context_output(text: str) -> dict[str, int]:
    """Parts by name in an output of ``/context``: "System prompt: 2.6k tokens (1.3%)" is 2,600; the first of a name."""
    parts: dict[str, int] = {}
    for name, number, thousands in _CONTEXT_LINE.findall(text):
        amount = float(number.replace(",", "") or 0)
        parts.setdefault(name.lower(), round(amount * 1000 if thousands else amount))
    return parts


def noted_listings(parsed: Parsed, contents: Callable[[Message], tuple[Content, ...]]) -> Parsed:
    """The same, each session with the newest such output as an event, in the same words without the rest."""
    return replace(parsed, transcripts=tuple(_listed(transcript, contents) for transcript in parsed.transcripts))


def _listed(transcript: Transcript, contents: Callable[[Message], tuple[Content, ...]]) -> Transcript:
    outputs = [m for m in transcript.messages if m.role is Role.USER and CONTEXT_HEAD in m.preview]
    for message in reversed(outputs):
        try:
            parts = context_output("\n".join(content.text for content in contents(message)))
        except EngineError:
            return transcript
        if parts:
            words = "; ".join(f"{name}: {tokens:,} tokens" for name, tokens in parts.items())
            at = request_after(transcript, message)
            event = RecordedEvent(EventKind.CONTEXT_LISTED, at, message.index, words)
            return replace(transcript, events=(*transcript.events, event))
    return transcript


def noted_settings(parsed: Parsed, file: BinaryIO) -> Parsed:
    """The same, its one session with the threshold and the count that the file beside it gives."""
    held = _beside(getattr(file, "name", None)) if len(parsed.transcripts) == 1 else {}
    config, stats = as_dict(held.get("config")), as_dict(held.get("stats"))
    active = [
        one for one in map(as_dict, as_list(config.get("models"))) if one.get("alias") == config.get("active_model")
    ]
    own = next((n for one in active if (n := count_of(one.get("auto_compact_threshold")))), 0)
    at, size = own or count_of(config.get("auto_compact_threshold")), count_of(stats.get("context_tokens"))
    if not 0 < at <= MAX_TOKENS:
        return parsed
    words = f"by the settings saved with it, it compacts at {at:,} tokens"
    words += f", and its own count at the end is {size:,}" if 0 < size <= MAX_TOKENS else ""
    return _with_event(parsed, EventKind.SETTINGS, words)


def _beside(name: Any) -> dict[str, Any]:
    """What the settings' file in the folder of a session holds; {} where there is none."""
    path = Path(name) if isinstance(name, str) else None
    if path is None or path.name != SESSION:
        return {}
    try:
        with path.with_name(SETTINGS).open("rb") as stream:
            return as_dict(loads(stream.read(MAX_BYTES)))
    except (OSError, JsonProblem):
        return {}


def noted_unread(parsed: Parsed, source: Source) -> Parsed:
    """The same, each of such calls with that as an event; or each session of Claude's whose calls record no cache."""
    words = _uncached(parsed.transcripts)
    if words and _COUNTED.search(source.head().data):
        return _with_event(parsed, EventKind.CACHE_UNREAD, words)
    found = [transcript for transcript in parsed.transcripts if _written(transcript)]
    if len(found) < LEAST or len(found) < len(parsed.transcripts) or not _are_alike(found):
        return parsed
    written = ", ".join(f"{_written(transcript):,}" for transcript in found[:SHOWN])
    more = " …" if len(found) > SHOWN else ""
    words = (
        f"The cache is written on all of {len(found):,} calls of this file and never read: {written}{more} tokens;"
        " something at the front of the prompt changes each time"
    )
    return _with_event(parsed, EventKind.CACHE_UNREAD, words)


def _with_event(parsed: Parsed, kind: EventKind, words: str) -> Parsed:
    event = RecordedEvent(kind, 0, 0, words)
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
    return usage.cache_write if usage and not usage.cache_read and usage.cache_write >= LEAST_CACHED else 0


def _are_alike(found: list[Transcript]) -> bool:
    """Whether they came soon after each other, from one model, with a system prompt as long."""
    times = sorted(t.requests[0].timestamp or 0.0 for t in found)
    is_soon = all(0 < later - earlier <= TTL_SECONDS for earlier, later in pairwise(times))
    # Characters of the system prompt, which stands apart or as the first message.
    heads = [(*t.system, *(b for m in t.messages[:1] if m.role is Role.SYSTEM for b in m.blocks)) for t in found]
    sizes = [sum(block.n_chars for block in head if not block.name) for head in heads]
    is_one = max(sizes) - min(sizes) <= ALIKE * max(sizes) and min(sizes) > 0
    return is_soon and is_one and len({t.requests[0].model for t in found}) == 1 and times[0] > 0
