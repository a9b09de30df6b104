"""Token counts as recorders write them: whole numbers, each counted once, cached ones apart from the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.base import limits
from sessions.engine.transcript.types import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping


def count_of(value: Any) -> int:
    """A count, 0 for what is none; a whole number written as a float or as a string is one.

    Below 0 and beyond any model call it is kept, at most ``limits.MAX_COUNT`` either way: what holds such a count is
    left out when the file has been read (sessions.engine.reading.plausible), and said so.
    """
    if value is None:
        return 0
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return max(-limits.MAX_COUNT, min(value, limits.MAX_COUNT))


def first_count(counts: Mapping[str, Any], *keys: str) -> int:
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
    "braintrust": UsageKeys(
        "prompt_tokens", "completion_tokens", "prompt_cached_tokens", "prompt_cache_creation_tokens",
        "completion_reasoning_tokens", includes=True,
    ),
    "cline history": UsageKeys("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", includes=True),
    "cline tokens": UsageKeys("prompt", "completion", "cached", includes=True),
    "cline ui": UsageKeys("tokensIn", "tokensOut", "cacheReads", "cacheWrites"),
    "copilot shutdown": UsageKeys(
        "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens", includes=True
    ),
    "dsh": UsageKeys("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"),
    "gptme": UsageKeys("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"),
    "kimi_code": UsageKeys("inputOther", "output", "inputCacheRead", "inputCacheCreation"),
    "openhands": UsageKeys(
        "prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", includes=True
    ),
}  # fmt: skip
"""By recorder (formats 1.1); those whose keys or meaning hang on another count read them themselves."""


def usage_at(counts: Mapping[str, Any], recorder: str) -> Usage | None:
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
