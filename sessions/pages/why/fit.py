"""How a session's tokens were calibrated: each growth as estimated and as measured, the window, the overhead.

Left, both on log scales: on the diagonal an estimate is exact, inside the band it is within a tenth.  Right, the
difference at each request, estimate less measurement.  The worst are numbered by their message.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString

from sessions.engine.agents.agent import own_trigger
from sessions.engine.transcript.types import Label
from sessions.engine.weigh.calibration import fit as fits
from sessions.engine.weigh.calibration.context_windows import RECORDED, source_words
from sessions.engine.weigh.calibration.fit import FitPoint, OverheadPart
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.shared import own_threshold
from sessions.pages.ui import figures
from sessions.pages.ui.chart import (
    QUIET,
    Figure,
    axis,
    drawn,
    figure_text,
    index_ticks,
    layout,
    line,
    nice_top,
    note,
    spaced,
    spans,
    thousands,
    titled,
)
from sessions.runs.overview import Overview

MOST_FLAGGED = 12


class Measured(NamedTuple):
    """What takes a look at every message: the two figures as text, what they show, and the overhead's parts."""

    scatter: str
    residuals: str
    n_points: int
    median_error: float | None
    worst: tuple[FitPoint, ...]
    parts: tuple[OverheadPart, ...]


class FitView:
    """Everything that ``sessions/why/_fit.html`` shows; the figures are "" where nothing was measured.

    ``worst`` are the growths that the estimate misses by most, with the message that weighs most in each and by how
    much it is off.  ``flagged`` are usages that cannot be right, neither fitted nor replayed: request, message, tokens
    reported and expected.
    """

    def __init__(self, view: Overview) -> None:
        self.weighed = weighed = view.weighed
        made = view.kept("fit", lambda: _measured(weighed), (Measured, FitPoint, OverheadPart, Label), on="why")
        self.measured = made
        self.scatter, self.residuals = SafeString(made.scatter), SafeString(made.residuals)
        self.median_error = None if made.median_error is None else 100 * made.median_error
        messages = [(point, view.messages[point.message]) for point in made.worst]
        self.worst = [(point, message.preview, figures.signed(point.rest)) for point, message in messages]
        self.window_source = source_words(weighed.transcript, weighed.window_source)
        self.window_label = "measured" if weighed.window_source == RECORDED else "estimated"
        self.effective = own_threshold(weighed.transcript, weighed.window, weighed.model)
        gate = own_trigger(weighed.transcript)
        self.effective_name = gate.label if gate else ""
        self.flagged = _flagged(weighed)
        self.ratio_words = f"×{weighed.ratio:.2f}"


def _measured(weighed: Weighed) -> Measured:
    points = fits.fit_points(weighed)
    worst, last = fits.worst_points(points), len(weighed.transcript.requests) - 1
    return Measured(
        figure_text(scatter_figure(points, worst)) if points else "",
        figure_text(residual_figure(points, worst, last)) if points else "",
        len(points), fits.median_error(points), worst, fits.overhead_parts(weighed),
    )  # fmt: skip


def _flagged(weighed: Weighed) -> tuple[tuple[int, int | None, int, int], ...]:
    found = []
    for number in sorted(weighed.flagged)[:MOST_FLAGGED]:
        request = weighed.transcript.requests[number]
        context = request.usage.context if request.usage else 0
        found.append((number, request.message, context, weighed.estimated[number] or 0))
    return tuple(found)


MOST_POINTS = 600
APART = 0.3
"""Share of the plot between two labels: two that face each other on a phone take as much."""
NEAR = 0.1
HEIGHT = 300
MARGIN, NARROW_MARGIN = {"l": 62, "r": 24, "t": 22, "b": 40}, {"l": 52, "r": 14, "t": 22, "b": 40}


def shown_points(points: Sequence[FitPoint], named: Sequence[FitPoint]) -> list[FitPoint]:
    """The points to draw: all, or of each span the two furthest off either way, and those that are ``named``."""
    if len(points) <= MOST_POINTS:
        return list(points)
    parts = [[points[at] for at in span] for span in spans(len(points), MOST_POINTS // 2)]
    ends = {end(part, key=lambda point: point.rest) for part in parts for end in (min, max)}
    return sorted({*ends, *named}, key=lambda point: point.request)


def scatter_figure(points: Sequence[FitPoint], named: Sequence[FitPoint]) -> Figure:
    """Estimated against measured growth, in roles; growths that are not positive cannot stand on a log scale."""
    shown = [point for point in shown_points(points, named) if point.measured > 0 and point.estimated > 0]
    values = [value for point in shown for value in (point.measured, point.estimated)]
    low, high = math.log10(max(min(values, default=10), 1) / 1.4), math.log10(max(values, default=1000) * 1.4)
    marks = _log_ticks(low, high)
    figure = layout(HEIGHT, HEIGHT, MARGIN, NARROW_MARGIN, hovermode="closest")
    common = {"type": "log", "range": [low, high], "tickvals": marks, "ticktext": [thousands(m) for m in marks]}
    figure["xaxis"] = axis(**common, title=titled("measured growth, tokens"), anchor="y")
    figure["yaxis"] = axis(**common, anchor="x")
    ends = [10**low, 10**high]
    near = [math.log10(1 - NEAR), math.log10(1 + NEAR)]
    figure["shapes"] = [
        {
            "type": "path", "xref": "x", "yref": "y", "layer": "below", "line": {"width": 0},
            "fillcolor": "@chart-area", "path": _band(low, high, near),
        },
        {
            "type": "line", "xref": "x", "yref": "y", "x0": ends[0], "y0": ends[0], "x1": ends[1], "y1": ends[1],
            "line": {"color": "@chart-axis", "width": 1}, "layer": "below",
        },
    ]  # fmt: skip
    positive = [point for point in named if point.measured > 0 and point.estimated > 0]
    tagged = _labelled(positive, [math.log10(point.measured) for point in positive], high - low)
    figure["annotations"] = [
        note("Estimated growth, tokens", 0, 1, xref="paper", yref="paper", shift=(0, 4), size=12, weight=600),
        *(_number(point, math.log10(point.measured), math.log10(point.estimated), (low, high)) for point in tagged),
    ]  # fmt: skip
    xs, ys = [point.measured for point in shown], [point.estimated for point in shown]
    return drawn([_dots(shown, xs, ys)], figure)


def residual_figure(points: Sequence[FitPoint], named: Sequence[FitPoint], last: int) -> Figure:
    """What the estimate leaves over at each request up to ``last``, in roles."""
    shown = shown_points(points, named)
    top = nice_top(max([abs(point.rest) for point in shown] or [10]))
    figure = layout(HEIGHT, HEIGHT, MARGIN, NARROW_MARGIN, hovermode="closest")
    figure["xaxis"] = axis(
        range=[-0.02 * max(last, 1), 1.02 * max(last, 1)], tickvals=index_ticks(0, max(last, 1)), tickformat=",d",
        title=titled("request"), anchor="y", tickangle=0,
    )  # fmt: skip
    high = thousands(top)
    figure["yaxis"] = axis(
        range=[-1.1 * top, 1.1 * top], tickvals=[-top, 0, top], ticktext=[f"{figures.MINUS}{high}", "0", high],
        fixedrange=True, anchor="x",
    )  # fmt: skip
    grid = [line("@chart-grid", y=(mark, mark), below=True) for mark in (-top, top)]
    figure["shapes"] = [*grid, line("@chart-axis", y=(0, 0), below=True)]
    title = note("Estimation error, tokens", 0, 1, xref="paper", yref="paper", shift=(0, 4), size=12, weight=600)
    far = [point for point in named if abs(point.rest) > 0.08 * top]
    tagged = _labelled(far, [point.request for point in far], max(last, 1))
    figure["annotations"] = [title, *(_number(point, point.request, point.rest, (0, last)) for point in tagged)]
    stems_x: list[float | None] = [value for point in shown for value in (point.request, point.request, None)]
    stems_y: list[float | None] = [value for point in shown for value in (0, point.rest, None)]
    stems = {
        "type": "scatter", "mode": "lines", "x": stems_x, "y": stems_y, "hoverinfo": "skip",
        "line": {"width": 1, "color": "@chart-ghost"},
    }  # fmt: skip
    dots = _dots(shown, [point.request for point in shown], [point.rest for point in shown])
    return drawn([stems, dots], figure)


def _log_ticks(low: float, high: float) -> list[int]:
    """Powers of ten between two exponents; where there are fewer than three, 2 and 5 times them as well."""
    powers = range(math.floor(low), math.floor(high) + 1)
    every = [step * 10**power for power in powers for step in (1, 2, 5) if low <= math.log10(step * 10**power) <= high]
    tens = [10**power for power in powers if power >= low]
    return tens if len(tens) > 2 else every


def _labelled(named: Sequence[FitPoint], places: Sequence[float], span: float) -> list[FitPoint]:
    """Those of the named points, the worst first, whose labels do not stand on each other."""
    return [point for point, free in zip(named, spaced(places, span, APART), strict=True) if free]


def _band(low: float, high: float, near: list[float]) -> str:
    corners = [(low, low + near[0]), (high, high + near[0]), (high, high + near[1]), (low, low + near[1])]
    return "M" + "L".join(f"{10**x:.4g},{10**y:.4g}" for x, y in corners) + "Z"


def _dots(points: Sequence[FitPoint], xs: list[int], ys: list[int]) -> Figure:
    says = [
        f"request {p.request:,}, message {p.message:,}<br>estimated {p.estimated:,}, measured {p.measured:,}"
        for p in points
    ]
    return {
        "type": "scatter", "mode": "markers", "x": xs, "y": ys, "text": says,
        "customdata": [point.message for point in points], "hovertemplate": "%{text}<extra></extra>",
        "marker": {"size": 5, "color": "@chart-recorded", "opacity": 0.75},
    }  # fmt: skip


def _number(point: FitPoint, x: float, y: float, ends: tuple[float, float]) -> Figure:
    """A point's message, right of it; left of it in the last tenth, where the page may end."""
    right = x > ends[1] - 0.1 * (ends[1] - ends[0])
    at, shift = ("right middle", -6) if right else ("left middle", 6)
    return note(f"#{point.message}", x, y, at=at, shift=(shift, 0), size=12, role=QUIET)
