"""Events that are told of a session once it is read, in any format (formats 21.1).

What an agent lists of its own context, each part by name: Claude Code's ``/context``, aider's ``/tokens``.

Settings that it saves in a file beside the session, Mistral Vibe's ``meta.json``: looked for only beside a
``messages.jsonl`` that is read from its own folder, as an upload has nothing beside it.

Calls of one file that begin alike, each a session of its own, whose cache was written and never read: a system prompt
that begins with the time of day differs in each call, and nothing of it can be read again.

How a session ended, beside what its reader knows.  A refusal that a client keeps as a reply's or a result's text counts
only where nothing answered after it, or where the result is that of a subagent, whose refusal is no refusal of the
session that asked for it.

Lines behind the last message may tell of a refusal or a failed compaction, without which the session would read as all
well.  Only what is an error by its own words counts, and nothing that a tool printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from sessions.engine.base.errors import EngineError
from sessions.engine.base.limits import MAX_TOKENS
from sessions.engine.base.prompt_cache import LEAST_CACHED, TTL_SECONDS
from sessions.engine.reading.formats import _provider_errors as provider
from sessions.engine.reading.formats._error_body import MESSAGE_KEYS
from sessions.engine.reading.formats._values import as_dict, as_list, count_of
from sessions.engine.reading.json_values import JsonProblem, loads
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.noted_replies import noted_limits, noted_replies
from sessions.engine.transcript.recorded_events import ENDS, ErrorKind, EventKind, RecordedEvent
from sessions.engine.transcript.types import Content, Kind, Message, Parsed, Role, Transcript

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
LEAST_CALLS, LEAST_SENT, HARDLY = 10, 100_000, 0.1
"""Calls without any cached token, and what they sent in tokens, from which that is told."""
LEAST, ALIKE, SHOWN = 3, 0.01, 3
"""Calls at least; share within which their openings are as long; written sizes that are named."""

Contents = Callable[[Message], tuple[Content, ...]]

MOST_CHARS, MOST_BEFORE = 2_000, 16
"""Characters of a text that is an error and nothing else; messages before the end that are looked at."""
_SHAPE = re.compile(
    r"[^\w]*(?:(?:[a-z]+ ){0,3}(?:error|exception|failed|failure)\b|[a-z.]+(?:error|exception)\b|(?:http )?[45]\d\d\b"
    r"|(?:sorry|oops|unable|could not|cannot|an error)\b[^:]{0,60}:)",
    re.IGNORECASE,
)
"""How an error begins."""
_BARE = re.compile(
    r"(?:request|prompt|input)\b[^.]{0,30}\d+ tokens\)? (?:exceeds|is (?:larger|longer|greater))"
    r"|context length exceeded\b",
    re.IGNORECASE,
)
"""A server's own sentence, in the place of an answer."""
_AGENT = re.compile(r"agent|^task$|delegate|explore|spawn", re.IGNORECASE)
_SHELL = re.compile(r"bash|shell|exec|run|terminal|command|python", re.IGNORECASE)
"""Tools whose result is what a program printed."""
MOST_BYTES, MOST_LINES, MOST_DEPTH = 262_144, 200, 5
"""Of what follows the last message so much is looked at, and so deep."""
ERROR_KEYS = frozenset({*MESSAGE_KEYS, "content", "error", "errors", "data", "output_text", "words"})
_PRINTED = re.compile(r"tool|exec|stdout|stderr|output|result|diff|patch|snapshot|command(?!s?_error)", re.IGNORECASE)
"""Keys and types of records that hold what a program printed."""


def context_output(text: str) -> dict[str, int]:
    """Parts by name in an output of ``/context``: "System prompt: 2.6k tokens (1.3%)" is 2,600; the first of a name."""
    parts: dict[str, int] = {}
    for name, number, thousands in _CONTEXT_LINE.findall(text):
        amount = float(number.replace(",", "") or 0)
        parts.setdefault(name.lower(), round(amount * 1000 if thousands else amount))
    return parts


def noted_events(parsed: Parsed, source: Source, contents: Contents) -> Parsed:
    """The same with how its sessions ended, what their agents listed and set, and caches that nobody read."""
    told = tuple(_refused_in_text(transcript, contents) for transcript in parsed.transcripts)
    parsed = _with_errors_behind(replace(parsed, transcripts=noted_replies(told, source)), source)
    listed = replace(parsed, transcripts=tuple(_listed(transcript, contents) for transcript in parsed.transcripts))
    limited = replace(listed, transcripts=noted_limits(listed.transcripts, source))
    return _with_settings(noted_unread(limited, source), source.file)


def _listed(transcript: Transcript, contents: Contents) -> Transcript:
    """The same with the newest such output as an event, in the same words without the rest."""
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


def _with_settings(parsed: Parsed, file: BinaryIO) -> Parsed:
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
    """That calls to Claude have no token of the cache, or hardly one and wrote none, in words; else "".

    Anthropic caches what a request asks it to; other providers do it by themselves, or do not tell.
    """
    requests = [request for transcript in transcripts for request in transcript.requests]
    usages = [request.usage for request in requests if request.usage]
    sent = sum(usage.context for usage in usages)
    if len(usages) < LEAST_CALLS or len(usages) < len(requests) or sent < LEAST_SENT:
        return ""
    read, n = sum(usage.cache_read for usage in usages), len(usages)
    is_written = any(usage.cache_write for usage in usages)
    if is_written or read > HARDLY * sent or any("claude" not in r.model for r in requests):
        return ""
    if not read:
        came = f"By the record no token of the {n:,} calls of this file came from the cache, of {sent:,} of input"
        return f"{came}; prompt caching has to be asked for"
    came = f"By the record {read:,} of {sent:,} tokens of input, {100 * read / sent:.0f}%, came from the cache"
    return f"{came} on the {n:,} calls of this file, and none was written to it"


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


def _refused_in_text(transcript: Transcript, contents: Contents) -> Transcript:
    """The same with refusals that are kept as text."""
    messages, n = transcript.messages, len(transcript.requests)
    told = tuple(_of_subagents(transcript, contents))
    if told:
        events = sorted((*transcript.events, *told), key=lambda event: (event.request, event.message))
        transcript = replace(transcript, events=tuple(events))
    if any(error.request >= n for error in transcript.errors) or not messages:
        return transcript
    found: list[tuple[provider.Refusal, int]] = []
    for index in range(len(messages) - 1, max(-1, len(messages) - 1 - MOST_BEFORE), -1):
        message = messages[index]
        refusal = _refusal(message, contents) if message.role is not Role.USER or not found else None
        if refusal:
            found.append((refusal, index))
        elif not message.typed:
            break
    if not found:
        return transcript
    # What a program or a subagent printed is no refusal of the session's own.
    ids = messages[found[0][1]].result_ids()
    names = [b.name for m in messages for b in m.blocks if b.kind is Kind.TOOL_USE and b.call_id in ids]
    is_own = not any(_SHELL.search(name) or _AGENT.search(name) for name in names)
    return _refused(transcript, found) if is_own else transcript


def request_after(transcript: Transcript, message: Message) -> int:
    """The first request whose reply stands behind ``message``; their number where none does."""
    after = (r.index for r in transcript.requests if (r.message or 0) > message.index)
    return next(after, len(transcript.requests))


def _refused(transcript: Transcript, found: list[tuple[provider.Refusal, int]]) -> Transcript:
    """The same with the refusals, the newest first, in the place of the requests that had no other answer."""
    refusal, first = found[0][0], found[-1][1]
    requests = transcript.requests
    n = next((r.index for r in requests if r.message is not None and r.message >= first), len(requests))
    if any(c.request > n for c in transcript.compactions) or any(r.usage for r in requests[n:]):
        return transcript
    events = tuple(replace(event, request=min(n, event.request)) for event in transcript.events)
    # Those that its reader knows among them are the same.
    earlier = [one for one in transcript.errors if one.message < first]
    errors = (*earlier, refusal.error(n, first, len(found)))
    return replace(transcript, requests=requests[:n], errors=errors, events=events)


def _of_subagents(transcript: Transcript, contents: Contents) -> Iterator[RecordedEvent]:
    """The refusals that the results of subagents tell, each before the next request."""
    agents: set[str] = set()
    for message in transcript.messages:
        agents |= {b.call_id for b in message.blocks if b.kind is Kind.TOOL_USE and b.call_id and _AGENT.search(b.name)}
        if not agents or agents.isdisjoint(message.result_ids()):
            continue
        if refusal := _refusal(message, contents):
            at, words = request_after(transcript, message), refusal.sizes or refusal.words
            yield RecordedEvent(EventKind.SUBAGENT, at, message.index, words, refusal.code, refusal.status)


def _refusal(message: Message, contents: Contents) -> provider.Refusal | None:
    """What a message says that is an error by its shape and a refusal for size by its words; None for any other."""
    kinds = {block.kind for block in message.blocks}
    is_short = sum(part.n_chars for block in message.blocks for part in (block, *block.parts)) <= MOST_CHARS
    # What somebody typed may quote an error; what calls a tool is an answer.
    is_bare = message.role is Role.ASSISTANT and kinds == {Kind.TEXT} and _BARE.match(message.preview)
    is_error = is_bare or _SHAPE.match(message.preview)
    if message.typed or not is_short or not kinds <= {Kind.TEXT, Kind.TOOL_RESULT} or not is_error:
        return None
    try:
        said = [text for content in contents(message) for text in (content.text, *(p.text for p in content.parts))]
    except EngineError:
        return None
    words = " ".join("\n".join(filter(None, said)).split())
    found = provider.error_of(words) if _SHAPE.match(words) or _BARE.match(words) else None
    is_refused = found and found.kind in (ErrorKind.CONTEXT, ErrorKind.BODY)
    is_told = found and (found.tokens or found.limit or found.status)
    return found._replace(words=found.words[: provider.MAX_WORDS]) if found and is_refused and is_told else None


def _with_errors_behind(parsed: Parsed, source: Source) -> Parsed:
    """The same, the session with which the file ends also with such errors, where nothing else tells of its end."""
    if not parsed.transcripts or not source.is_lines():
        return parsed
    last = max(parsed.transcripts, key=_end)
    n = len(last.requests)
    told = [one.request for one in last.errors] + [event.request for event in last.events if event.kind in ENDS]
    if not _end(last) or any(request >= n for request in told):
        return parsed
    errors = provider.once(refusal.error(n, len(last.messages)) for refusal in _refusals_from(source, _end(last)))
    ended = replace(last, errors=(*last.errors, *errors))
    return replace(parsed, transcripts=tuple(ended if one is last else one for one in parsed.transcripts))


def _end(transcript: Transcript) -> int:
    """Where the last message ends in the file, in bytes; 0 where messages have no place of their own."""
    origins = transcript.messages[-1].origins if transcript.messages else ()
    return max((origin.offset + origin.length for origin in origins if origin.line > 1), default=0)


def _refusals_from(source: Source, start: int) -> Iterator[provider.Refusal]:
    source.file.seek(start)
    for line in source.file.read(MOST_BYTES).split(b"\n")[:MOST_LINES]:
        try:
            value = loads(line) if line.lstrip()[:1] == b"{" else None
        except (ValueError, RecursionError):
            continue
        yield from _errors_in(value, 0)


def _errors_in(value: Any, depth: int) -> Iterator[provider.Refusal]:
    if depth > MOST_DEPTH:
        return
    if isinstance(value, list):
        for one in value:
            yield from _errors_in(one, depth + 1)
    elif isinstance(value, dict) and not _PRINTED.search(str(value.get("type", ""))):
        for key, held in value.items():
            if isinstance(held, str):
                error = provider.error_of(held) if key in ERROR_KEYS and len(held) <= provider.MAX_WORDS else None
                if error and error.of_size and (error.of_compaction or error.tokens or error.limit or error.status):
                    yield error
            elif not _PRINTED.search(key):
                yield from _errors_in(held, depth + 1)
