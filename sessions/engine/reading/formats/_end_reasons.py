"""How a reply ended, in the words of providers and clients (formats 21.1).

That the last reply was cut off say OpenAI's ``finish_reason`` "length", Anthropic's and Bedrock's ``stop_reason``
"max_tokens", Gemini's ``finishReason`` "MAX_TOKENS", Ollama's ``done_reason``, the Responses API's
``incomplete_details``, opencode's ``finish``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sessions.engine.transcript.recorded_events import CUT_REASONS

REASON_KEYS = (
    "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "finish", "finish_reasons",
    "gen_ai.response.finish_reasons", "incomplete_details", "response_metadata", "generation_info",
)  # fmt: skip
"""Where the reason stands, or the object that holds it under one of them or as ``reason``."""
ANSWERS = ("outputs", "output", "response")
"""Where a trace keeps what came of a call, beside what was sent."""
INSIDE = (
    "message", "info", "data", "payload", "action", "event", "body", "choices", "candidates", "generations", *ANSWERS,
)  # fmt: skip
LEVELS = 2
"""Lists in one another that are looked into."""


def reasons_in(value: dict[str, Any], *, inside: bool = True) -> Iterator[str]:
    """How a reply ended, by the object that tells of it; ``inside``: also by what it holds."""
    for key in REASON_KEYS:
        held = value.get(key)
        for one in held if isinstance(held, list) else [held]:
            if isinstance(one, dict):
                yield from [one["reason"]] if isinstance(one.get("reason"), str) else reasons_in(one, inside=False)
            elif isinstance(one, str):
                yield one
    for held in (value[key] for key in INSIDE if inside and value.get(key)):
        for part in _flat(held, LEVELS):
            if isinstance(part, dict):
                yield from reasons_in(part)


def cut_in(reasons: Iterable[str]) -> str:
    """The first of them that says that a reply was cut off; "" where none does."""
    return next((reason for reason in reasons if reason.lower() in CUT_REASONS), "")


def _flat(value: Any, depth: int) -> list[Any]:
    """What a list, and lists in it, hold."""
    return [part for one in value for part in _flat(one, depth - 1)] if isinstance(value, list) and depth else [value]
