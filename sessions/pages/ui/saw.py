"""The saw-tooth chart of the replay lab: context at each request, replayed, recorded and without compaction.

This replay is blue, what was recorded is ink, what could not have happened is dotted grey and cut at the band over
the window.  A gate that does not measure display tokens gets a lane of its own under the context, in its own unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.pages.ui import figures
from sessions.pages.ui.chart import (
    OUTSIDE,
    QUIET,
    Figure,
    axis,
    band,
    drawn,
    layout,
    line,
    nice_top,
    note,
    position_axis,
    spans,
    thousands,
    ticks,
    verticals,
)

MOST_POINTS = 900
MOST_RUG = 300
OVER_ROOM = 1.14
MOST_OVER = 1.3
"""Windows that a recorded context may reach before its line is cut."""
IN_WORDS, MOST_NUMBERED, MOST_LINES = 4, 20, 60
"""Compactions up to which each has words, a number, a line of its own; more are marks on a rail, then an envelope."""
BACKED: Figure = {"bgcolor": "@chart-paper", "borderpad": 1}
"""Words that keep what is drawn behind them away."""
RAIL = (0.955, 0.995)
"""Where the rail of marks lies, in shares of the axis."""
ENVELOPE_BINS, STRIP_BINS, STRIP_FROM = 300, 240, 1_500
"""Bins of an envelope, and of the strip that shows all of a session of more requests than fit the eye."""
LOW_FOOT = 0.09
"""A fall that ends lower than this share of the axis has no room for its words below."""
HEIGHT, GATE_HEIGHT, NARROW_HEIGHT = 330, 92, 270
MARGIN, NARROW_MARGIN = {"l": 62, "r": 98, "t": 10, "b": 36}, {"l": 46, "r": 46, "t": 10, "b": 36}


@dataclass(frozen=True, slots=True)
class Tooth:
    """One event of the replay: ``number`` from 1 as the page counts, tokens before and after; ``is_false`` where the
    trigger counted far more than was sent, and what was sent is under the threshold."""

    number: int
    request: int
    before: int
    after: int
    chosen: bool = False
    is_false: bool = False


@dataclass(frozen=True, slots=True)
class GateLane:
    """What the gate measured at every request, in its own unit; ``fired`` are the requests at which it fired."""

    measures: Sequence[int | None]
    threshold: int
    unit: str
    name: str
    fired: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Saw:
    """What the chart shows: tokens per request, None where the request is off the selected branch.

    ``compactions`` are recorded ones as (request, tokens before); ``threshold`` is in display tokens, None where the
    gate's unit is another; ``request`` is the one selected.  ``top`` and ``last`` end axes that two charts share.
    """

    replay: Sequence[int | None]
    recorded: Sequence[int | None]
    without: Sequence[int | None]
    window: int
    threshold: int | None
    teeth: Sequence[Tooth] = ()
    compactions: Sequence[tuple[int, int | None]] = ()
    gate: GateLane | None = None
    request: int | None = None
    top: float | None = None
    last: int | None = None
    uses: Sequence[int] = ()
    broken: Sequence[int] = ()
    open_uses: Sequence[int] = ()


def saw_figure(data: Saw) -> Figure:
    """The figure, in roles."""
    last = max(len(data.replay) - 1 if data.last is None else data.last, 1)
    top = top_of(data) if data.top is None else data.top
    main = (0.0, 1.0) if data.gate is None else (GATE_HEIGHT / (HEIGHT + GATE_HEIGHT - 46), 1.0)
    added = 0 if data.gate is None else GATE_HEIGHT
    figure = layout(HEIGHT + added, NARROW_HEIGHT + added, MARGIN, NARROW_MARGIN, hoversubplots="axis")
    anchor = "y" if data.gate is None else "y2"
    figure["xaxis"] = position_axis("request", 0, last, range=[-0.5, last + 0.8], anchor=anchor, **OUTSIDE)
    marks = ticks(data.window, 4)
    texts = [thousands(mark) for mark in marks]
    figure["yaxis"] = axis(range=[0, top], domain=list(main), tickvals=marks, ticktext=texts, fixedrange=True)
    figure["shapes"] = _grounds(data, marks, top) + _rug(data, top) + _rail(data, top)
    figure["annotations"] = _words(data, last, top)
    traces = _curves(data, top)
    figure["meta"] |= {"thin": True, "teeth": len(data.teeth)}
    if last >= STRIP_FROM or len(data.teeth) > MOST_NUMBERED:
        at, _, high = envelope(data.replay, STRIP_BINS)
        figure["meta"]["strip"] = {"x": at, "y": high, "n": len(data.replay)}
    if data.gate is not None:
        _add_gate(figure, traces, data.gate, main[0])
    figure["meta"] |= {"threshold": data.threshold, "top": top}
    return drawn(traces, figure)


def top_of(data: Saw) -> float:
    """The end of the token axis: everything the replay does; what runs far over the window is cut at the band."""
    mine = [data.window, data.threshold or 0, *(v or 0 for v in data.replay), *(tooth.before for tooth in data.teeth)]
    recorded = min(max((v or 0 for v in data.recorded), default=0), MOST_OVER * data.window)
    peak = max(*mine, recorded)
    over = peak > data.window or any((v or 0) > data.window for v in data.without)
    if peak > data.window * OVER_ROOM:
        return peak * 1.03
    return data.window * (OVER_ROOM if over else 1.06)


def thinned(
    values: Sequence[int | None], keep: frozenset[int] = frozenset(), most: int = MOST_POINTS,
    near: tuple[int, int] | None = None,
) -> list[int]:  # fmt: skip
    """Positions to draw: all, or per span the first, the lowest and the highest, so that no tooth is cut off.

    There are more of those between the two positions ``near``, where they are given.
    """
    if len(values) <= most:
        return [at for at, value in enumerate(values) if value is not None]
    chosen = {at for at in keep if at < len(values)}
    for span in spans(len(values), most // 3, near, most // 3):
        group = [at for at in span if values[at] is not None]
        if group:
            chosen |= {group[0], min(group, key=lambda at: values[at] or 0), max(group, key=lambda at: values[at] or 0)}
    chosen.add(len(values) - 1)
    return sorted(at for at in chosen if values[at] is not None)


def envelope(values: Sequence[int | None], bins: int = ENVELOPE_BINS) -> tuple[list[int], list[int], list[int]]:
    """Where bins begin, and the lowest and the highest value of each; bins without a value are left out."""
    size = max(1, math.ceil(len(values) / bins))
    at, low, high = [], [], []
    for start in range(0, len(values), size):
        known = [value for value in values[start : start + size] if value is not None]
        if known:
            at.append(start)
            low.append(min(known))
            high.append(max(known))
    return at, low, high


def _stepped(name: str, x: list[int], y: list[int | None], role: str, width: float, **more: object) -> Figure:
    stroke: Figure = {"shape": "hv", "width": width, "color": role}
    if more.pop("dotted", False):
        stroke["dash"] = "2px,2px"
    hover = f"%{{y:,}} tokens<extra>{name}</extra>"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": x,
        "y": y,
        "line": stroke,
        "hovertemplate": hover,
    } | more


def _curves(data: Saw, top: float) -> list[Figure]:
    """Area, no compaction, recorded, this replay, recorded compactions: in the order they are painted."""
    teeth = {tooth.request: tooth for tooth in data.teeth}
    x: list[int] = []
    y: list[int | None] = []
    for at in thinned(data.replay, frozenset(teeth) | {tooth - 1 for tooth in teeth if tooth}):
        if at in teeth:
            x.append(at)
            y.append(teeth[at].before)
        x.append(at)
        y.append(data.replay[at])
    area = _stepped("area", x, y, "rgba(0,0,0,0)", 0, fill="tozeroy", fillcolor="@chart-area", hoverinfo="skip")
    area["hovertemplate"] = None
    crowded = len(data.teeth) > MOST_LINES
    near: Figure = {"meta": {"when": "near"}} if crowded else {}
    curves = [area | near]
    if crowded:
        curves += _band(data.replay)
    ghost = [at for at in thinned(data.without) if (data.without[at] or 0) <= top]
    if data.without and list(data.without) not in (list(data.replay), list(data.recorded)):
        values = [data.without[at] for at in ghost]
        curves.append(_stepped("no compaction", ghost, values, "@chart-ghost", 1.5, dotted=True))
    marked = [(request, before) for request, before in data.compactions if before is not None]
    if any(value is not None for value in data.recorded):
        shown = thinned(data.recorded, frozenset(request for request, _ in marked))
        many = {"meta": {"when": "near"}} if crowded or len(data.compactions) > MOST_LINES else {}
        curves.append(_stepped("recorded", shown, [data.recorded[i] for i in shown], "@chart-recorded", 1.25, **many))
    curves.append(_stepped("this replay", x, y, "@chart-line", 2.25, **near))
    if marked:
        diamonds = {"symbol": "diamond", "size": 7, "color": "@chart-recorded"}
        points = {"x": [request for request, _ in marked], "y": [before for _, before in marked]}
        hover = "%{y:,} tokens<extra>recorded compaction</extra>"
        curves.append({"type": "scatter", "mode": "markers", "marker": diamonds, "hovertemplate": hover, **points})
    return curves


def _band(values: Sequence[int | None]) -> list[Figure]:
    """The envelope of a line of more teeth than the eye tells apart: lowest to highest of each bin."""
    at, low, high = envelope(values)
    plain: Figure = {"type": "scatter", "mode": "lines", "x": at, "meta": {"when": "far"}}
    edge: Figure = {"shape": "hv", "width": 1, "color": "@chart-line"}
    hover = "%{y:,} tokens<extra>this replay, highest</extra>"
    return [
        plain | {"y": low, "line": edge | {"width": 0.75}, "name": "lowest", "hoverinfo": "skip"},
        plain | {"y": high, "line": edge | {"width": 1.5}, "fill": "tonexty", "fillcolor": "@chart-area",
                 "name": "highest", "hovertemplate": hover},
    ]  # fmt: skip


def _rail(data: Saw, top: float) -> list[Figure]:
    """Many compactions as thin marks on a rail; false alarms red and on top."""
    if len(data.teeth) <= MOST_NUMBERED:
        return []
    ends = (RAIL[0] * top, RAIL[1] * top)
    return [
        *verticals("@chart-line", [tooth.request for tooth in data.teeth if not tooth.is_false], y=ends, yref="y"),
        *verticals("@chart-over", [tooth.request for tooth in data.teeth if tooth.is_false], y=ends, yref="y", width=2),
    ]


def _grounds(data: Saw, marks: list[int], top: float) -> list[Figure]:
    shapes = [band("@chart-over-zone", data.window, top)]
    shapes += [line("@chart-grid", y=(mark, mark), below=True) for mark in marks if 0 < mark < data.window]
    shapes += [line("@chart-axis", y=(0, 0)), line("@chart-strong", y=(data.window, data.window))]
    if data.threshold is not None:
        shapes.append(line("@chart-line", y=(data.threshold, data.threshold), width=1.5, dash="5px,3px"))
    if data.request is not None:
        shapes.append(line("@chart-axis", xref="x", yref="paper", x=(data.request, data.request), y=(0, 1), below=True))
    return shapes


def _words(data: Saw, last: int, top: float) -> list[Figure]:
    """Labels on the lines, numbers on the events; the threshold's own pill is an element that can be dragged."""
    margin: Figure = {"xref": "paper", "at": "left middle", "shift": (8, 0)}
    near = data.threshold is not None and abs(data.threshold - data.window) < 0.1 * top
    lift = 14 if near and (data.threshold or 0) <= data.window else -14 if near else 0
    edge: Figure = {**margin, "shift": (8, lift)}
    words = [
        note("window", 1, data.window, width="wide", **{**edge, "shift": (8, lift + 7)}),
        note(figures.count(data.window), 1, data.window, weight=600, width="wide", **{**edge, "shift": (8, lift - 6)}),
        note(thousands(data.window), 1, data.window, width="narrow", **{**edge, "shift": (5, lift)}),
    ]
    over = next((at for at, value in enumerate(data.without) if (value or 0) > data.window), None)
    end = next((value for value in reversed(data.without) if value is not None), None)
    if over is not None and end is not None and list(data.without) != list(data.replay):
        says = f"no compaction: over the window from request {over:,}, {figures.count(end)} at the end"
        if max((v or 0 for v in data.recorded), default=0) > top:
            says = f"recorded and {says}"
        cut = next((at for at, value in enumerate(data.without) if (value or 0) > top), over)
        # At the band's left edge while the line is still under it, else at the right one, where it has left the plot.
        side = "left" if cut > 0.5 * last else "right"
        # Under the window's line where the rail of numbers fills the band over it.
        over_line = len(data.teeth) <= IN_WORDS
        height = data.window + 0.5 * (top - data.window) if over_line else data.window
        corner: Figure = {"xref": "paper", "at": f"{side} middle", "shift": (6 if side == "left" else -4, 0)}
        if not over_line:
            corner |= {"at": f"{side} top", "shift": (corner["shift"][0], -4)} | BACKED
        corner["role"] = QUIET
        words.append(note(says, float(side == "right"), height, width="wide", **corner))
    return words + _tooth_words(data, last, top)


def _rug(data: Saw, top: float) -> list[Figure]:
    """A tick on the axis for each later request that uses what is gone, longer where it breaks a lost rule.

    Red is a rule broken alone; the lightest use what depends on a summary without text.
    Of very many, one stands for those beside it.
    """
    n = len(data.replay)
    kinds = (
        ("@chart-ghost", set(data.open_uses) - set(data.uses), 0.035), ("@chart-other", set(data.uses), 0.035),
        ("@chart-over", set(data.broken), 0.08),
    )  # fmt: skip
    return [
        line(role, xref="x", x=(at, at), y=(0, high * top), width=2)
        for role, places, high in kinds
        for at in sorted({at * MOST_RUG // n: at for at in sorted(places, reverse=True)}.values())
    ]


def _tooth_words(data: Saw, last: int, top: float) -> list[Figure]:
    """Numbered squares at the compactions, most important first: the page drops what would touch one before it.

    Up to four stand at their falls with what each freed, up to twenty on a rail, of more only the chosen one.
    """
    few, numbered = len(data.teeth) <= IN_WORDS, len(data.teeth) <= MOST_NUMBERED
    words = []
    for tooth in sorted(data.teeth, key=lambda tooth: (not tooth.chosen, not tooth.is_false)):
        if numbered or tooth.chosen:
            words.append(_square(tooth, tooth.before if few else RAIL[0] * top, on_rail=not few))
        if tooth.is_false and (few or tooth.chosen):
            right = tooth.request > 0.5 * last
            says = f"false alarm: {figures.count(tooth.before)} tokens actual"
            beside: Figure = {"at": "right bottom" if right else "left bottom", "shift": (-14 if right else 14, 6)}
            beside |= {"role": "@chart-over-ink", "bgcolor": "@chart-paper", "borderpad": 2, "weight": 600}
            words.append(note(says, tooth.request, tooth.before, width="wide", **beside))
        if few and tooth.before - tooth.after > 0.15 * top:
            # Under the foot of the fall, inside the area: no line ever runs there.  Over it where the axis is near.
            low = tooth.after < LOW_FOOT * top
            side = ("right", -4) if tooth.request > 0.86 * last else ("left", 6 if low else 4)
            foot, rise = ("bottom", 4) if low else ("top", -3)
            place: Figure = {
                "at": f"{side[0]} {foot}", "shift": (side[1], rise), "role": "@chart-line", "size": 12, "width": "wide",
                "bgcolor": "@chart-paper", "borderpad": 1,
            }  # fmt: skip
            words.append(note(figures.signed(tooth.after - tooth.before), tooth.request, tooth.after, **place))
    return words


def _square(tooth: Tooth, y: float, *, on_rail: bool) -> Figure:
    """A compaction's number in its square, filled where it is chosen, red where it is false."""
    box: Figure = {
        "bgcolor": "@chart-line" if tooth.chosen else "@chart-paper", "bordercolor": "@chart-line", "borderwidth": 1.5,
        "borderpad": 3,
    }  # fmt: skip
    if tooth.is_false:
        box |= {"bgcolor": "@chart-over", "bordercolor": "@chart-over"}
    role = "@chart-on-line" if tooth.chosen or tooth.is_false else "@chart-line"
    tag: Figure = {"captureevents": True, "hovertext": f"compaction {tooth.number}", "align": "center"}
    where: Figure = {"at": "center middle" if on_rail else "center bottom", "shift": (0, 0 if on_rail else 6)}
    made = note(str(tooth.number), tooth.request, y, **where, size=12, role=role, weight=600, **box, **tag)
    return made | {"width": 8 * len(str(tooth.number)) + 4}


def _add_gate(figure: Figure, traces: list[Figure], gate: GateLane, ceiling: float) -> None:
    """The lane of a gate that counts in another unit: its measure, its threshold, a mark where it fired."""
    known = [value or 0 for value in gate.measures]
    top = nice_top(max([gate.threshold, *known]) * 1.05)
    figure["yaxis2"] = axis(
        range=[0, top], domain=[0, ceiling - 0.085], anchor="x", tickvals=[0, top], ticktext=["0", thousands(top)],
        fixedrange=True,
    )  # fmt: skip
    at = thinned(gate.measures, frozenset(gate.fired))
    curve = _stepped(f"trigger, {gate.name}", at, [gate.measures[i] for i in at], "@chart-other", 1.4)
    curve |= {"yaxis": "y2", "hovertemplate": f"%{{y:,}} {gate.unit}<extra>trigger: {gate.name}</extra>"}
    traces.append(curve)
    if gate.fired:
        dots = {"x": list(gate.fired), "y": [min(gate.measures[i] or top, top) for i in gate.fired]}
        marker = {"symbol": "triangle-down", "size": 8, "color": "@chart-line"}
        traces.append(
            {"type": "scatter", "mode": "markers", "yaxis": "y2", "marker": marker, "hoverinfo": "skip", **dots}
        )
    heading = f"What the trigger counts {gate.name}, in {gate.unit}"
    named: Figure = {"xref": "paper", "yref": "y2", "at": "left middle", "role": "@chart-line"}
    figure["shapes"] += [
        line("@chart-axis", y=(0, 0), yref="y2"),
        line("@chart-line", y=(gate.threshold, gate.threshold), yref="y2", width=1.5, dash="5px,3px"),
    ]
    figure["annotations"] += [
        note(heading, 0, top, xref="paper", yref="y2", at="left bottom", shift=(0, 2), size=12, weight=600),
        note(f"threshold<br>{figures.count(gate.threshold)}", 1, gate.threshold, shift=(8, 0), width="wide", **named),
        note(thousands(gate.threshold), 1, gate.threshold, shift=(5, 0), width="narrow", **named),
    ]
