"""The lanes of the session's chart, context above bytes against tokens: their axes, their ground and their headings."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from sessions.pages.ui import figures
from sessions.pages.ui.chart import Figure, axis, band, line, note, size_of, thousands, ticks

if TYPE_CHECKING:
    from sessions.pages.session.bars import ByteScale, Pressure

CONTEXT_ROOM = 1.18
"""The context's axis over the window, or the peak: room for the numbers of compactions."""
NARROW_NAME = 0.45
"""Share of the axis that the name of a threshold takes on a narrow chart."""
Span = tuple[float, float]


def token_axis(top: int, domain: Span) -> Figure:
    """Tokens, by their square root, as a share of the end of the axis, ``top``."""
    return axis(range=[0, 1], domain=list(domain), tickvals=[1], ticktext=[thousands(top)], fixedrange=True)


def byte_axis(scale: ByteScale, domain: Span) -> Figure:
    """Bytes downwards, in units of the upper part."""
    marks = scale.ticks()
    texts = [size_of(mark).replace(".00", "").replace(".0", "") for mark in marks]
    at: Figure = {"tickvals": [round(scale.place(mark), 4) for mark in marks], "ticktext": texts}
    return axis(range=[1 + scale.zone, 0], domain=list(domain), anchor="x", fixedrange=True, **at)


def context_axis(peak: int, domain: Span) -> Figure:
    """Context in tokens up to the window, or to the peak where that is higher."""
    marks = ticks(peak, 4)
    texts = [thousands(mark) for mark in marks]
    room = [0, peak * CONTEXT_ROOM]
    return axis(range=room, domain=list(domain), anchor="x", tickvals=marks, ticktext=texts, fixedrange=True)


def grounds(scale: ByteScale, window: int, peak: int) -> list[Figure]:
    """Zone, grid lines, baselines and the window line."""
    dots = [
        line("@chart-over", y=(place, place), yref="y2", width=0.5, dash="1px,3px", below=True)
        for mark in scale.ticks()
        if (place := scale.place(mark)) > 1
    ]
    inner = [line("@chart-grid", y=(m, m), yref="y3", below=True) for m in ticks(peak, 4)[1:] if m != window]
    base = [line("@chart-strong", y=(0, 0), yref=yref) for yref in ("y", "y3")]
    zone = [band("@chart-over-zone", 1, 1 + scale.zone, "y2")] if scale.zone else []
    return [*zone, *dots, *inner, *base, line("@chart-strong", y=(window, window), yref="y3")]


def thresholds(data: Pressure, last: int) -> list[Figure]:
    """The threshold that each compaction passed, from the one before on, dashed; the last one goes on to the end."""
    known = [cut for cut in data.compactions if cut.threshold]
    starts = [-0.5, *(cut.at for cut in known)]
    steps = [(x0, x1, known[min(at, len(known) - 1)].threshold) for at, (x0, x1) in
             enumerate(pairwise([*starts, last + 0.5]))] if known else []  # fmt: skip
    return [
        line("@chart-axis", x=(x0, x1), y=(level, level), xref="x", yref="y3", dash="6px,4px")
        for x0, x1, level in steps
        if level
    ]


def headings(
    scale: ByteScale, data: Pressure, last: int, *, foot: float, place: float | None, is_flat: bool
) -> list[Figure]:
    """What the lanes show, and the names of window and threshold at their left ends.

    ``is_flat``: the window lies beyond the axis, and is told in words.

    ``foot`` is where the lower band ends on the paper; ``place`` where the worst bar stands, from 0 to 1, for words
    to keep away from it, None where nothing is over-counted.
    """
    paper: Figure = {"xref": "paper", "yref": "paper", "size": 12}
    level: Figure = {"xref": "paper", "yref": "y3", "at": "left bottom", "shift": (6, 2), "role": "@chart-label"}
    first = next((cut.threshold for cut in data.compactions if cut.threshold), None)
    close = first is not None and abs(data.window - first) < 0.07 * data.window
    says = f"window {figures.count(data.window)}"
    peak = max((tokens for _, tokens, _ in data.contexts), default=0)
    names = [note(says, 0, data.window, **level)]
    if is_flat:
        held = f"{says}, far above; the peak is {figures.count(peak)}"
        names = [note(held, 0, peak, **level)]
    if first is not None and close and first < data.window:
        names = [note(f"{says} · threshold {figures.count(first)}", 0, data.window, **level)]
    elif first is not None:
        free = all(cut.at > NARROW_NAME * last for cut in data.compactions)
        below = {**level, "at": "left top", "shift": (6, -2)}  # above it may stand where a byte trigger fires
        names.append(note(f"threshold {figures.count(first)}", 0, first, width="" if free else "wide", **below))
    what = f"Tokens of each message, against its {data.measure}"
    scaled: Figure = {"role": "@chart-label", "at": "right bottom", "shift": (0, 5)}
    return [
        *names,
        note(what, 0, foot, weight=600, shift=(0, 5), width="wide", **paper),
        note("Tokens against bytes", 0, foot, weight=600, shift=(0, 5), width="narrow", **paper),
        note("square-root scale", 1, foot, **paper, **scaled),
        *_beyond(scale, place),
    ]


def _beyond(scale: ByteScale, place: float | None) -> list[Figure]:
    """That the zone under the lane has another scale, at the side where the worst bar is not."""
    if place is None:
        return []
    left = place > 0.5
    zone: Figure = {"xref": "paper", "yref": "y2", "at": "left bottom" if left else "right bottom", "shift": (0, 1)}
    return [note("&nbsp;log scale&nbsp;", float(not left), 1 + scale.zone, role="@chart-label", **zone)]
