"""The pressure chart: tokens by kind up, bytes down, context under both, one x axis of message positions.

Geometry and wording are the design's (Charts, Pressure): text mirrors at the baseline, what falls through the floor
weighs more in bytes than any text of the session could, and an over-counted message is red with its factor.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString

from sessions.engine.encodings import clearing_words, refusal_words
from sessions.engine.why.case import COMPACTION
from sessions.engine.why.verdicts import is_false
from sessions.pages.session import foot_notes, lanes
from sessions.pages.session.bars import Bar, ByteScale, Cut, Mark, Pressure, binned, byte_scale, placed, token_top
from sessions.pages.session.points import points, said, worst_weight
from sessions.pages.ui.chart import Figure, axis, figure_text, index_ticks, layout, line, verticals
from sessions.pages.ui.saw import MOST_LINES, envelope, thinned
from sessions.runs.overview import KINDS, called

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.runs.overview import Overview

ROLES = {kind: f"@kind-{kind.replace('_', '-')}" for kind in KINDS}
LIMIT_PX, WORST_PX = 6, 7.5
NOMINAL_PX = 950
LANES = {"tokens": (0.7030, 1.0), "bytes": (0.3168, 0.7030), "context": (0.0, 0.2112)}
RAIL = (0.975, 1.0)
"""Where the marks of many compactions stand, as a share of the plot's height."""
CALM = {"tokens": (0.56, 1.0), "bytes": (0.40, 0.56), "context": (0.0, 0.33)}
"""The lanes where nothing is over-counted: bytes mirror tokens, and there is no zone beneath."""
HEIGHT, NARROW_HEIGHT = 341, 354
MARGIN, NARROW_MARGIN = {"l": 62, "r": 20, "t": 18, "b": 20}, {"l": 50, "r": 12, "t": 18, "b": 20}
ZONE = 1.72
"""Height of the logarithmic zone over the linear part: 74 px under 43 px."""


def pressure_json(view: Overview, measure: str) -> SafeString:
    """The pressure chart as JSON; ``measure`` names a byte estimator."""
    name = f"pressure {measure}"
    return SafeString(view.kept(name, lambda: figure_text(pressure_figure(_data(view, measure)))))


def pressure_near(view: Overview, measure: str, near: tuple[int, int]) -> str:
    """The same figure, finer between the two messages ``near``."""
    return figure_text(pressure_figure(_data(view, measure), near))


def _data(view: Overview, measure: str) -> Pressure:
    return view.once(f"pressure {measure}", lambda: _pressure(view, measure))


def _pressure(view: Overview, measure: str) -> Pressure:
    bars = [Bar(i, *facts) for i, facts in enumerate(zip(view.kinds, *view.measured(measure), strict=True))]
    contexts = sorted((message, tokens, request) for message, (request, tokens, _) in view.contexts.items())
    compactions = _cuts(view)
    name = dict(view.measures)[measure]
    refused, cleared = _marks(view, contexts)
    window, per_token = view.weighed.window, view.per_token
    return Pressure(
        bars, contexts, view.context_label, compactions, window, per_token, name, refused, cleared,
        partial(_told, view, measure, said(view)),
    )  # fmt: skip


def _told(view: Overview, measure: str, said_of: Callable[[int], str], bar: Bar) -> Bar:
    """A bar that is shown, with its words; an over-counted one of its own has its most over-counted block too."""
    told = replace(bar, said=said_of(bar.message))
    if not bar.flagged:
        return told
    weight = worst_weight(view, bar.index, measure) if bar.last < 0 else None
    return replace(told, what=called(view.messages[bar.message], view.tools), weight=weight)


def _cuts(view: Overview) -> list[Cut]:
    """The recorded compactions; a false alarm's figure is what the context truly held."""
    false = {v.number: v.true for v in view.verdicts if v.what == COMPACTION and is_false(v)}
    return [
        Cut(
            (c.message if c.message is not None else c.boundary) - 0.5, false.get(n, c.tokens_before), c.tokens_after,
            n in false,
        )
        for n, c in enumerate(view.weighed.transcript.compactions)
    ]  # fmt: skip


def _marks(view: Overview, contexts: Sequence[tuple[int, int, int]]) -> tuple[list[Mark], list[Mark]]:
    """Refusals at the size their text gives or that of the request before, clearings at that of the one before."""
    transcript = view.weighed.transcript

    def before(message: int) -> int:
        return next((tokens for at, tokens, _ in reversed(contexts) if at < message), 0)

    refused = [
        Mark(e.message - 0.5, e.tokens if e.kind == "context" and e.tokens else before(e.message), refusal_words(e))
        for e in transcript.errors
    ]
    cleared = [Mark(c.message - 0.5, before(c.message), clearing_words(c)) for c in transcript.clearings]
    return refused, cleared


def pressure_figure(data: Pressure, near: tuple[int, int] | None = None) -> Figure:
    """The figure, in roles; ``layout.meta`` tells the page how to redraw it for a width.

    ``near`` are two messages between which it is finer.  ``meta.coarse``: it shows less than there is.
    """
    bars = [data.told(bar) for bar in binned(data.bars, near=near)]
    top = token_top(max((bar.total for bar in bars), default=0))
    worst = max((bar for bar in bars if bar.flagged), key=lambda bar: bar.overcount or 0, default=None)
    largest = max((bar.n_bytes for bar in bars), default=0)
    scale = byte_scale(top, data.bytes_per_token, largest, ZONE) if worst else mirrored(top, data, largest)
    lane = LANES if worst else CALM
    last = max((bar.index + bar.width - 1 for bar in bars), default=0)
    peak = max([data.window, *(t for _, t, _ in data.contexts), *(mark.tokens for mark in data.refused)])
    figure = layout(HEIGHT, NARROW_HEIGHT, MARGIN, NARROW_MARGIN, barmode="stack", bargap=0, hovermode=False)
    coarse = len(bars) < len(data.bars) or len(data.compactions) > MOST_LINES
    figure["meta"] |= {"points": points(data, bars), "coarse": coarse}
    figure |= {"xaxis": _message_axis(last), "yaxis": lanes.token_axis(top, lane["tokens"])}
    figure |= {"yaxis2": lanes.byte_axis(scale, lane["bytes"]), "yaxis3": lanes.context_axis(peak, lane["context"])}
    figure["shapes"] = (
        lanes.grounds(top, scale, data.window, peak) + _verticals(data, near) + _plumb(data, worst, scale)
    )
    figure["annotations"] = [
        *lanes.headings(
            scale,
            data.window,
            data.measure,
            data.context_label,
            foot=lane["context"][1],
            place=worst.centre / max(last, 1) if worst else None,
        ),
        *foot_notes.compaction_notes(data, last, peak),
        *foot_notes.factor_notes(bars, data, scale, last, worst),
        *foot_notes.worst_notes(bars, data, worst, scale, last),
    ]
    traces = [*_token_bars(bars), *_byte_bars(bars, scale, last, worst), *_context(data, near), *_events(data)]
    return {"data": traces, "layout": figure, "config": {"displayModeBar": False, "doubleClick": "reset"}}


def mirrored(top: int, data: Pressure, largest: int) -> ByteScale:
    """A linear scale to the largest message: nothing lies beyond what text weighs."""
    floor = max(top * data.bytes_per_token, largest, 1)
    return ByteScale(floor=floor, bottom=floor, zone=0)


def _message_axis(last: int) -> Figure:
    ends = [-0.5, last + 0.5]
    marks = {
        "tickvals": index_ticks(0, last),
        "tickformat": ",d",
        "ticks": "outside",
        "ticklen": 3,
        "tickcolor": "@chart-axis",
    }
    return axis(range=ends, domain=[0, 1], anchor="y3", showline=True, linecolor="@chart-axis", **marks)


def _token_bars(bars: Sequence[Bar]) -> list[Figure]:
    """One bar trace per kind that occurs, from the calmest at the baseline to the rarest on top."""
    traces = []
    for kind in KINDS:
        shown = [bar for bar in bars if bar.tokens.get(kind)]
        if not shown:
            continue
        trace = _bars([bar.centre for bar in shown], [bar.tokens[kind] for bar in shown], kind, ROLES[kind])
        trace["width"] = _widths(shown)
        if kind == "opaque":
            hatch = {"shape": "/", "size": 4, "solidity": 0.5, "fgcolor": ROLES[kind], "bgcolor": "@chart-paper"}
            trace["marker"]["pattern"] = hatch
        traces.append(trace)
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
    grey = _bars([bar.centre for bar in calm], [placed(scale, bar) for bar in calm], "bytes", "@chart-bytes", "y2")
    red = _bars([bar.centre for bar in loud], [placed(scale, bar) for bar in loud], "over-counted", "@chart-over", "y2")
    pixels = [WORST_PX if bar is worst else LIMIT_PX for bar in loud]
    red |= {"width": [max(1, px * (last + 1) / NOMINAL_PX) for px in pixels], "meta": {"px": pixels}}
    grey["width"] = _widths(calm) if calm else 1
    return [trace for trace in (grey, red) if trace["x"]]


def _context(data: Pressure, near: tuple[int, int] | None) -> list[Figure]:
    if not data.contexts:
        return []
    if near is not None:
        near = bisect_left(data.contexts, (near[0],)) - 1, bisect_left(data.contexts, (near[1],)) + 1
    tokens = [held for _, held, _ in data.contexts]
    if near is None and len(data.compactions) > MOST_LINES:
        return _band(data, *envelope(tokens))
    shown = [data.contexts[at] for at in thinned(tokens, near=near)]
    steps: Figure = {"type": "scatter", "mode": "lines", "name": "context", "yaxis": "y3", "fill": "tozeroy"}
    steps |= {"x": [message for message, _, _ in shown], "y": [tokens for _, tokens, _ in shown]}
    steps |= {"line": {"shape": "hv", "width": 1.4, "color": "@chart-recorded"}, "fillcolor": "@chart-grid"}
    return [steps]


def _band(data: Pressure, at: list[int], low: list[int], high: list[int]) -> list[Figure]:
    """The envelope of a line with more teeth than the eye tells apart: lowest to highest of each bin."""
    plain: Figure = {"type": "scatter", "mode": "lines", "yaxis": "y3", "x": [data.contexts[one][0] for one in at]}
    stroke: Figure = {"shape": "hv", "color": "@chart-recorded"}
    filled: Figure = {"fill": "tonexty", "fillcolor": "@chart-grid"}
    return [
        plain | {"name": "lowest", "y": low, "line": stroke | {"width": 0.75}},
        plain | filled | {"name": "context", "y": high, "line": stroke | {"width": 1.4}},
    ]


def _events(data: Pressure) -> list[Figure]:
    """Refusals and clearings as marks on the context's line."""
    kinds = (("refused", data.refused, "x", "@chart-over"), ("cleared", data.cleared, "circle-open", "@chart-axis"))
    return [
        {
            "type": "scatter", "mode": "markers", "name": name, "yaxis": "y3", "cliponaxis": False,
            "x": [mark.at for mark in marks], "y": [mark.tokens for mark in marks],
            "text": [mark.words for mark in marks], "hovertemplate": f"%{{text}}<extra>{name}</extra>",
            "marker": {"symbol": symbol, "size": 8, "color": role, "line": {"width": 1.4, "color": role}},
        }
        for name, marks, symbol, role in kinds
        if marks
    ]  # fmt: skip


def _verticals(data: Pressure, near: tuple[int, int] | None) -> list[Figure]:
    """Recorded compactions, dotted through all lanes; many are marks on a rail, but for the false alarms, in red."""
    many = len(data.compactions) > foot_notes.RAIL_FROM
    plain = [cut.at for cut in data.compactions if not cut.is_false]
    if many:
        plain = [together[len(together) // 2] for together in foot_notes.on_rail(plain, near)]
    false = [cut.at for cut in data.compactions if cut.is_false]
    return [
        *verticals("@chart-ghost", plain, y=RAIL if many else (0, 1), dash="" if many else "2px,2px"),
        *verticals("@chart-over", false, y=(0, 1), dash="2px,2px"),
    ]


def _plumb(data: Pressure, worst: Bar | None, scale: ByteScale) -> list[Figure]:
    """From the foot of the worst bar down to the context of the request that a byte gate would have stopped."""
    gate = foot_notes.byte_gate(data, worst) if worst else None
    if worst is None or gate is None:
        return []
    (low, high), peak = LANES["bytes"], max([data.window, *(tokens for _, tokens, _ in data.contexts)])
    start = high - (high - low) * scale.place(worst.n_bytes) / (1 + scale.zone)
    end = LANES["context"][1] * gate[1] / (peak * lanes.CONTEXT_ROOM)
    ends: Figure = {"xref": "x", "yref": "paper", "x": (worst.centre, worst.centre), "y": (start, end)}
    return [line("@chart-over", width=1.25, **ends)]
