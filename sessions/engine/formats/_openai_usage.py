"""Usage as OpenAI reports it: cached tokens are part of the input, reasoning is part of the output (formats 1.1)."""

from __future__ import annotations

from typing import Any

from sessions.engine.types import Usage


def openai_usage(usage: Any) -> Usage | None:
    """Usage of a Chat or Responses call or of a Codex ``token_count``; None where absent or all zero.

    ``Usage.input`` is what was sent beyond the cached part, so that input and cache_read add up to the context.
    """
    if not isinstance(usage, dict):
        return None
    sent = count_of(usage.get("prompt_tokens")) or count_of(usage.get("input_tokens"))
    output = count_of(usage.get("completion_tokens")) or count_of(usage.get("output_tokens"))
    inside = _details(usage, "prompt_tokens_details") or _details(usage, "input_tokens_details")
    outside = _details(usage, "completion_tokens_details") or _details(usage, "output_tokens_details")
    cached = count_of(inside.get("cached_tokens")) or count_of(usage.get("cached_input_tokens"))
    cached = min(cached, sent)
    reasoning = count_of(outside.get("reasoning_tokens")) or count_of(usage.get("reasoning_output_tokens"))
    if not sent and not output:
        return None
    return Usage(sent - cached, cache_read=cached, output=output, reasoning=min(reasoning, output))


def count_of(value: Any) -> int:
    """A count of tokens: ``value`` if it is a positive whole number, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _details(usage: dict[str, Any], key: str) -> dict[str, Any]:
    found = usage.get(key)
    return found if isinstance(found, dict) else {}
