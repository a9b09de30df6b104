"""Usage as the Messages API reports it: input excludes what the cache read or wrote (formats 3.3).

``cache_creation`` splits what was written by how long it is kept: 5 minutes or an hour (policies 14).
"""

from __future__ import annotations

from typing import Any

from sessions.engine.formats._counts import count_of
from sessions.engine.types import Usage


def usage_of(usage: Any) -> Usage | None:
    """Provider-reported usage; None where absent or all zero, which is no report (replay-semantics 1)."""
    if not isinstance(usage, dict):
        return None
    written = usage.get("cache_creation")
    kept = written if isinstance(written, dict) else {}
    hour = count_of(kept.get("ephemeral_1h_input_tokens"))
    split = count_of(kept.get("ephemeral_5m_input_tokens")) + hour
    total = count_of(usage.get("cache_creation_input_tokens")) or split
    found = Usage(
        input=count_of(usage.get("input_tokens")),
        cache_read=count_of(usage.get("cache_read_input_tokens")),
        cache_write=total,
        output=count_of(usage.get("output_tokens")),
        cache_write_1h=min(hour, total),
    )
    return found if found.context or found.output else None
