"""Usage as OpenAI reports it: cached tokens are part of the input, reasoning is part of the output (formats 1.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.reading.formats._counts import count_of, exclusive_usage, first_count, inclusive_usage
from sessions.engine.reading.formats._values import as_dict

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Usage


def openai_usage(usage: Any) -> Usage | None:
    """Usage of a Chat or Responses call, as gateways pass it on too, or of a Codex ``token_count``.

    ``Usage.input`` is what was sent beyond the cached part, so that input and cache add up to the context.  None where
    absent or all zero.
    """
    counts = as_dict(usage)
    inside = as_dict(counts.get("prompt_tokens_details")) or as_dict(counts.get("input_tokens_details"))
    outside = as_dict(counts.get("completion_tokens_details")) or as_dict(counts.get("output_tokens_details"))
    return inclusive_usage(
        first_count(counts, "prompt_tokens", "input_tokens"),
        first_count(counts, "completion_tokens", "output_tokens"),
        cache_read=first_count(counts, "cache_read_input_tokens", "cached_input_tokens")
        or count_of(inside.get("cached_tokens")),
        cache_write=count_of(counts.get("cache_creation_input_tokens")),
        reasoning=count_of(outside.get("reasoning_tokens")) or count_of(counts.get("reasoning_output_tokens")),
    )


def local_usage(response: Any) -> Usage | None:
    """Usage as local servers write it beside their answer: Ollama's own counts, llama.cpp's ``timings``.

    ``prompt_n`` is what was evaluated anew, ``cache_n`` what was kept of the request before.
    """
    counts = as_dict(response)
    timings = as_dict(counts.get("timings"))
    sent = count_of(counts.get("prompt_eval_count")) or count_of(timings.get("prompt_n"))
    output = count_of(counts.get("eval_count")) or count_of(timings.get("predicted_n"))
    return exclusive_usage(sent, output, cache_read=count_of(timings.get("cache_n")))
