"""How a session's tokens were calibrated: each growth as estimated and as measured, the window, the overhead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.utils.safestring import SafeString

from sessions.engine.agents.agent import own_trigger
from sessions.engine.transcript.types import Label
from sessions.engine.weigh.calibration.fit import FitPoint, fit_points, median_error, overhead_parts, worst_points
from sessions.engine.weigh.calibration.held import RECORDED, source_words
from sessions.engine.weigh.calibration.overhead import OverheadPart
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.shared import own_threshold
from sessions.pages.ui import figures
from sessions.pages.ui.chart import figure_text
from sessions.pages.why.fit_chart import residual_figure, scatter_figure

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class FitView:
    """Everything that ``sessions/why/_fit.html`` shows; the figures are "" where nothing was measured.

    ``worst`` are the growths that the estimate misses by most, with the message that weighs most in each and by how
    much it is off.  ``flagged`` are usages that cannot be right, neither fitted nor replayed: request, message, tokens
    reported and expected.
    """

    scatter: SafeString
    residuals: SafeString
    measured: Measured
    median_error: float | None
    weighed: Weighed
    worst: tuple[tuple[FitPoint, str, str], ...]
    window_source: str
    window_label: str
    effective: int | None
    effective_name: str
    flagged: tuple[tuple[int, int | None, int, int], ...]

    @property
    def ratio_words(self) -> str:
        """The ratio as written: ×1.46."""
        return f"×{self.weighed.ratio:.2f}"


def build_fit(view: Overview) -> FitView:
    """The fit of a session; raises nothing, a session without usage has no points."""
    weighed = view.weighed
    made = view.kept("fit", lambda: _measured(weighed), (Measured, FitPoint, OverheadPart, Label), on="why")
    gate = own_trigger(weighed.transcript)
    messages = [(point, view.messages[point.message]) for point in made.worst]
    return FitView(
        SafeString(made.scatter),
        SafeString(made.residuals),
        made,
        median_error=None if made.median_error is None else 100 * made.median_error,
        weighed=weighed,
        worst=tuple((point, message.preview, figures.signed(point.rest)) for point, message in messages),
        window_source=source_words(weighed.transcript, weighed.window_source),
        window_label="measured" if weighed.window_source == RECORDED else "estimated",
        effective=own_threshold(weighed.transcript, weighed.window, weighed.model),
        effective_name=gate.label if gate else "",
        flagged=_flagged(weighed),
    )


def _measured(weighed: Weighed) -> Measured:
    points = fit_points(weighed)
    worst, last = worst_points(points), len(weighed.transcript.requests) - 1
    return Measured(
        figure_text(scatter_figure(points, worst)) if points else "",
        figure_text(residual_figure(points, worst, last)) if points else "",
        len(points), median_error(points), worst, overhead_parts(weighed),
    )  # fmt: skip


def _flagged(weighed: Weighed) -> tuple[tuple[int, int | None, int, int], ...]:
    found = []
    for number in sorted(weighed.flagged)[:MOST_FLAGGED]:
        request = weighed.transcript.requests[number]
        context = request.usage.context if request.usage else 0
        found.append((number, request.message, context, weighed.estimated[number] or 0))
    return tuple(found)
