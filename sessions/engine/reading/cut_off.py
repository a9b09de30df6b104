"""Whether the last reply of a session was cut off, as its own record says in any format (formats 21.1).

OpenAI's ``finish_reason`` "length", Anthropic's and Bedrock's ``stop_reason`` "max_tokens", Gemini's ``finishReason``
"MAX_TOKENS", Ollama's ``done_reason``, the Responses API's ``incomplete_details``, opencode's ``finish``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sessions.engine.base.errors import EngineError
from sessions.engine.reading.formats._values import as_dict
from sessions.engine.reading.json_values import JsonProblem
from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.recorded_events import CUT_OFF, EventKind, RecordedEvent
from sessions.engine.transcript.types import Origin, Parsed, Transcript

KEYS = (
    "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "finish", "finish_reasons",
    "gen_ai.response.finish_reasons", "incomplete_details", "response_metadata", "generation_info",
)  # fmt: skip
"""Where the reason stands, or the object that holds it under one of them or as ``reason``."""
REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})
LEVELS, SPAN_LEVELS = 2, 6
"""Objects around a reply that may tell how it ended; lists around it that may be its span's attributes."""
LEAST_REPLY = 64
"""Tokens of the one reply of a session under which it is a title or a probe that was to be short."""
_WORD = re.compile(r"\w+")
ANSWERS = ("outputs", "output", "response")
"""Where a trace keeps what came of a call, beside what was sent."""
INSIDE = ("message", "info", "data", "payload", "event", "body", "choices", "candidates", "generations", *ANSWERS)


def noted_ends(parsed: Parsed, source: Source) -> Parsed:
    """The same, each session whose last reply was cut off with that as its end."""
    return replace(parsed, transcripts=tuple(_noted(transcript, source) for transcript in parsed.transcripts))


def _noted(transcript: Transcript, source: Source) -> Transcript:
    n = len(transcript.requests)
    last = transcript.requests[-1].message if n else None
    ended = [*(error.request for error in transcript.errors), *(event.request for event in transcript.events)]
    usage = transcript.requests[-1].usage if n else None
    is_side = n == 1 and usage is not None and 0 < usage.output < LEAST_REPLY
    if not n or is_side or not transcript.messages or max(ended, default=0) >= n:
        return transcript
    # A call whose answer is empty has no reply: what came of it stands beside what was sent.
    stop = len(transcript.messages) if last is None else last + transcript.requests[-1].n_messages
    reply = transcript.messages[min(stop, len(transcript.messages)) - 1]
    find = _reason_beside if last is None else _reason_at
    reason = next((found for origin in reply.origins[-1:] if (found := find(source, origin))), "")
    if not reason:
        return transcript
    place = len(transcript.messages)
    event = RecordedEvent(EventKind.SESSION_END, n, place, f"{CUT_OFF}: {reason}", reason)
    return replace(transcript, events=(*transcript.events, event))


def _around(source: Source, origin: Origin) -> Iterator[tuple[int, Any]]:
    """The value at ``origin`` and those that hold it, each with how many steps up it is; none that cannot be read."""
    for up in range(min(SPAN_LEVELS, len(origin.path)) + 1):
        try:
            yield up, source.read(replace(origin, path=origin.path[: len(origin.path) - up]))
        except (JsonProblem, EngineError, LookupError, TypeError, ValueError, AttributeError, OSError):
            return


def _reason_beside(source: Source, origin: Origin) -> str:
    """Why an empty answer was cut off, in the object that holds it and what was sent; "" where it was not."""
    for _, value in _around(source, origin):
        if isinstance(value, dict) and any(key in value for key in ANSWERS):
            return _reason_in({key: value[key] for key in ANSWERS if key in value}, inside=True)
    return ""


def _reason_at(source: Source, origin: Origin) -> str:
    """Why the reply at ``origin`` was cut off, by its own value or the objects around it; "" where it was not."""
    for up, value in _around(source, origin):
        if isinstance(value, list):
            # The attributes of a span as OTLP writes them.
            listed = value if value and "key" in as_dict(value[0]) else []
            said = [str(one.get("value")) for one in listed if isinstance(one, dict) and one.get("key") in KEYS]
            found = _reason_in(
                {"finish_reasons": [word for text in said for word in _WORD.findall(text)]}, inside=not up
            )
        else:
            found = _reason_in(value, inside=not up) if isinstance(value, dict) and up <= LEVELS else ""
        if found:
            return found
    return ""


def _reason_in(value: dict[str, Any], *, inside: bool) -> str:
    for key in KEYS:
        held = value.get(key)
        for one in held if isinstance(held, list) else [held]:
            said = (one.get("reason") or _reason_in(one, inside=False)) if isinstance(one, dict) else one
            if isinstance(said, str) and said.lower() in REASONS:
                return said
    inner = [value[key] for key in INSIDE if value.get(key)] if inside else []
    parts = [part for one in inner for part in _flat(one, LEVELS)]
    return next((found for part in parts if isinstance(part, dict) and (found := _reason_in(part, inside=True))), "")


def _flat(value: Any, depth: int) -> list[Any]:
    """What a list, and lists in it, hold."""
    return [part for one in value for part in _flat(one, depth - 1)] if isinstance(value, list) and depth else [value]
