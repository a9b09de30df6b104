"""The limits that a file sets for prompts and replies, of sessions that met one (formats 21.1).

Whatever the format: under the keys that clients, servers and gateways write them in, never inside of a text.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.recorded_events import CUT_OFF, EventKind, RecordedEvent
from sessions.engine.transcript.types import Transcript

PART_BYTES, MOST_BYTES, LONGEST = 1_000_000, 64_000_000, 64
"""Bytes read at once and in all; bytes of a key with its value."""
MOST_VALUES, LEAST, MOST = 2, 64, 20_000_000
"""Values of one key from which it is no setting; tokens that a limit has."""
_WORDS = (
    "max_?(?:input|output|completion|new|context|prompt)_?tokens|max_?tokens|num_?(?:ctx|predict)|n_ctx"
    "|context_?(?:length|window|limit|size)|max_?(?:model_?len|context_?(?:length|window))"
)
_LIMIT = re.compile(rb'(?<!\\)"(' + _WORDS.encode() + rb')": ?"?(\d{2,8})\b', re.IGNORECASE)


def noted_limits(transcripts: tuple[Transcript, ...], source: Source) -> tuple[Transcript, ...]:
    """The same, each that was refused or cut off with the limits that the file sets as an event each."""
    if not any(_met(transcript) for transcript in transcripts):
        return transcripts
    events = tuple(
        RecordedEvent(EventKind.LIMIT_SET, 0, 0, f"{key} {tokens:,}", key) for key, tokens in _limits_in(source)
    )
    return tuple(replace(t, events=(*events, *t.events)) if _met(t) else t for t in transcripts)


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
            if LEAST <= int(digits) <= MOST and int(digits) not in values and len(values) <= MOST_VALUES:
                values.append(int(digits))
        tail = part[-LONGEST:]
    return [(key, tokens) for key, values in found.items() if len(values) <= MOST_VALUES for tokens in values]
