"""The three lanes of the pressure chart: their axes, their ground and their headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.pages.ui import figures
from sessions.pages.ui.chart import Figure, axis, band, line, note, size_of, thousands, ticks

if TYPE_CHECKING:
    from sessions.pages.session.bars import ByteScale

CONTEXT_ROOM = 1.0
Span = tuple[float, float]


def token_axis(top: int, domain: Span) -> Figure:
    """Tokens, linear; ``top`` is the end of the axis."""
    marks = [top // 2, top]
    return axis(
        range=[0, top], domain=list(domain), tickvals=marks, ticktext=[f"{m:,}" for m in marks], fixedrange=True
    )


def byte_axis(scale: ByteScale, domain: Span) -> Figure:
    """Bytes downwards, in units of the linear part."""
    marks = scale.ticks()
    texts = [size_of(mark).replace(".00", "").replace(".0", "") for mark in marks]
    at: Figure = {"tickvals": [round(scale.place(mark), 4) for mark in marks], "ticktext": texts}
    return axis(range=[1 + scale.zone, 0], domain=list(domain), anchor="x", fixedrange=True, **at)


def context_axis(peak: int, domain: Span) -> Figure:
    """Context in tokens up to the window, or to the peak where that is higher."""
    marks = ticks(peak, 2)
    texts = [thousands(mark) for mark in marks]
    room = [0, peak * CONTEXT_ROOM]
    return axis(range=room, domain=list(domain), anchor="x", tickvals=marks, ticktext=texts, fixedrange=True)


def grounds(top: int, scale: ByteScale, window: int, peak: int) -> list[Figure]:
    """Zone, grid lines, baselines and the window line."""
    grid = [line("@chart-grid", y=(mark, mark), below=True) for mark in (top // 2, top)]
    dots = [
        line("@chart-over", y=(place, place), yref="y2", width=0.5, dash="1px,3px", below=True)
        for mark in scale.ticks()
        if (place := scale.place(mark)) > 1
    ]
    inner = [line("@chart-grid", y=(m, m), yref="y3", below=True) for m in ticks(peak, 2)[1:] if m != window]
    base = [line("@chart-strong", y=(0, 0)), line("@chart-strong", y=(window, window), yref="y3")]
    zone = [band("@chart-over-zone", 1, 1 + scale.zone, "y2")] if scale.zone else []
    return [*zone, *grid, *dots, *inner, *base]


def headings(
    scale: ByteScale, window: int, measure: str, label: str, *, foot: float, place: float | None
) -> list[Figure]:
    """What each lane shows, standing on the lane.

    ``foot`` is where the context's lane ends on the paper; ``place`` where the worst bar stands, from 0 to 1, for words
    to keep away from it, None where nothing is over-counted.
    """
    paper: Figure = {"xref": "paper", "size": 12, "weight": 600, "bgcolor": "@chart-paper", "borderpad": 1}
    aside = place is not None and place < 0.14
    edge, off = ("top", -2) if scale.zone else ("bottom", 2)  # under the last gridline there is room only with a zone
    lane: Figure = {**paper, "yref": "y2", "at": f"{'right' if aside else 'left'} {edge}", "shift": (0, off)}
    over: Figure = {**paper, "yref": "paper", "shift": (0, 4)}
    return [
        note("Tokens of each message", 0, 1, yref="paper", shift=(0, 3), **paper),
        note(f"&nbsp;{measure.capitalize()}&nbsp;", float(aside), 1, **lane),
        *_beyond(scale, place),
        note(f"Context sent, {label}", 0, foot, **over),
        note(f"window {figures.count(window)} ", 1, window, xref="paper", yref="y3", at="right bottom", shift=(0, 3),
             role="@chart-label"),
    ]  # fmt: skip


def _beyond(scale: ByteScale, place: float | None) -> list[Figure]:
    """What the zone under the lane is, at the side where the worst bar is not; nothing where there is no zone."""
    if place is None:
        return []
    left = place > 0.5
    zone: Figure = {"xref": "paper", "yref": "y2", "at": "left bottom" if left else "right bottom", "shift": (0, 1)}
    zone["role"] = "@chart-label"
    says = "&nbsp;beyond any text message here: log scale&nbsp;"
    return [
        note(says, float(not left), 1 + scale.zone, width="wide", **zone),
        note("&nbsp;log scale&nbsp;", float(not left), 1 + scale.zone, width="narrow", **zone),
    ]
