"""What was cleared in place: results or thinking that later requests no longer held (formats 60)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sessions.engine.reading.formats._branch import next_on_branch
from sessions.engine.transcript.types import RecordedClearing, Request

RESULTS, THINKING = "results", "thinking"


class Clearing(NamedTuple):
    """A recorded clearing, before its place is known; see ``RecordedClearing``."""

    what: str
    trigger: str | None = None
    n_cleared: int | None = None
    tokens_freed: int | None = None
    calls: tuple[str, ...] = ()


def clearing_at(clearing: Clearing, message: int, n_before: int, requests: Sequence[Request]) -> RecordedClearing:
    """The clearing after ``message`` messages and ``n_before`` requests: the first request of the branch after it."""
    request = next_on_branch(requests, n_before)
    return RecordedClearing(
        clearing.what, request, message, clearing.trigger, clearing.n_cleared, clearing.tokens_freed, clearing.calls
    )
