"""How a session's tokens were calibrated: each growth as estimated and as measured, the window, the overhead."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from django.urls import reverse

from sessions.charts.fit import Point, residual_figure, scatter_figure
from sessions.charts.marks import figure_json
from sessions.contexts.overview import called
from sessions.engine.gates import own_gate
from sessions.engine.types import Label

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from sessions.contexts.overview import Overview
    from sessions.engine.calibrate import Weighed

N_WORST = 5
MOST_FLAGGED = 12
SOURCES = {
    "recorded": "recorded in the transcript", "model": "the model's", "default": "assumed, the model is not known",
    "model, long window": "the model's long one: a context was larger than the plain window",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Worst:
    """One of the growths that the estimate misses by most, with the message that weighs most in it."""

    message: int
    href: str
    what: str
    preview: str
    request: int
    measured: int
    estimated: int
    share: float


@dataclass(frozen=True, slots=True)
class FlaggedUsage:
    """A usage that cannot be right: shown, but neither fitted nor replayed."""

    request: int
    href: str
    reported: int
    expected: int


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the overhead in tokens."""

    name: str
    tokens: int
    label: str


@dataclass(frozen=True, slots=True)
class FitView:
    """Everything that ``sessions/_why_fit.html`` shows; the figures are "" where nothing was measured."""

    scatter: SafeString | str
    residuals: SafeString | str
    n_points: int
    median_error: float | None
    ratio: float
    ratio_label: str
    n_growths: int
    wrapper: int
    worst: tuple[Worst, ...]
    window: int
    window_source: str
    window_label: str
    effective: int | None
    effective_name: str
    overhead: int
    overhead_label: str
    parts: tuple[Part, ...]
    flagged: tuple[FlaggedUsage, ...]
    n_flagged: int

    @property
    def ratio_words(self) -> str:
        """The ratio as written: ×1.46."""
        return f"×{self.ratio:.2f}"


def build_fit(session_id: str, view: Overview) -> FitView:
    """The fit of a session; raises nothing, a session without usage has no points."""
    weighed = view.weighed
    base = reverse("sessions:session", args=[session_id])
    points = growths(weighed)
    worst = sorted(points, key=lambda point: -abs(point.rest))[:N_WORST]
    last = len(weighed.transcript.requests) - 1
    gate = own_gate(weighed.transcript.format)
    errors = [abs(point.rest) / point.measured for point in points if point.measured > 0]
    return FitView(
        scatter=figure_json(scatter_figure(points, worst)) if points else "",
        residuals=figure_json(residual_figure(points, worst, last)) if points else "",
        n_points=len(points),
        median_error=100 * median(errors) if errors else None,
        ratio=weighed.ratio,
        ratio_label=str(weighed.ratio_label),
        n_growths=weighed.n_growths,
        wrapper=weighed.wrapper,
        worst=tuple(_worst(view, point, base) for point in worst),
        window=weighed.window,
        window_source=SOURCES[weighed.window_source],
        window_label="measured" if weighed.window_source == "recorded" else "estimated",
        effective=gate.threshold(weighed.window, weighed.model) if gate else None,
        effective_name=gate.label if gate else "",
        overhead=weighed.overhead,
        overhead_label=str(weighed.overhead_label),
        parts=_parts(weighed),
        flagged=_flagged(weighed, base),
        n_flagged=len(weighed.flagged),
    )


def growths(weighed: Weighed) -> list[Point]:
    """Every measured growth of the context between two requests of the branch, with its estimate.

    Left out are the first request, those at a recorded compaction and those with flagged usage.
    """
    points = []
    requests = weighed.transcript.requests
    for before, step in itertools.pairwise(weighed.steps):
        then, now = requests[before.request].usage, requests[step.request].usage
        estimated, earlier = weighed.estimated[step.request], weighed.estimated[before.request]
        flagged = {before.request, step.request} & weighed.flagged
        if not then or not now or flagged or step.compaction is not None or estimated is None or earlier is None:
            continue
        heaviest = max(range(step.start, step.stop), key=lambda i: weighed.tokens[i], default=None)
        added = [i for i in range(step.start, step.stop) if weighed.labels[i] is not Label.MEASURED]
        message = max(added, key=lambda i: weighed.tokens[i], default=heaviest)
        if message is not None:
            points.append(Point(step.request, message, now.context - then.context, estimated - earlier))
    return points


def _worst(view: Overview, point: Point, base: str) -> Worst:
    message = view.messages[point.message]
    share = 100 * point.rest / point.measured if point.measured else 0.0
    return Worst(
        point.message, _at(base, point.message), called(message, view.tools), message.preview, point.request,
        point.measured, point.estimated, share,
    )  # fmt: skip


def _parts(weighed: Weighed) -> tuple[Part, ...]:
    """What the file holds of the system prompt and tools, and the rest that only the first usage shows."""
    held = round(sum(block.n_tokens for block in weighed.transcript.system) * weighed.ratio)
    known = min(held, weighed.overhead)
    label = str(weighed.ratio_label)
    parts = [Part("system prompt and tools in the file", known, label)] if held else []
    if weighed.overhead > known:
        name = "what the file leaves out" if held else "system prompt, tools and what the harness hides"
        parts.append(Part(name, weighed.overhead - known, str(weighed.overhead_label)))
    return tuple(parts)


def _flagged(weighed: Weighed, base: str) -> tuple[FlaggedUsage, ...]:
    found = []
    for number in sorted(weighed.flagged)[:MOST_FLAGGED]:
        request = weighed.transcript.requests[number]
        context = request.usage.context if request.usage else 0
        found.append(FlaggedUsage(number, _at(base, request.message), context, weighed.estimated[number] or 0))
    return tuple(found)


def _at(base: str, message: int | None) -> str:
    return "" if message is None else f"{base}?m={message}#m-{message}"
