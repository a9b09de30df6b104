"""Usage as the Messages API reports it: input excludes what the cache read or wrote (formats 3.3)."""

from __future__ import annotations

from typing import Any

from sessions.engine.types import Usage

KEYS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


def usage_of(usage: Any) -> Usage | None:
    """Provider-reported usage; None where absent or all zero, which is no report (replay-semantics 1)."""
    if not isinstance(usage, dict):
        return None
    figures = [_count(usage.get(key)) for key in KEYS]
    return Usage(*figures) if any(figures) else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
