"""The three lanes of the pressure chart: their axes, their ground and their headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import figures
from sessions.charts.marks import Figure, axis, band, line, note, size_of, thousands, ticks

if TYPE_CHECKING:
    from sessions.charts.scale import ByteScale

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
    at = {"tickvals": [round(scale.place(mark), 4) for mark in marks], "ticktext": texts}
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
    return [band("@chart-over-zone", 1, 1 + scale.zone, "y2"), *grid, *dots, *inner, *base]


def headings(top: int, scale: ByteScale, window: int, measure: str, label: str, *, empty: bool) -> list[Figure]:
    """What each lane shows, standing on the lane; ``empty`` says that nothing is over-counted."""
    paper = {"xref": "paper", "size": 11, "weight": 600}
    bottom, quiet = 1 + scale.zone, {"xref": "paper", "yref": "y2", "at": "right bottom", "shift": (0, 1)}
    floor = size_of(scale.floor)
    zone = (
        f"no image here is over-counted; log scale under {floor} "
        if empty
        else "more bytes than text of this session weighs: log scale "
    )
    role = "@chart-label" if empty else "@chart-over-ink"
    known = f"Context sent at each request, {label}"
    return [
        note("Tokens per message, by kind", 0, 1, yref="paper", shift=(0, 2), **paper),
        note("&nbsp;Bytes<br>&nbsp;per message", 0, 1, yref="y2", at="left top", shift=(0, -2), **paper),
        note(zone, 1, bottom, role=role, width="wide", **quiet),
        note("log scale ", 1, bottom, role=role, width="narrow", **quiet),
        note(known, 0, 0.2112, yref="paper", shift=(0, 4), bgcolor="@chart-paper", borderpad=1, width="wide", **paper),
        note(f"Context, {label}", 0, 0.2112, yref="paper", shift=(0, 4), bgcolor="@chart-paper", borderpad=1,
             width="narrow", **paper),
        note(f"window {figures.count(window)} ", 1, window, xref="paper", yref="y3", at="right bottom", shift=(0, 3),
             role="@chart-label"),
    ]  # fmt: skip
