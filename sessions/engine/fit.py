"""How well a session's estimates fit what its provider reported: every growth of the context, estimated and measured.

The estimate of a growth is the difference of two estimated contexts (replay-semantics 1), so that it never sees the
usage it is held against, but for the ratio that was fitted on all of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from sessions.engine.types import Label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.calibrate import Weighed
    from sessions.engine.growth import Step

N_WORST = 5


@dataclass(frozen=True, slots=True)
class FitPoint:
    """One growth in tokens, as measured and as estimated, at the request that first sent ``message``.

    ``message`` is the heaviest of those that entered with it and whose tokens were not measured themselves.
    """

    request: int
    message: int
    measured: int
    estimated: int

    @property
    def rest(self) -> int:
        """Estimate less measurement, in tokens."""
        return self.estimated - self.measured


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the overhead in tokens, and how it is known."""

    name: str
    tokens: int
    label: Label


def fit_points(weighed: Weighed) -> tuple[FitPoint, ...]:
    """Every growth between two requests of the branch that both report usage.

    Left out are growths at a recorded compaction and those with flagged usage.
    """
    found = []
    requests = weighed.transcript.requests
    for before, step in itertools.pairwise(weighed.steps):
        then, now = requests[before.request].usage, requests[step.request].usage
        earlier, later = weighed.estimated[before.request], weighed.estimated[step.request]
        message = _heaviest(weighed, step)
        if not then or not now or earlier is None or later is None or message is None:
            continue
        if step.compaction is None and not {before.request, step.request} & weighed.flagged:
            found.append(FitPoint(step.request, message, now.context - then.context, later - earlier))
    return tuple(found)


def _heaviest(weighed: Weighed, step: Step) -> int | None:
    """The message of a step that weighs most, one that was not measured itself before one that was."""
    span = range(step.start, step.stop)
    return max(span, key=lambda i: (weighed.labels[i] is not Label.MEASURED, weighed.tokens[i]), default=None)


def median_error(points: Sequence[FitPoint]) -> float | None:
    """The median of |estimate − measurement| ÷ measurement over growths that are positive, None without any."""
    errors = [abs(point.rest) / point.measured for point in points if point.measured > 0]
    return median(errors) if errors else None


def worst_points(points: Sequence[FitPoint]) -> tuple[FitPoint, ...]:
    """The five growths that the estimate misses by most tokens, the worst first."""
    return tuple(sorted(points, key=lambda point: (-abs(point.rest), point.request))[:N_WORST])


def overhead_parts(weighed: Weighed) -> tuple[Part, ...]:
    """The overhead: what the file holds of the system prompt and tools, and what only the first usage shows."""
    held = round(sum(block.n_tokens for block in weighed.transcript.system) * weighed.ratio)
    known = min(held, weighed.overhead)
    parts = [Part("system prompt and tools in the file", known, weighed.ratio_label)] if known else []
    if weighed.overhead > known:
        name = "what the file leaves out" if known else "system prompt, tools and what the harness hides"
        parts.append(Part(name, weighed.overhead - known, weighed.overhead_label))
    return tuple(parts)


def fit_document(weighed: Weighed) -> dict[str, Any]:
    """``fit`` of ``ctxweb.why/1``: growths in tokens, their median error as a share, the overhead's parts."""
    points = fit_points(weighed)
    error = median_error(points)
    return {
        "ratio": round(weighed.ratio, 4),
        "ratio_label": weighed.ratio_label.value,
        "n_growths": weighed.n_growths,
        "median_error": None if error is None else round(error, 4),
        "overhead": weighed.overhead,
        "overhead_label": weighed.overhead_label.value,
        "overhead_parts": [
            {"name": p.name, "tokens": p.tokens, "label": p.label.value} for p in overhead_parts(weighed)
        ],
        "flagged_requests": sorted(weighed.flagged),
        "growths": [
            {"request": p.request, "message": p.message, "measured": p.measured, "estimated": p.estimated}
            for p in points
        ],
    }
