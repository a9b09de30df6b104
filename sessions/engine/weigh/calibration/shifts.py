"""Where a measured context leaves its estimate for good: what came in, or left, and is not in the transcript.

Clients attach files, clear old results and restore what a compaction took away without recording it.  Where a trained
growth misses its estimate by more than what estimates miss, the difference belongs to that step, and every later
context has it (estimators 7.5).  The growth itself stays missed wherever estimates are held against measurements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.growth import Step, misses

LEAST, SHARE = 500, 0.3
"""A difference is none of the estimate from this many tokens on, and from this share of the estimated growth."""


def find_shifts(
    transcript: Transcript, steps: Sequence[Step], contexts: Sequence[int | None], training: frozenset[int]
) -> dict[int, int]:
    """Tokens by request: what its measured growth has beyond its estimate, where that is far more than an error."""
    every = misses(transcript, steps, contexts, training)
    return {step.request: rest for step, by, rest in every if abs(rest) > max(LEAST, SHARE * abs(by))}


def shifted(steps: Sequence[Step], contexts: Sequence[int | None], shifts: Mapping[int, int]) -> tuple[int | None, ...]:
    """The contexts with every shift from its request on, until a recorded compaction begins anew."""
    found, beside = list(contexts), 0
    for step in steps:
        beside = 0 if step.compaction is not None else beside + shifts.get(step.request, 0)
        body = found[step.request]
        found[step.request] = None if body is None else max(0, body + beside)
    return tuple(found)
