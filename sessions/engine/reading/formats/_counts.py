"""Token counts as recorders write them: whole numbers, each counted once, cached ones apart from the rest.

As OpenAI reports usage, cached tokens are part of the input and reasoning is part of the output (formats 1.1); as
Anthropic does, the input excludes what the cache read or wrote (formats 3.3).  ``cache_creation`` splits what was
written by how long it is kept: 5 minutes or an hour (policies 14).  A request that asked an advisor, or ran a server's
tool, adds its own inputs up: ``iterations`` lists them (verdicts 3.3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of
from sessions.engine.transcript.types import Usage

OWN = ("message", "fallback_message")
"""Iterations that are the model's own calls; an advisor's, and one that compacts, are others."""
INPUTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def first_count(counts: Record, *keys: str) -> int:
    """The count under the first of ``keys`` that has one."""
    return next((found for key in keys if (found := count_of(counts.get(key)))), 0)


class UsageKeys(NamedTuple):
    """Where a recorder writes the counts of a call; ``includes``: the input counts what the cache read or wrote."""

    sent: str
    output: str
    read: str = ""
    written: str = ""
    reasoning: str = ""
    includes: bool = False


USAGE_KEYS = {
    "ag_ui": UsageKeys("inputTokens", "outputTokens", "cachedInputTokens", "", "reasoningTokens", includes=True),
    "atif": UsageKeys("prompt_tokens", "completion_tokens", "cached_tokens", includes=True),
    "bedrock log": UsageKeys(
        "inputTokenCount", "outputTokenCount", "cacheReadInputTokenCount", "cacheWriteInputTokenCount"
    ),
    "braintrust": UsageKeys(
        "prompt_tokens", "completion_tokens", "prompt_cached_tokens", "prompt_cache_creation_tokens",
        "completion_reasoning_tokens", includes=True,
    ),
    "cline history": UsageKeys("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", includes=True),
    "cline tokens": UsageKeys("prompt", "completion", "cached", includes=True),
    "cline ui": UsageKeys("tokensIn", "tokensOut", "cacheReads", "cacheWrites"),
    "cline ui whole": UsageKeys("tokensIn", "tokensOut", "cacheReads", "cacheWrites", includes=True),
    "copilot shutdown": UsageKeys(
        "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens", includes=True
    ),
    "dsh": UsageKeys("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"),
    "goose ledger": UsageKeys(
        "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", includes=True
    ),
    "gptme": UsageKeys("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"),
    "kimi_code": UsageKeys("inputOther", "output", "inputCacheRead", "inputCacheCreation"),
    "openhands": UsageKeys(
        "prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", includes=True
    ),
}  # fmt: skip
"""By recorder (formats 1.1); those whose keys or meaning hang on another count read them themselves."""


def usage_at(counts: Record, recorder: str) -> Usage | None:
    """Usage by the keys of ``USAGE_KEYS``; None where nothing was reported."""
    *keys, includes = USAGE_KEYS[recorder]
    sent, output, read, written, reasoning = (count_of(counts.get(key)) if key else 0 for key in keys)
    build = inclusive_usage if includes else exclusive_usage
    return build(sent, output, cache_read=read, cache_write=written, reasoning=reasoning)


def inclusive_usage(
    sent: int, output: int, *, cache_read: int = 0, cache_write: int = 0, reasoning: int = 0
) -> Usage | None:
    """Usage where ``sent`` includes what the cache read or wrote (formats 1.1); None where nothing was reported.

    More cached than sent is no subset: the provider then counted them apart.
    """
    cached = cache_read + cache_write
    fresh = sent - cached if cached <= sent else sent
    return exclusive_usage(fresh, output, cache_read=cache_read, cache_write=cache_write, reasoning=reasoning)


def exclusive_usage(
    fresh: int, output: int, *, cache_read: int = 0, cache_write: int = 0, reasoning: int = 0
) -> Usage | None:
    """Usage where ``fresh`` excludes what the cache read or wrote; None where nothing was reported.

    ``reasoning`` is part of ``output``: more than that is not believed.
    """
    found = Usage(fresh, cache_read, cache_write, output, reasoning=min(reasoning, output))
    return found if found.context or found.output else None


def sdk_usage(counts: Any) -> Usage | None:
    """Usage as the AI SDK and Mastra write it: the input includes what the cache read and wrote."""
    held = as_dict(counts)
    sent = as_dict(held.get("inputTokenDetails")) or as_dict(held.get("inputDetails"))
    made = as_dict(held.get("outputTokenDetails")) or as_dict(held.get("outputDetails"))
    return inclusive_usage(
        first_count(held, "inputTokens", "promptTokens"),
        first_count(held, "outputTokens", "completionTokens"),
        cache_read=first_count(sent, "cacheReadTokens", "cacheRead") or count_of(held.get("cachedInputTokens")),
        cache_write=first_count(sent, "cacheWriteTokens", "cacheWrite"),
        reasoning=first_count(made, "reasoningTokens", "reasoning") or count_of(held.get("reasoningTokens")),
    )


def openai_usage(usage: Any) -> Usage | None:
    """Usage of a Chat or Responses call, as gateways pass it on too, or of a Codex ``token_count``.

    ``Usage.input`` is what was sent beyond the cached part, so that input and cache add up to the context.  None where
    absent or all zero.
    """
    counts = as_dict(usage)
    if "prompt_n" in counts:
        # llama.cpp's timings among them: what is called the input there is what it evaluated anew.
        return local_usage(counts)
    inside = as_dict(counts.get("prompt_tokens_details")) or as_dict(counts.get("input_tokens_details"))
    outside = as_dict(counts.get("completion_tokens_details")) or as_dict(counts.get("output_tokens_details"))
    sent, output = (
        first_count(counts, "prompt_tokens", "input_tokens"),
        first_count(counts, "completion_tokens", "output_tokens"),
    )
    read = first_count(counts, "cache_read_input_tokens", "cached_input_tokens") or count_of(
        inside.get("cached_tokens")
    )
    written = count_of(counts.get("cache_creation_input_tokens"))
    if read <= sent and count_of(counts.get("total_tokens")) == sent + output:
        # The total has no more than the prompt: what was written is part of it.
        written = min(written, sent - read)
    return inclusive_usage(
        sent,
        output,
        cache_read=read,
        cache_write=written,
        reasoning=count_of(outside.get("reasoning_tokens")) or count_of(counts.get("reasoning_output_tokens")),
    )


def local_usage(response: Any) -> Usage | None:
    """Usage as local servers write it beside their answer: Ollama's own counts, llama.cpp's ``timings``.

    ``prompt_n`` is what was evaluated anew, ``cache_n`` what was kept of the request before.
    """
    counts = as_dict(response)
    timings = as_dict(counts.get("timings")) or counts
    sent = count_of(counts.get("prompt_eval_count")) or count_of(timings.get("prompt_n"))
    output = count_of(counts.get("eval_count")) or count_of(timings.get("predicted_n"))
    return exclusive_usage(sent, output, cache_read=count_of(timings.get("cache_n")))


def usage_of(usage: Any) -> Usage | None:
    """Provider-reported usage; None where absent or all zero, which is no report (replay-semantics 1)."""
    counts = as_dict(usage)
    kept = as_dict(counts.get("cache_creation"))
    hour = count_of(kept.get("ephemeral_1h_input_tokens"))
    split = count_of(kept.get("ephemeral_5m_input_tokens")) + hour
    total = count_of(counts.get("cache_creation_input_tokens")) or split
    own = [step for step in map(as_dict, as_list(counts.get("iterations"))) if step.get("type") in OWN]
    found = Usage(
        input=count_of(counts.get("input_tokens")),
        cache_read=count_of(counts.get("cache_read_input_tokens")),
        cache_write=total,
        output=count_of(counts.get("output_tokens")),
        cache_write_1h=min(hour, total),
        last_input=sum(count_of(own[-1].get(key)) for key in INPUTS) if len(own) > 1 else 0,
    )
    return found if found.context or found.output else None
