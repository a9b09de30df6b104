"""What a file tells of replies: that one was cut off, at which limit, why no cache was read (formats 21.1).

A limit counts under the keys that clients, servers and gateways write it in, never inside of a text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import SEEK_END
from typing import Any

from sessions.engine.base.errors import EngineError
from sessions.engine.base.words import counted
from sessions.engine.reading.formats._end_reasons import ANSWERS, LEVELS, REASON_KEYS, cut_in, reasons_in
from sessions.engine.reading.formats._values import as_dict, count_of
from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.recorded_events import CUT_OFF, CUT_REASONS, EventKind, RecordedEvent
from sessions.engine.transcript.types import Origin, Request, Transcript

PART_BYTES, MOST_REPLIES, MAX_WORD = 1_000_000, 2_000, 64
"""Bytes read at once; replies before the last that are looked at; characters of such a reason and its key's end."""
_CUTS = tuple(sorted(word.encode() for reason in CUT_REASONS for word in (reason, reason.upper())))
_CUT_VALUE = re.compile(rb'[:\[]\s*\\?"(?:%s)' % b"|".join(_CUTS))
MAXIMA = frozenset({2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 32_000, 64_000, 128_000})
"""Tokens that replies are often allowed at most."""
LEAST_ALIKE, MANY_ALIKE = 256, 3
"""Tokens of replies that are the longest of a session, and how many have them exactly, from which a limit is seen."""
_LISTS = frozenset({"choices", "candidates", "generations", "attributes"})
"""Lists around a reply that hold nothing of another."""
_MISSED = re.compile(rb'"cache_miss_reason": ?\{')
SPAN_LEVELS = 6
"""Objects and lists around a reply that may be its span's attributes."""
LEAST_REPLY = 64
"""Tokens of the one reply of a session under which it is a title or a probe that was to be short."""
_WORD = re.compile(r"\w+")
MOST_BYTES, LONGEST = 64_000_000, 64
"""Bytes in which limits are looked for; bytes of a key with its value."""
MOST_VALUES, LEAST_LIMIT, MOST_LIMIT = 2, 64, 20_000_000
"""Values of one key from which it is no setting; tokens that a limit has."""
_WORDS = (
    "max_?(?:input|output|completion|new|context|prompt)_?tokens|max_?tokens|num_?(?:ctx|predict)|n_ctx"
    "|context_?(?:length|window|limit|size)|max_?(?:model_?len|context_?(?:length|window))"
)
_LIMIT = re.compile(rb'(?<!\\)"(' + _WORDS.encode() + rb')": ?"?(\d{2,8})\b', re.IGNORECASE)

_SET = (
    r"auto_?(?:compact|condens|compress|summari|reduc)\w{0,16}|enable_?\w{0,12}(?:compact|condens|compress|summari|history)\w{0,16}"
    r"|\w{0,16}(?:compact|condens|compress|summari[sz]|truncat)\w{0,16}(?:threshold|trigger|interval|percent|ratio|limit|enabled)"
    r"|(?:max|keep)_?(?:history|messages)\w{0,12}|num_history\w{0,12}|history_?(?:count|limit|size|turns)|(?:threshold|target)_count"
)
_SETTING = re.compile(rb'(?<!\\)"(' + _SET.encode() + rb')": ?(\d{1,8}(?:\.\d{1,4})?|true|false)\b', re.IGNORECASE)
"""Settings of compactions and histories, as agents and frameworks name them in a file of theirs."""
AT_ENDS = 256_000
"""Bytes at the beginning and at the end of a file in which such settings are looked for."""


def noted_replies(transcripts: tuple[Transcript, ...], source: Source) -> tuple[Transcript, ...]:
    """The same with the replies that ended at a limit, and why prompts were not read from the cache."""
    found = tuple(_cut_off(transcript, source) for transcript in transcripts)
    named = _named(source)
    found = tuple(_cut_before(transcript, source) for transcript in found) if _CUT_VALUE in named else found
    found = tuple(_missed(transcript, source) for transcript in found) if _MISSED in named else found
    return tuple(_at_maximum(transcript, source) for transcript in found)


def _cut_off(transcript: Transcript, source: Source) -> Transcript:
    n = len(transcript.requests)
    last = transcript.requests[-1].message if n else None
    usage = transcript.requests[-1].usage if n else None
    is_thought = usage is not None and 2 * usage.reasoning >= usage.output
    is_side = n == 1 and usage is not None and 0 < usage.output < LEAST_REPLY and not is_thought
    if not n or is_side or not transcript.messages or transcript.end_is_told():
        return transcript
    # A call whose answer is empty has no reply: what came of it stands beside what was sent.
    stop = len(transcript.messages) if last is None else last + transcript.requests[-1].n_messages
    reply = transcript.messages[min(stop, len(transcript.messages)) - 1]
    find = _reasons_beside if last is None else _reasons_at
    reason = cut_in(word for origin in reply.origins[-1:] for word in find(source, origin))
    event = RecordedEvent(EventKind.SESSION_END, n, len(transcript.messages), f"{CUT_OFF}: {reason}", reason)
    return replace(transcript, events=(*transcript.events, event)) if reason else transcript


def _named(source: Source) -> set[re.Pattern[bytes]]:
    """Which of the two the file has anywhere."""
    source.file.seek(0)
    found: set[re.Pattern[bytes]] = set()
    tail = b""
    while part := source.file.read(PART_BYTES):
        part = tail + part
        # A word is found ten times as fast as its expression.
        if any(b'"%s' % word in part for word in _CUTS) and _CUT_VALUE.search(part):
            found.add(_CUT_VALUE)
        if _MISSED.search(part):
            found.add(_MISSED)
        tail = part[-MAX_WORD:]
    return found


def _missed(transcript: Transcript, source: Source) -> Transcript:
    """The same with what Anthropic's cache diagnostics name as the reason why a prompt was not read from the cache."""
    found: Counter[str] = Counter()
    tokens = 0
    for _, _, origin in _replies(transcript, transcript.requests):
        around = (as_dict(value) for _, value in _around(source, origin))
        held = (as_dict(as_dict(one.get("message")).get("diagnostics") or one.get("diagnostics")) for one in around)
        reason = next((as_dict(one["cache_miss_reason"]) for one in held if one.get("cache_miss_reason")), {})
        found.update([str(reason["type"]).replace("_", " ")] if reason.get("type") else [])
        tokens += count_of(reason.get("cache_missed_input_tokens"))
    if not found:
        return transcript
    why = ", ".join(f"{name} ({counted(n, 'request')})" for name, n in found.most_common())
    words = f"The API says why the prompt was not read from the cache: {why}; {tokens:,} tokens in all"
    event = RecordedEvent(EventKind.CACHE_NOTED, len(transcript.requests) - 1, len(transcript.messages), words)
    return replace(transcript, events=(*transcript.events, event))


def _replies(transcript: Transcript, requests: Sequence[Request]) -> Iterator[tuple[Request, int, Origin]]:
    """The newest replies of the branch, each with the end of its messages and where the last of these stands."""
    of_branch = [request for request in requests if request.message is not None and request.on_branch]
    for request in of_branch[-MOST_REPLIES:]:
        stop = (request.message or 0) + request.n_messages
        for origin in transcript.messages[stop - 1].origins[-1:] if stop <= len(transcript.messages) else ():
            yield request, stop, origin


def _untold(transcript: Transcript, requests: Sequence[Request]) -> Iterator[tuple[Request, int, Origin]]:
    """The same of which nothing tells yet that they were cut off."""
    told = {event.request for event in transcript.events if event.words.startswith(CUT_OFF)}
    return (found for found in _replies(transcript, requests) if found[0].index + 1 not in told)


def _cut_before(transcript: Transcript, source: Source) -> Transcript:
    """The same with replies before the last that ended at a limit, each as an event; the newest are looked at."""
    found = []
    for request, stop, origin in _untold(transcript, transcript.requests[:-1]):
        if reason := cut_in(_reasons_at(source, origin, own=True)):
            words = f"{CUT_OFF}: {reason}"
            found.append(RecordedEvent(EventKind.REPLY_CUT, request.index + 1, stop, words, reason))
    return replace(transcript, events=(*transcript.events, *found)) if found else transcript


def _at_maximum(transcript: Transcript, source: Source) -> Transcript:
    """The same with replies of exactly a usual maximum, or of one size that none passes, whose end no record tells."""
    found = []
    outputs = Counter(r.usage.output for r in transcript.requests if r.usage and not r.usage.placeholder)
    most = max(outputs, default=0)
    # A limit shows where the others vary: replies that are all alike were made so.
    is_alike = most >= LEAST_ALIKE and MANY_ALIKE <= outputs[most] < len(outputs)
    limits = MAXIMA | ({most} if is_alike else frozenset())
    exact = [r for r in transcript.requests if r.usage and r.usage.output in limits and not r.usage.placeholder]
    for request, stop, origin in _untold(transcript, exact):
        if request.usage and not any(_reasons_at(source, origin, own=True)):
            limit = "a usual output limit" if request.usage.output in MAXIMA else "the most of any reply"
            words = f"exactly {request.usage.output:,} tokens, {limit}"
            found.append(RecordedEvent(EventKind.REPLY_CUT, request.index + 1, stop, words))
    return replace(transcript, events=(*transcript.events, *found)) if found else transcript


def _around(source: Source, origin: Origin, *, own: bool = False) -> Iterator[tuple[int, Any]]:
    """The value at ``origin`` and those that hold it, each with how many steps up it is; none that cannot be read.

    ``own``: none that holds other replies as well.
    """
    for up in range(min(SPAN_LEVELS, len(origin.path)) + 1):
        key, entry = (None, None, *origin.path)[len(origin.path) - up + 1 :][:2] if up else (None, None)
        if own and isinstance(entry, int) and key not in _LISTS:
            return
        try:
            yield up, source.read(replace(origin, path=origin.path[: len(origin.path) - up]))
        except (EngineError, LookupError, TypeError, ValueError, AttributeError, OSError):
            return


def _reasons_beside(source: Source, origin: Origin) -> Iterator[str]:
    """How an empty answer ended, in the object that holds it and what was sent."""
    for _, value in _around(source, origin):
        if isinstance(value, dict) and any(key in value for key in ANSWERS):
            yield from reasons_in({key: value[key] for key in ANSWERS if key in value})
            return


def _reasons_at(source: Source, origin: Origin, *, own: bool = False) -> Iterator[str]:
    """How the reply at ``origin`` ended, by its own value or the objects around it."""
    for up, held in _around(source, origin, own=own):
        value = held
        if isinstance(held, list):
            # The attributes of a span as OTLP writes them.
            listed = held if held and "key" in as_dict(held[0]) else []
            said = [str(one.get("value")) for one in listed if isinstance(one, dict) and one.get("key") in REASON_KEYS]
            value = {"finish_reasons": [word for text in said for word in _WORD.findall(text)]}
        elif up > LEVELS:
            continue
        if isinstance(value, dict):
            yield from reasons_in(value, inside=not up)


def noted_limits(transcripts: tuple[Transcript, ...], source: Source) -> tuple[Transcript, ...]:
    """The same with what the file sets as an event each: for compactions, and the limits of one that met some."""
    own = [RecordedEvent(EventKind.LIMIT_SET, 0, 0, f"{key} {value}", key) for key, value in _settings_in(source)]
    is_met = any(_met(transcript) for transcript in transcripts)
    limits = _limits_in(source) if is_met else []
    events = [*own, *(RecordedEvent(EventKind.LIMIT_SET, 0, 0, f"{key} {tokens:,}", key) for key, tokens in limits)]
    told = [(*(events if _met(one) else own), *one.events) for one in transcripts]
    return (
        tuple(replace(one, events=its) for one, its in zip(transcripts, told, strict=True)) if events else transcripts
    )


def _settings_in(source: Source) -> list[tuple[str, str]]:
    """Each key with its value or its two values, as they come; none that has more."""
    file = source.file
    file.seek(0)
    head = file.read(AT_ENDS)
    file.seek(max(len(head), file.seek(0, SEEK_END) - AT_ENDS))
    found: dict[str, dict[str, None]] = {}
    for key, value in _SETTING.findall(head + file.read(AT_ENDS)):
        found.setdefault(key.decode(), {})[value.decode()] = None
    known = [(key, value) for key, values in found.items() if len(values) <= MOST_VALUES for value in values]
    return [(key, f"{int(value):,}" if value.isdigit() else value) for key, value in known]


def _met(transcript: Transcript) -> bool:
    """Whether a request was refused for its size, a reply cut off, or a compaction broken off."""
    met = EventKind.REPLY_CUT, EventKind.COMPACTION_CANCELLED
    return bool(transcript.errors) or any(e.kind in met or e.words.startswith(CUT_OFF) for e in transcript.events)


def _limits_in(source: Source) -> list[tuple[str, int]]:
    """Each key with its value or its two values, as they come; none that has more."""
    found: dict[str, list[int]] = {}
    source.file.seek(0)
    tail, n_read = b"", 0
    while n_read < MOST_BYTES and (part := source.file.read(PART_BYTES)):
        n_read += len(part)
        for key, digits in _LIMIT.findall(tail + part):
            values = found.setdefault(key.decode(), [])
            if LEAST_LIMIT <= int(digits) <= MOST_LIMIT and int(digits) not in values and len(values) <= MOST_VALUES:
                values.append(int(digits))
        tail = part[-LONGEST:]
    return [(key, tokens) for key, values in found.items() if len(values) <= MOST_VALUES for tokens in values]
