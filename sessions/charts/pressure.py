"""The pressure chart: tokens by kind up, bytes down, context under both, one x axis of message positions.

Geometry and wording are the design's (Charts, Pressure): text mirrors at the baseline, what falls through the floor
weighs more in bytes than any text of the session could, and an over-counted message is red with its factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions import figures
from sessions.charts import lanes
from sessions.charts.bars import Bar, binned
from sessions.charts.marks import Figure, axis, index_ticks, layout, line, note, plain, size_of, spaced
from sessions.charts.scale import ByteScale, byte_scale, token_top

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("tool_result", "tool_use", "text", "thinking", "summary", "document", "image", "opaque")
ROLES = {kind: f"@kind-{kind.replace('_', '-')}" for kind in KINDS}
LIMIT_PX, WORST_PX = 6, 7.5
NOMINAL_PX = 950
LANES = {"tokens": (0.7030, 1.0), "bytes": (0.3168, 0.7030), "context": (0.0, 0.2112)}
HEIGHT, NARROW_HEIGHT = 341, 354
MARGIN, NARROW_MARGIN = {"l": 62, "r": 20, "t": 18, "b": 20}, {"l": 50, "r": 12, "t": 18, "b": 20}
ZONE = 1.72
"""Height of the logarithmic zone over the linear part: 74 px under 43 px."""


@dataclass(frozen=True, slots=True)
class Pressure:
    """What the chart shows.

    ``bars`` one per message; ``contexts`` (message, tokens) of each request in message order, ``context_label`` how
    they are known; ``compactions`` (message, tokens before, tokens after), None where unknown; ``window`` and
    ``bytes_per_token`` of the session; ``measure`` the name of the byte measure.
    """

    bars: Sequence[Bar]
    contexts: Sequence[tuple[int, int]]
    context_label: str
    compactions: Sequence[tuple[float, int | None, int | None]]
    window: int
    bytes_per_token: float
    measure: str = "wire bytes"


def pressure_figure(data: Pressure) -> Figure:
    """The figure, in roles; ``layout.meta`` tells the page how to redraw it for a width."""
    bars = binned(data.bars)
    top = token_top(max((bar.total for bar in bars), default=0))
    scale = byte_scale(top, data.bytes_per_token, max((bar.n_bytes for bar in bars), default=0), ZONE)
    worst = max((bar for bar in bars if bar.flagged), key=lambda bar: bar.overcount or 0, default=None)
    last = max((bar.index + bar.width - 1 for bar in bars), default=0)
    peak = max([data.window, *(tokens for _, tokens in data.contexts)])
    figure = layout(HEIGHT, NARROW_HEIGHT, MARGIN, NARROW_MARGIN, barmode="stack", bargap=0, hoversubplots="axis")
    figure |= {"xaxis": _message_axis(last), "yaxis": lanes.token_axis(top, LANES["tokens"])}
    figure |= {"yaxis2": lanes.byte_axis(scale, LANES["bytes"]), "yaxis3": lanes.context_axis(peak, LANES["context"])}
    figure["shapes"] = lanes.grounds(top, scale, data.window, peak) + _verticals(data) + _plumb(data, worst, scale)
    figure["annotations"] = [
        *lanes.headings(top, scale, data.window, data.measure, data.context_label, empty=worst is None),
        *_compaction_notes(data, last, peak),
        *_factor_notes(bars, data, scale, last, worst),
        *_worst_notes(data, worst, scale, last, top),
    ]
    traces = [*_token_bars(bars), *_byte_bars(bars, scale, last, worst), *_context(data)]
    return {"data": traces, "layout": figure, "config": {"displayModeBar": False, "doubleClick": "reset"}}


def _message_axis(last: int) -> Figure:
    ends = [-0.5, last + 0.5]
    marks = {"tickvals": index_ticks(0, last), "ticks": "outside", "ticklen": 3, "tickcolor": "@chart-axis"}
    return axis(range=ends, domain=[0, 1], anchor="y3", showline=True, linecolor="@chart-axis", **marks)


def _token_bars(bars: Sequence[Bar]) -> list[Figure]:
    """One bar trace per kind that occurs, from the calmest at the baseline to the rarest on top."""
    traces = []
    for kind in KINDS:
        shown = [bar for bar in bars if bar.tokens.get(kind)]
        if not shown:
            continue
        trace = _bars([bar.centre for bar in shown], [bar.tokens[kind] for bar in shown], kind, ROLES[kind])
        trace |= {"width": _widths(shown), "hovertemplate": f"%{{y:,}} tokens<extra>{kind}</extra>"}
        if kind == "opaque":
            hatch = {"shape": "/", "size": 4, "solidity": 0.5, "fgcolor": ROLES[kind], "bgcolor": "@chart-paper"}
            trace["marker"]["pattern"] = hatch
        traces.append(trace | {"customdata": [bar.message for bar in shown]})
    return traces


def _bars(x: list[float], y: list[float] | list[int], name: str, role: str, yaxis: str = "y") -> Figure:
    return {
        "type": "bar",
        "name": name,
        "x": x,
        "y": y,
        "yaxis": yaxis,
        "marker": {"color": role, "line": {"width": 0}},
    }


def _widths(bars: Sequence[Bar]) -> int | list[int]:
    """One width for all where they agree, which keeps the JSON small."""
    widths = [bar.width for bar in bars]
    return widths[0] if len(set(widths)) == 1 else widths


def _byte_bars(bars: Sequence[Bar], scale: ByteScale, last: int, worst: Bar | None) -> list[Figure]:
    """Grey bytes, then the over-counted ones in red; ``meta.px`` is the least width of each red bar on the screen."""
    calm = [bar for bar in bars if bar.n_bytes and not bar.flagged]
    loud = [bar for bar in bars if bar.flagged]
    grey = _bars([bar.centre for bar in calm], [_at(scale, bar) for bar in calm], "bytes", "@chart-bytes", "y2")
    red = _bars([bar.centre for bar in loud], [_at(scale, bar) for bar in loud], "over-counted", "@chart-over", "y2")
    pixels = [WORST_PX if bar is worst else LIMIT_PX for bar in loud]
    red |= {"width": [max(1, px * (last + 1) / NOMINAL_PX) for px in pixels], "meta": {"px": pixels}}
    grey["width"] = _widths(calm) if calm else 1
    for trace, shown in ((grey, calm), (red, loud)):
        trace["text"] = [
            size_of(bar.n_bytes) + (f", {figures.factor(bar.overcount)}" if bar.flagged else "") for bar in shown
        ]
        trace |= {"textposition": "none", "hovertemplate": f"%{{text}}<extra>{trace['name']}</extra>"}
        trace["customdata"] = [bar.message for bar in shown]
    return [trace for trace in (grey, red) if trace["x"]]


def _at(scale: ByteScale, bar: Bar) -> float:
    return round(scale.place(bar.n_bytes), 4)


def _context(data: Pressure) -> list[Figure]:
    if not data.contexts:
        return []
    steps: Figure = {"type": "scatter", "mode": "lines", "name": "context", "yaxis": "y3", "fill": "tozeroy"}
    steps |= {"x": [message for message, _ in data.contexts], "y": [tokens for _, tokens in data.contexts]}
    steps |= {"line": {"shape": "hv", "width": 1.4, "color": "@chart-recorded"}, "fillcolor": "@chart-grid"}
    template = f"%{{y:,}} tokens<extra>context, {data.context_label}</extra>"
    return [steps | {"hovertemplate": template}]


def _verticals(data: Pressure) -> list[Figure]:
    """Recorded compactions, dotted through all lanes."""
    return [
        line("@chart-ghost", xref="x", yref="paper", x=(at, at), y=(0, 1), dash="2px,2px")
        for at, _, _ in data.compactions
    ]


def _compaction_notes(data: Pressure, last: int, peak: int) -> list[Figure]:
    """Before and after beside each compaction; where two stand close, the later one keeps quiet."""
    placed = spaced([at for at, _, _ in data.compactions], last + 1, 0.22)
    notes = []
    for (at, before, after), wide in zip(data.compactions, placed, strict=True):
        if not wide:
            continue
        right = at > 0.8 * (last + 1)
        say = f"{figures.count(before)} → {figures.count(after)}" if before else "compacted"
        place = {"yref": "y3", "at": "right top" if right else "left top", "shift": (-4 if right else 4, -2)}
        notes.append(note(f"compacted {say}" if before else say, at, peak, width="wide", **place))
        notes.append(note(figures.count(before) if before else say, at, peak, width="narrow", **place))
    return notes


def _beside(bar: Bar, data: Pressure, last: int) -> tuple[str, int]:
    """Which side of a red bar has room for words: not the one with a vertical, not over the right edge."""
    room = 0.06 * (last + 1)
    blocked = any(0 <= at - bar.centre < room for at, _, _ in data.compactions)
    return ("right bottom", -5) if blocked or bar.centre > 0.93 * last else ("left bottom", 5)


def _factor_notes(bars: Sequence[Bar], data: Pressure, scale: ByteScale, last: int, worst: Bar | None) -> list[Figure]:
    """Factors at the feet of red bars, the largest first; a label that would touch another is left out."""
    loud = sorted((bar for bar in bars if bar.flagged), key=lambda bar: -(bar.overcount or 0))
    places = [bar.centre for bar in loud]
    wide, narrow = spaced(places, last + 1, 0.055), spaced(places, last + 1, 0.16)
    notes = []
    for bar, on_wide, on_narrow in zip(loud, wide, narrow, strict=True):
        if bar is worst or not on_wide or _under_worst(bar, worst, last):
            continue
        at, shift = _beside(bar, data, last)
        size = 11 if (bar.overcount or 0) >= 100 else 10.5
        words = {"yref": "y2", "at": at, "shift": (shift, 1), "role": "@chart-over-ink", "size": size}
        notes.append(
            note(figures.factor(bar.overcount), bar.centre, _at(scale, bar), width="" if on_narrow else "wide", **words)
        )
    return notes


def _under_worst(bar: Bar, worst: Bar | None, last: int) -> bool:
    """True where the worst one's own words stand."""
    if worst is None:
        return False
    offset = bar.centre - worst.centre
    away = -offset if worst.centre > 0.65 * last else offset
    return 0 < away < 0.1 * (last + 1)


def _worst_notes(data: Pressure, worst: Bar | None, scale: ByteScale, last: int, top: int) -> list[Figure]:
    """The worst message: factor at 18 px, what it is, a leader to its sliver, its position under the axis."""
    if worst is None:
        return []
    left = worst.centre > 0.65 * last
    corner, side = ("right bottom", -1) if left else ("left bottom", 1)
    foot = {"yref": "y2", "at": corner, "role": "@chart-over-ink"}
    weight, what = figures.count(worst.total), plain(worst.what, 24)
    depth = _at(scale, worst)
    says = f"#{worst.index} {what}: {size_of(worst.n_bytes)}, {weight} tokens"
    notes = [
        note(figures.factor(worst.overcount), worst.centre, depth, size=18, weight=600, shift=(7 * side, 9), **foot),
        note(says, worst.centre, depth, size=11, shift=(8 * side, -4), width="wide", **foot),
        note(f"#{worst.index}: {size_of(worst.n_bytes)}", worst.centre, depth, size=11, shift=(8 * side, -4),
             width="narrow", **foot),
        _sliver_note(worst, weight, last, top),
    ]  # fmt: skip
    gate = _byte_gate(data, worst)
    if gate is not None:
        words = {"yref": "y3", "at": "right top" if left else "left top", "shift": (6 * side, -2)}
        says = f"a byte gate fires here, at {figures.count(gate[1])} tokens: false"
        words |= {"role": "@chart-over-ink", "bgcolor": "@chart-paper", "borderpad": 1}
        notes.append(note(says, gate[0], max(data.window, gate[1]), width="wide", **words))
        notes.append(note("byte gate: false", gate[0], max(data.window, gate[1]), width="narrow", **words))
    return notes


def _sliver_note(worst: Bar, weight: str, last: int, top: int) -> Figure:
    """What the worst message truly weighs, on a leader over its bar, or beside a bar that leaves no room above."""
    words = {"role": "@chart-image-ink", "size": 11, "weight": 600}
    says = f"#{worst.index} {weight} tokens"
    if worst.total > 0.55 * top:
        left = worst.centre > 0.8 * last
        side = {"at": "right top", "shift": (-6, 0)} if left else {"at": "left top", "shift": (6, 0)}
        return note(says, worst.centre, worst.total, **side, **words)
    leader = {"showarrow": True, "ax": 0, "ay": -34, "arrowwidth": 1, "arrowcolor": "@kind-image", "arrowhead": 0}
    edge = "left" if worst.centre < 0.08 * last else "right" if worst.centre > 0.92 * last else "center"
    return note(says, worst.centre, worst.total, at=f"{edge} bottom", **words, **leader)


def _byte_gate(data: Pressure, worst: Bar) -> tuple[int, int] | None:
    """The request after the worst message where a gate that takes bytes for tokens fires on it alone, wrongly.

    Only told where it is beyond doubt: the message by itself has more bytes than the window has tokens, while the
    context of that request is under the window.
    """
    if worst.n_bytes <= data.window:
        return None
    following = next((point for point in data.contexts if point[0] > worst.message), None)
    return following if following and following[1] < data.window else None


def _plumb(data: Pressure, worst: Bar | None, scale: ByteScale) -> list[Figure]:
    """From the foot of the worst bar down to the context of the request that a byte gate would have stopped."""
    gate = _byte_gate(data, worst) if worst else None
    if worst is None or gate is None:
        return []
    (low, high), peak = LANES["bytes"], max([data.window, *(tokens for _, tokens in data.contexts)])
    start = high - (high - low) * scale.place(worst.n_bytes) / (1 + scale.zone)
    end = LANES["context"][1] * gate[1] / (peak * lanes.CONTEXT_ROOM)
    ends = {"xref": "x", "yref": "paper", "x": (worst.centre, worst.centre), "y": (start, end)}
    return [line("@chart-over", width=1.25, **ends)]  # type: ignore[arg-type]
