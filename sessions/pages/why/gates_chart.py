"""Where the gates of known harnesses fire on one session: a lane per harness under the context, one axis of requests.

A mark's shape says what the firing is worth: a filled disc came when it should, a filled triangle when it should not,
a ring behind a dashed line came late or not at all; the line starts where the reference reached the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessions.pages.ui import figures
from sessions.pages.ui.chart import (
    OUTSIDE,
    QUIET,
    Figure,
    axis,
    drawn,
    layout,
    line,
    note,
    plain,
    position_axis,
    spans,
    thousands,
    verticals,
)
from sessions.pages.ui.saw import MOST_POINTS, thinned

FALSE, RIGHT, LATE, MISSED = "false", "right", "late", "missed"
MOST_MARKS, LEAST_SPANS = 600, 24
"""Marks of all lanes together up to which each is drawn; of more, one of a kind in each span of a lane."""
MOST_LINES, RAIL = 60, (0.985, 1.0)
"""Recorded compactions up to which each is a line through all lanes; more are marks on a rail at the top."""
LANE, CONTEXT, FOOT, GAP = 22, 84, 36, 26
MARGIN, NARROW_MARGIN = {"l": 196, "r": 150, "t": 18, "b": FOOT}, {"l": 118, "r": 14, "t": 18, "b": FOOT}
BEFORE_SUMS, CHARACTER = 16, 6.6
"""Pixels around, and for each character of, the words right of a lane."""
MARKS = {
    FALSE: {"symbol": "triangle-down", "size": 12, "color": "@chart-over"},
    RIGHT: {"symbol": "circle", "size": 8, "color": "@chart-strong"},
    LATE: {"symbol": "circle-open", "size": 9, "color": "@chart-strong", "line": {"width": 1.75}},
    MISSED: {"symbol": "x-thin-open", "size": 9, "color": "@chart-strong", "line": {"width": 2}},
}


@dataclass(frozen=True, slots=True)
class GateMark:
    """One firing, or one that did not come: at ``request``, due at ``due``; ``says`` is read on hover."""

    verdict: str
    request: int
    due: int | None
    message: int
    says: str


@dataclass(frozen=True, slots=True)
class GateTrack:
    """One harness: its name, its marks, and in two words what they come to; ``alarm`` reads red, ``own`` is bold."""

    name: str
    marks: Sequence[GateMark]
    sums: str
    alarm: bool = False
    own: bool = False


@dataclass(frozen=True, slots=True)
class Gates:
    """``contexts`` are tokens per request, None off the branch; ``compactions`` the requests of recorded ones."""

    contexts: Sequence[int | None]
    window: int
    lanes: Sequence[GateTrack]
    label: str
    compactions: Sequence[int] = ()


def gates_figure(data: Gates, near: tuple[int, int] | None = None) -> Figure:
    """The figure, in roles; finer between the two requests ``near``.  ``meta.coarse``: it shows less than there is."""
    last = max(len(data.contexts) - 1, 1)
    lanes, coarse = _few(data, near)
    lanes_high = LANE * len(data.lanes)
    plot = CONTEXT + GAP + lanes_high
    height = plot + MARGIN["t"] + MARGIN["b"]
    foot = lanes_high / plot
    right = max([MARGIN["r"], *(BEFORE_SUMS + CHARACTER * len(lane.sums) for lane in data.lanes)])
    figure = layout(height, height, {**MARGIN, "r": right}, NARROW_MARGIN, hovermode="closest")
    ends = [-0.02 * last, 1.02 * last]
    figure["xaxis"] = position_axis("request", 0, last, range=ends, anchor="y2", **OUTSIDE)
    top = max([data.window, *(value or 0 for value in data.contexts)])
    figure["yaxis"] = axis(
        range=[0, top * 1.04], domain=[1 - CONTEXT / plot, 1], anchor="x", tickvals=[0, data.window],
        ticktext=["0", thousands(data.window)], fixedrange=True,
    )  # fmt: skip
    figure["yaxis2"] = axis(
        range=[len(data.lanes) - 0.5, -0.5], domain=[0, foot], anchor="x", tickvals=[], fixedrange=True
    )
    figure["shapes"] = _grounds(data)
    figure["annotations"] = _words(data)
    figure["meta"] |= {"coarse": coarse or len(data.contexts) > MOST_POINTS}
    traces = [_context(data, near), *_waits(lanes, last), *_marks(lanes)]
    return drawn(traces, figure)


def _few(data: Gates, near: tuple[int, int] | None) -> tuple[list[list[GateMark]], bool]:
    """The marks of each lane that are drawn, and whether there are more.

    Of many each span of requests has the first of every verdict, which says how many there are and waits from where
    the first of them was due.
    """
    if sum(len(lane.marks) for lane in data.lanes) <= MOST_MARKS:
        return [list(lane.marks) for lane in data.lanes], False
    parts = spans(len(data.contexts), max(LEAST_SPANS, MOST_MARKS // len(data.lanes)), near)
    part_of = [part.start for part in parts for _ in part]
    lanes: list[list[GateMark]] = []
    for lane in data.lanes:
        found: dict[tuple[int, str], list[GateMark]] = {}
        for mark in lane.marks:
            found.setdefault((part_of[mark.request], mark.verdict), []).append(mark)
        lanes.append([_first(marks) for marks in found.values()])
    return lanes, True


def _first(marks: list[GateMark]) -> GateMark:
    """The first of marks that stand together, with how many there are."""
    first = min(marks, key=lambda mark: mark.request)
    if len(marks) == 1:
        return first
    due = min((mark.due for mark in marks if mark.due is not None), default=None)
    return replace(first, due=due, says=f"{first.says}<br>{len(marks) - 1:,} more here, zoom in")


def _context(data: Gates, near: tuple[int, int] | None) -> Figure:
    at = thinned(data.contexts, near=near)
    hover = f"request %{{x:,d}}: %{{y:,}} tokens, {data.label}<extra></extra>"
    return {
        "type": "scatter", "mode": "lines", "x": at, "y": [data.contexts[i] for i in at], "hovertemplate": hover,
        "line": {"shape": "hv", "width": 1.5, "color": "@chart-recorded"}, "fill": "tozeroy",
        "fillcolor": "@chart-grid", "name": "context",
    }  # fmt: skip


def _waits(lanes: Sequence[Sequence[GateMark]], last: int) -> list[Figure]:
    """Dashed lines from where a firing was due to where it came, or to the end."""
    x: list[float | None] = []
    y: list[float | None] = []
    for at, marks in enumerate(lanes):
        for mark in marks:
            if mark.due is not None and mark.due != mark.request:
                x += [mark.due, mark.request, None]
                y += [at, at, None]
            elif mark.verdict == MISSED:
                x += [mark.request, last, None]
                y += [at, at, None]
    stroke = {"width": 1.5, "color": "@chart-strong", "dash": "2px,2px"}
    if not x:
        return []
    return [{"type": "scatter", "mode": "lines", "yaxis": "y2", "x": x, "y": y, "line": stroke, "hoverinfo": "skip"}]


def _marks(lanes: Sequence[Sequence[GateMark]]) -> list[Figure]:
    traces = []
    for verdict, marker in MARKS.items():
        found = [(at, mark) for at, marks in enumerate(lanes) for mark in marks if mark.verdict == verdict]
        if found:
            traces.append({
                "type": "scatter", "mode": "markers", "yaxis": "y2", "name": verdict, "marker": dict(marker),
                "x": [mark.request for _, mark in found], "y": [at for at, _ in found],
                "customdata": [mark.message for _, mark in found], "text": [mark.says for _, mark in found],
                "hovertemplate": "%{text}<extra></extra>", "cliponaxis": False,
            })  # fmt: skip
    return traces


def _grounds(data: Gates) -> list[Figure]:
    lines = [line("@chart-grid", y=(at, at), yref="y2", below=True) for at in range(len(data.lanes))]
    window = line("@chart-strong", y=(data.window, data.window))
    recorded = verticals("@chart-recorded", data.compactions, y=(0, 1), dash="1px,3px", below=True)
    if len(data.compactions) > MOST_LINES:
        recorded = verticals("@chart-recorded", data.compactions, y=RAIL)
    return [*lines, *recorded, window, line("@chart-axis", y=(0, 0))]


def _words(data: Gates) -> list[Figure]:
    """The harness's name left of its lane, what its marks come to right of it."""
    edge: Figure = {"xref": "paper", "yref": "y2", "size": 12}
    heads = (("wide", f"Context at each request, {data.label}"), ("narrow", f"Context, {data.label}"))
    words = [
        *(note(says, 0, 1, xref="paper", yref="paper", shift=(0, 3), weight=600, width=width) for width, says in heads),
        note(f"window {figures.count(data.window)}", 1, data.window, xref="paper", at="left middle", shift=(8, 0),
             width="wide"),
    ]  # fmt: skip
    for at, lane in enumerate(data.lanes):
        weight = 600 if lane.own else 400
        left: Figure = {**edge, "at": "right middle", "shift": (-10, 0), "weight": weight}
        name = lane.name.partition(" (")[0]
        words.append(note(plain(name, 28), 0, at, width="wide", **left))
        words.append(note(plain(name, 14), 0, at, width="narrow", **left))
        role = "@chart-over-ink" if lane.alarm else QUIET
        words.append(
            note(lane.sums, 1, at, width="wide", **{**edge, "at": "left middle", "shift": (8, 0), "role": role})
        )  # fmt: skip
    return words
