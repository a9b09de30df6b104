"""Charts of a sweep: every setting on the front, and cost, compactions and peak along one parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.pages.ui.chart import QUIET, Figure, axis, drawn, layout, line, note, plain, thousands, ticks, titled

FRONT_HEIGHT, CURVE_HEIGHT = 300, 330
WORD, PLOT = (84, 28), (310, 238)
"""Pixels of the words at a point, with what parts them from it, and of the narrowest plot."""
MARGIN, NARROW_MARGIN = {"l": 62, "r": 24, "t": 22, "b": 40}, {"l": 50, "r": 14, "t": 22, "b": 40}
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "x", "star", "hexagon")
MOST_NAMED = 9


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """One setting: its row, cost range (tokens sent where no price is known), the other axis, what hover says.

    ``keeps``: it keeps the floors; ``mine``: of the policy in hand.
    """

    row: int
    low: float
    high: float
    against: float
    says: str
    policy: str
    front: bool
    picked: bool
    keeps: bool
    mine: bool

    @property
    def x(self) -> float:
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One value along the curve."""

    row: int
    value: float
    low: float
    high: float
    compactions: int
    peak: int
    says: str
    picked: bool


def front_figure(
    points: Sequence[FrontPoint], *, priced: bool, against: str, floor: float | None,
    held: tuple[float, float, float, str],
) -> Figure:  # fmt: skip
    """Cost against ``against``, both smaller is better; the front as a step line, the reader's floor in green.

    ``held`` is the session as recorded, a diamond: its cost range, the other axis, what hover says.
    """
    figure = layout(FRONT_HEIGHT, FRONT_HEIGHT, MARGIN, NARROW_MARGIN, hovermode="closest")
    highs, lows = [held[1], *(point.high for point in points)], [held[0], *(point.low for point in points)]
    left, right = _padded(min(lows, default=0), max(highs, default=1))
    top = max([held[2], *(point.against for point in points), *([floor] if floor is not None else [])]) or 1
    at = _round_ticks(left, right)
    figure["xaxis"] = axis(
        range=[left, right], anchor="y", tickvals=at, ticktext=[_amount(mark, priced=priced) for mark in at],
        title=titled("cost of the session, dollars" if priced else "tokens sent"),
        showline=True, linecolor="@chart-axis",
    )  # fmt: skip
    marks = ticks(top)
    figure["yaxis"] = axis(
        range=[-0.06 * top, 1.12 * top], anchor="x", tickvals=marks, ticktext=[thousands(mark) for mark in marks],
    )  # fmt: skip
    figure["shapes"] = [line("@chart-grid", y=(mark, mark), below=True) for mark in marks]
    words = [note(against, 0, 1, xref="paper", yref="paper", shift=(0, 4), size=12, weight=600)]
    if floor is not None:
        figure["shapes"].append(line("@chart-ok", y=(floor, floor), width=1.25))
        words.append(
            note(f"your limit {thousands(floor)}", 1, floor, xref="paper", at="right bottom", role="@chart-ok-ink")
        )
    picked = next((point for point in points if point.picked), None)
    if picked is not None:
        corner = _free_corner((picked.x, picked.against), points, (left, right), 1.18 * top)
        words.append(note("selected", picked.x, picked.against, role="@chart-line", size=12, weight=600, **corner))
    figure["annotations"] = words + _policy_names(points)
    corner = _free_corner((held[0], held[2]), points, (left, right), 1.18 * top)
    figure["annotations"].append(note("as recorded", held[0], held[2], size=12, **corner))
    traces = [_front_line(points), *_ranges(points), *_dots(points), _held(held)]
    return drawn(traces, figure)


def _free_corner(
    place: tuple[float, float], points: Sequence[FrontPoint], shown: tuple[float, float], span: float
) -> Figure:
    """The side of a place where the fewest points stand, for its words, and where they stay on the plot.

    ``shown`` is the range of the axis along, ``span`` the length of the other.
    """
    width, height = WORD[0] / PLOT[0] * (shown[1] - shown[0]), WORD[1] / PLOT[1] * span
    sides = [(across, up) for up in (1, -1) for across in (1, -1)]

    def crowd(side: tuple[int, int]) -> tuple[bool, int]:
        leaves = not shown[0] <= place[0] + side[0] * width <= shown[1]
        away = [((one.x - place[0]) * side[0], (one.against - place[1]) * side[1]) for one in points]
        return leaves, sum(0 <= x <= width and 0 <= y <= height and (x, y) != (0, 0) for x, y in away)

    across, up = min(sides, key=crowd)
    at = f"{'left' if across > 0 else 'right'} {'bottom' if up > 0 else 'top'}"
    return {"at": at, "shift": (7 * across, 7 * up)}


def _front_line(points: Sequence[FrontPoint]) -> Figure:
    found = sorted((point for point in points if point.front), key=lambda point: (point.x, -point.against))
    lowest: list[FrontPoint] = []
    for point in found:
        if not lowest or point.against < lowest[-1].against:
            lowest.append(point)
    return {
        "type": "scatter", "mode": "lines", "x": [p.x for p in lowest], "y": [p.against for p in lowest],
        "line": {"color": "@chart-line", "width": 1.25, "shape": "hv"}, "hoverinfo": "skip", "name": "front",
    }  # fmt: skip


def _ranges(points: Sequence[FrontPoint]) -> list[Figure]:
    """The cost range of every setting on the front, and of the one in hand."""
    shown = [point for point in points if point.front or point.picked]
    x: list[float | None] = [value for point in shown for value in (point.low, point.high, None)]
    y: list[float | None] = [value for point in shown for value in (point.against, point.against, None)]
    stroke = {"color": "@chart-line", "width": 1}
    return [{"type": "scatter", "mode": "lines", "x": x, "y": y, "line": stroke, "opacity": 0.5, "hoverinfo": "skip"}]


def _dots(points: Sequence[FrontPoint]) -> list[Figure]:
    """Accent for the policy in hand, grey shapes for the others; hollow where a floor is broken; the pick on top."""
    names = list(dict.fromkeys(point.policy for point in points if not point.mine))
    groups = [
        (
            "@chart-other",
            SHAPES[1 + names.index(name) % (len(SHAPES) - 1)],
            [p for p in points if p.policy == name and not p.mine],
        )
        for name in names
    ]
    groups.append(("@chart-line", "circle", [point for point in points if point.mine and not point.picked]))
    groups.append(("@chart-line", "circle", [point for point in points if point.picked]))
    return [_group(role, shape, found) for role, shape, found in groups if found]


def _group(role: str, shape: str, found: Sequence[FrontPoint]) -> Figure:
    large = any(point.picked for point in found)
    return {
        "type": "scatter", "mode": "markers", "x": [p.x for p in found], "y": [p.against for p in found],
        "text": [p.says for p in found], "customdata": [p.row for p in found],
        "hovertemplate": "%{text}<extra></extra>", "cliponaxis": False, "meta": {},
        "marker": {
            "symbol": [shape if p.keeps else f"{shape}-open" for p in found], "size": 11 if large else 7,
            "color": role, "line": {"width": 2 if large else 1, "color": "@chart-paper" if large else role},
        },
    }  # fmt: skip


def _held(held: tuple[float, float, float, str]) -> Figure:
    return {
        "type": "scatter", "mode": "markers", "x": [held[0]], "y": [held[2]], "text": [held[3]], "cliponaxis": False,
        "hovertemplate": "%{text}<extra></extra>", "name": "as recorded",
        "marker": {"symbol": "diamond", "size": 11, "color": "@chart-strong"},
    }  # fmt: skip


def _policy_names(points: Sequence[FrontPoint]) -> list[Figure]:
    """Where several policies are compared, each is named at its cheapest setting; names that would stand on each
    other are counted instead."""
    cheapest: dict[str, FrontPoint] = {}
    for point in sorted(points, key=lambda point: point.x):
        cheapest.setdefault(point.policy, point)
    if not 1 < len(cheapest) <= MOST_NAMED:
        return []
    across = max(p.high for p in points) - min(p.low for p in points) or 1
    up = max(p.against for p in points) or 1
    groups: dict[tuple[int, int], list[FrontPoint]] = {}
    for point in cheapest.values():
        if not point.picked:
            groups.setdefault((round(8 * point.x / across), round(16 * point.against / up)), []).append(point)
    return [
        note(plain(group[0].policy, 28) if len(group) == 1 else f"{len(group)} policies", group[0].x, group[0].against,
             at="left middle", shift=(8, 0), role=QUIET, width="wide")
        for group in groups.values()
    ]  # fmt: skip


def curve_figure(steps: Sequence[CurvePoint], *, title: str, priced: bool, window: int) -> Figure:
    """Cost as a band from low to high, compactions and peak below it, along one parameter."""
    figure = layout(CURVE_HEIGHT, CURVE_HEIGHT, MARGIN, NARROW_MARGIN, hovermode="closest")
    xs = [step.value for step in steps]
    left, right = _padded(min(xs), max(xs))
    places = _round_ticks(left, right)
    figure["xaxis"] = axis(
        range=[left, right], anchor="y3", tickvals=places, ticktext=[thousands(place) for place in places],
        title=titled(plain(title, 80)), showline=True, linecolor="@chart-axis",
    )  # fmt: skip
    figure["shapes"], figure["annotations"] = [], []
    panels = (("y", (0.6, 1.0)), ("y2", (0.32, 0.5)), ("y3", (0.0, 0.22)))
    low, high = _padded(min(step.low for step in steps), max(step.high for step in steps))
    tops = (None, max(step.compactions for step in steps), max(*(step.peak for step in steps), 1))
    for (name, domain), top in zip(panels, tops, strict=True):
        if top is None:
            ends, marks = [low, high], _round_ticks(low, high, 4)
            texts = [_amount(mark, priced=priced) for mark in marks]
        else:
            ends, marks = [0, max(top, 1) * 1.15], [0, max(top, 1)]
            texts = [thousands(float(f"{mark:.3g}")) for mark in marks]
        key = "yaxis" + name.removeprefix("y")
        figure[key] = axis(range=ends, domain=list(domain), anchor="x", tickvals=marks, ticktext=texts, fixedrange=True)
        figure["shapes"] += [line("@chart-grid", y=(mark, mark), yref=name, below=True) for mark in marks]
    said = (
        "Cost, dollars" if priced else "Tokens sent",
        "Compactions",
        f"Peak context, tokens; window {thousands(window)}",
    )
    for words, (_, domain) in zip(said, panels, strict=True):
        figure["annotations"].append(
            note(words, 0, domain[1], xref="paper", yref="paper", shift=(0, 4), size=12, weight=600,
                 bgcolor="@chart-paper", borderpad=1)
        )  # fmt: skip
    picked = next((step for step in steps if step.picked), None)
    if picked is not None:
        figure["shapes"].append(
            line("@chart-line", x=(picked.value,) * 2, xref="x", y=(0, 1), yref="paper", width=1.5, below=True)
        )
        figure["annotations"].append(
            note(f"selected: {picked.value:,.10g}", 1, 1, xref="paper", yref="paper", at="right bottom", shift=(0, 4),
                 size=12, role="@chart-line", weight=600)
        )  # fmt: skip
    middles = [(step.low + step.high) / 2 for step in steps]
    counts, peaks = [step.compactions for step in steps], [step.peak for step in steps]
    data = [*_band(steps), _line(steps, "y", middles), _line(steps, "y2", counts), _line(steps, "y3", peaks)]
    return drawn(data, figure)


def _band(steps: Sequence[CurvePoint]) -> list[Figure]:
    xs = [step.value for step in steps]
    edge: Figure = {"type": "scatter", "mode": "lines", "x": xs, "hoverinfo": "skip", "line": {"width": 0}}
    return [
        edge | {"y": [step.low for step in steps]},
        edge | {"y": [step.high for step in steps], "fill": "tonexty", "fillcolor": "@chart-area"},
    ]


def _line(steps: Sequence[CurvePoint], yaxis: str, ys: Sequence[float]) -> Figure:
    return {
        "type": "scatter", "mode": "lines+markers", "x": [s.value for s in steps], "y": list(ys), "yaxis": yaxis,
        "text": [s.says for s in steps], "customdata": [s.row for s in steps],
        "hovertemplate": "%{text}<extra></extra>",
        "line": {"color": "@chart-strong", "width": 1.5}, "cliponaxis": False,
        "marker": {
            "size": [10 if s.picked else 5 for s in steps],
            "color": ["@chart-line" if s.picked else "@chart-strong" for s in steps],
        },
    }  # fmt: skip


def _padded(low: float, high: float) -> tuple[float, float]:
    room = (high - low) * 0.06 or abs(high) * 0.1 or 1
    return low - room, high + room


def _round_ticks(low: float, high: float, wanted: int = 6) -> list[float]:
    """Round values between two ends, about ``wanted``."""
    span = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(span))
    step = next(unit * power for unit in (1, 2, 2.5, 5, 10) if unit * power >= span)
    first = math.ceil(low / step)
    return [round(step * k, 10) for k in range(first, math.floor(high / step) + 1)]


def _amount(value: float, *, priced: bool) -> str:
    """A tick: dollars, or tokens shortened."""
    return f"${value:,.10g}" if priced else thousands(float(f"{value:.4g}"))
