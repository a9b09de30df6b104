"""What an agent lists of its own context, each part by name: Claude Code's ``/context``, aider's ``/tokens``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from sessions.engine.base.errors import EngineError
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import Content, Message, Parsed, Role, Transcript

CONTEXT_HEAD = "Context Usage"
_CONTEXT_LINE = re.compile(
    r"(System prompt|System tools|MCP tools|Custom agents|Memory files|Skills"
    r"|System messages|Chat history|Repository map)"
    r"(?::| *\|) *([\d.,]+)(k?)(?: tokens| *\|)",
    re.IGNORECASE,
)


def context_output(text: str) -> dict[str, int]:
    """Parts by name in an output of ``/context``: "System prompt: 2.6k tokens (1.3%)" is 2,600; the first of a name."""
    parts: dict[str, int] = {}
    for name, number, thousands in _CONTEXT_LINE.findall(text):
        amount = float(number.replace(",", "") or 0)
        parts.setdefault(name.lower(), round(amount * 1000 if thousands else amount))
    return parts


def noted_listings(parsed: Parsed, contents: Callable[[Message], tuple[Content, ...]]) -> Parsed:
    """The same, each session with the newest such output as an event, in the same words without the rest."""
    return replace(parsed, transcripts=tuple(_noted(transcript, contents) for transcript in parsed.transcripts))


def _noted(transcript: Transcript, contents: Callable[[Message], tuple[Content, ...]]) -> Transcript:
    listed = [m for m in transcript.messages if m.role is Role.USER and CONTEXT_HEAD in m.preview]
    for message in reversed(listed):
        try:
            parts = context_output("\n".join(content.text for content in contents(message)))
        except EngineError:
            return transcript
        if parts:
            after = (r.index for r in transcript.requests if (r.message or 0) > message.index)
            request = next(after, len(transcript.requests))
            words = "; ".join(f"{name}: {tokens:,} tokens" for name, tokens in parts.items())
            event = RecordedEvent(EventKind.CONTEXT_LISTED, request, message.index, words)
            return replace(transcript, events=(*transcript.events, event))
    return transcript
