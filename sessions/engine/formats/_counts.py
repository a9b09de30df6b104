"""Token counts as recorders write them: whole numbers, each counted once, cached ones apart from the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine import limits
from sessions.engine.types import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping


def count_of(value: Any) -> int:
    """A count, 0 for what is none; a whole number written as a float or as a string is one.

    Below 0 and beyond any model call it is kept, at most ``limits.MAX_COUNT`` either way: what holds such a count is
    left out when the file has been read (sessions.engine.plausible), and said so.
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
