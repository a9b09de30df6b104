"""Usage as the Messages API reports it: input excludes what the cache read or wrote (formats 3.3).

``cache_creation`` splits what was written by how long it is kept: 5 minutes or an hour (policies 14).  A request that
asked an advisor, or ran a server's tool, adds its own inputs up: ``iterations`` lists them (verdicts 3.3).
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats._counts import count_of
from sessions.engine.transcript.types import Usage

OWN = ("message", "fallback_message")
"""Iterations that are the model's own calls; an advisor's, and one that compacts, are others."""
INPUTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


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
        last_input=_last_input(usage.get("iterations")),
    )
    return found if found.context or found.output else None


def _last_input(iterations: Any) -> int:
    """The whole input of the last of several own calls; 0 where there was one."""
    steps = iterations if isinstance(iterations, list) else []
    own = [step for step in steps if isinstance(step, dict) and step.get("type") in OWN]
    return sum(count_of(own[-1].get(key)) for key in INPUTS) if len(own) > 1 else 0
