"""The charts of the Quality page: what was carried against what was needed, and the telephone game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sessions.engine.quality.carry import WorkingSet
from sessions.pages.ui.chart import (
    Figure,
    axis,
    drawn,
    layout,
    line,
    nice_top,
    position_axis,
    thousands,
    ticks,
)
from sessions.pages.ui.saw import thinned

HEIGHT, NARROW_HEIGHT = 240, 210
MARGIN, NARROW_MARGIN = {"l": 62, "r": 24, "t": 12, "b": 36}, {"l": 46, "r": 14, "t": 12, "b": 36}


def carried_figure(data: WorkingSet, marked: Sequence[int] = ()) -> Figure:
    """The figure, in roles; ``marked`` are the requests of the events."""
    first, last = (data.requests[0], data.requests[-1]) if data.requests else (0, 1)
    top = nice_top(max(data.carried, default=10))
    figure = layout(HEIGHT, NARROW_HEIGHT, MARGIN, NARROW_MARGIN)
    span = max(last - first, 1)
    ends = [first - 0.01 * span, last + 0.01 * span]
    figure["xaxis"] = position_axis("request", first, max(last, first + 1), range=ends, anchor="y")
    marks = ticks(top, 3)
    figure["yaxis"] = axis(
        range=[0, 1.04 * top], tickvals=marks, ticktext=[thousands(mark) for mark in marks], fixedrange=True, anchor="x"
    )
    figure["shapes"] = [
        *(line("@chart-grid", y=(mark, mark), below=True) for mark in marks[1:]),
        *(line("@chart-axis", xref="x", yref="paper", x=(at, at), y=(0, 1), dash="2px,2px") for at in marked),
        line("@chart-axis", y=(0, 0)),
    ]
    both = [needed + unknown for needed, unknown in zip(data.needed, data.unknown, strict=True)]
    traces = [
        _area("carried", data, data.carried, data.carried, ("@chart-over-zone", "@chart-over")),
        _area("needed or not recognisable", data, both, data.unknown, ("@chart-grid", "@chart-ghost")),
        _area("needed in the next 20 requests", data, data.needed, data.needed, ("@chart-area", "@chart-line")),
    ]
    return drawn(traces, figure)


def _area(name: str, data: WorkingSet, values: Sequence[int], told: Sequence[int], paint: tuple[str, str]) -> Figure:
    """One filled curve in (fill, stroke); ``told`` are the values that the hover says."""
    shown = thinned(values)
    what = "not recognisable" if told is not values else name
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": [data.requests[i] for i in shown],
        "y": [values[i] for i in shown], "customdata": [told[i] for i in shown],
        "line": {"shape": "hv", "width": 1.5, "color": paint[1]}, "fill": "tozeroy", "fillcolor": paint[0],
        "hovertemplate": f"%{{customdata:,}} tokens<extra>{what}</extra>",
    }  # fmt: skip


CHAINS_HEIGHT = 190
STYLES = (("@chart-line", 2.25, ""), ("@chart-recorded", 1.5, ""), ("@chart-ghost", 1.5, "2px,2px"))


class Chain(NamedTuple):
    """One policy's course: its name and the percentage still answered after each event."""

    name: str
    percents: Sequence[float]


def telephone_figure(chains: Sequence[Chain]) -> Figure:
    """The figure, in roles; at most three courses, the page's own first."""
    last = max((len(chain.percents) for chain in chains), default=1) - 1
    figure = layout(CHAINS_HEIGHT, CHAINS_HEIGHT, MARGIN, NARROW_MARGIN)
    last = max(last, 1)
    figure["xaxis"] = position_axis("event", 0, last, range=[-0.3, last + 0.3], anchor="y")
    figure["yaxis"] = axis(
        range=[0, 108], tickvals=[0, 50, 100], ticktext=["0%", "50%", "100%"], fixedrange=True, anchor="x"
    )
    figure["shapes"] = [
        *(line("@chart-grid", y=(mark, mark), below=True) for mark in (50, 100)),
        line("@chart-axis", y=(90, 90), dash="2px,2px", below=True),
        line("@chart-axis", y=(0, 0)),
    ]
    traces = [
        {
            "type": "scatter", "mode": "lines+markers", "name": chain.name, "x": list(range(len(chain.percents))),
            "y": [round(value, 1) for value in chain.percents],
            "line": {"color": role, "width": width} | ({"dash": dash} if dash else {}),
            "marker": {"size": 5, "color": role},
            "hovertemplate": f"%{{y:.0f}}% of the first event's probes<extra>{chain.name}</extra>",
        }
        for chain, (role, width, dash) in zip(chains[:3], STYLES, strict=False)
    ]  # fmt: skip
    return drawn(traces, figure)
