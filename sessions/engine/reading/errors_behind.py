"""Refusals and failed compactions that lines behind a session's last message tell, which its reader does not know.

A session that ended there would read as all well (formats 21.1).  Only what is an error by its own words counts, and
nothing that a tool printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sessions.engine.reading.formats._provider_errors import MAX_WORDS, MESSAGE_KEYS, Refusal, error_of, once
from sessions.engine.reading.json_values import JsonProblem, loads
from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.recorded_events import ENDS
from sessions.engine.transcript.types import Parsed, ProviderError, Transcript

MOST_BYTES, MOST_LINES, MOST_DEPTH = 262_144, 200, 5
"""Of what follows the last message so much is looked at, and so deep."""
KEYS = frozenset({*MESSAGE_KEYS, "content", "error", "errors", "data", "output_text", "words"})
_PRINTED = re.compile(r"tool|exec|stdout|stderr|output|result|diff|patch|snapshot|command(?!s?_error)", re.IGNORECASE)
"""Keys and types of records that hold what a program printed."""


def noted_behind(parsed: Parsed, source: Source) -> Parsed:
    """The same, the session with which the file ends also with such errors, where nothing else tells of its end."""
    if not parsed.transcripts or not source.is_lines():
        return parsed
    last = max(parsed.transcripts, key=_end)
    n = len(last.requests)
    told = [one.request for one in last.errors] + [event.request for event in last.events if event.kind in ENDS]
    if not _end(last) or any(request >= n for request in told):
        return parsed
    at = len(last.messages)
    errors = once(
        ProviderError(one.kind, n, at, one.tokens, one.limit, one.status, 1, one.of_compaction, one.code, one.words)
        for one in _errors(source, _end(last))
    )
    if not errors:
        return parsed
    ended = replace(last, errors=(*last.errors, *errors))
    return replace(parsed, transcripts=tuple(ended if one is last else one for one in parsed.transcripts))


def _end(transcript: Transcript) -> int:
    """Where the last message ends in the file, in bytes; 0 where messages have no place of their own."""
    origins = transcript.messages[-1].origins if transcript.messages else ()
    return max((origin.offset + origin.length for origin in origins if origin.line > 1), default=0)


def _errors(source: Source, start: int) -> Iterator[Refusal]:
    """What the lines from ``start`` on say."""
    source.file.seek(start)
    for line in source.file.read(MOST_BYTES).split(b"\n")[:MOST_LINES]:
        try:
            value = loads(line) if line.lstrip()[:1] == b"{" else None
        except (JsonProblem, ValueError, RecursionError):
            continue
        yield from _said(value, 0)


def _said(value: Any, depth: int) -> Iterator[Refusal]:
    if depth > MOST_DEPTH:
        return
    if isinstance(value, list):
        for one in value:
            yield from _said(one, depth + 1)
    elif isinstance(value, dict) and not _PRINTED.search(str(value.get("type", ""))):
        for key, held in value.items():
            if isinstance(held, str):
                error = error_of(held) if key in KEYS and len(held) <= MAX_WORDS else None
                if error and error.of_size and (error.of_compaction or error.tokens or error.limit or error.status):
                    yield error
            elif not _PRINTED.search(key):
                yield from _said(held, depth + 1)
