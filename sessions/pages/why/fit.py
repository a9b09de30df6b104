"""How a session's tokens were calibrated: each growth as estimated and as measured, the window, the overhead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.urls import reverse
from django.utils.safestring import SafeString

from sessions.engine.agents.agent import own_trigger
from sessions.engine.transcript.types import Label
from sessions.engine.weigh.calibration.fit import FitPoint, fit_points, median_error, overhead_parts, worst_points
from sessions.engine.weigh.calibration.held import RECORDED, source_words
from sessions.engine.weigh.calibration.overhead import OverheadPart
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.shared import own_threshold
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import message_place
from sessions.pages.ui.chart import figure_text
from sessions.pages.why.fit_chart import residual_figure, scatter_figure
from sessions.runs.overview import called

if TYPE_CHECKING:
    from sessions.runs.overview import Overview

MOST_FLAGGED = 12


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
    off: str


@dataclass(frozen=True, slots=True)
class FlaggedUsage:
    """A usage that cannot be right: shown, but neither fitted nor replayed."""

    request: int
    href: str
    reported: int
    expected: int


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
    """Everything that ``sessions/why/_fit.html`` shows; the figures are "" where nothing was measured."""

    scatter: SafeString
    residuals: SafeString
    n_points: int
    median_error: float | None
    ratio: float
    ratio_label: str
    is_mean: bool
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
    history: int
    parts: tuple[OverheadPart, ...]
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
    made = view.kept("fit", lambda: _measured(weighed), (Measured, FitPoint, OverheadPart, Label), on="why")
    gate = own_trigger(weighed.transcript)
    return FitView(
        scatter=SafeString(made.scatter),
        residuals=SafeString(made.residuals),
        n_points=made.n_points,
        median_error=None if made.median_error is None else 100 * made.median_error,
        ratio=weighed.ratio,
        ratio_label=str(weighed.ratio_label),
        is_mean=weighed.scale.by_characters,
        n_growths=weighed.n_growths,
        wrapper=weighed.wrapper,
        worst=tuple(_worst(view, point, base) for point in made.worst),
        window=weighed.window,
        window_source=source_words(weighed.transcript, weighed.window_source),
        window_label="measured" if weighed.window_source == RECORDED else "estimated",
        effective=own_threshold(weighed.transcript, weighed.window, weighed.model),
        effective_name=gate.label if gate else "",
        overhead=weighed.overhead,
        overhead_label=str(weighed.overhead_label),
        history=weighed.history,
        parts=made.parts,
        flagged=_flagged(weighed, base),
        n_flagged=len(weighed.flagged),
    )


def _measured(weighed: Weighed) -> Measured:
    points = fit_points(weighed)
    worst, last = worst_points(points), len(weighed.transcript.requests) - 1
    return Measured(
        figure_text(scatter_figure(points, worst)) if points else "",
        figure_text(residual_figure(points, worst, last)) if points else "",
        len(points), median_error(points), worst, overhead_parts(weighed),
    )  # fmt: skip


def _worst(view: Overview, point: FitPoint, base: str) -> Worst:
    message = view.messages[point.message]
    return Worst(
        point.message, message_place(base, point.message), called(message, view.tools), message.preview, point.request,
        point.measured, point.estimated, figures.signed(point.rest),
    )  # fmt: skip


def _flagged(weighed: Weighed, base: str) -> tuple[FlaggedUsage, ...]:
    found = []
    for number in sorted(weighed.flagged)[:MOST_FLAGGED]:
        request = weighed.transcript.requests[number]
        context = request.usage.context if request.usage else 0
        found.append(
            FlaggedUsage(number, message_place(base, request.message), context, weighed.estimated[number] or 0)
        )
    return tuple(found)
