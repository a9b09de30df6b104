"""The telephone game: how many of the first event's probes each later event still answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sessions.pages.ui.chart import Figure, axis, hover_axis, index_ticks, layout, line

if TYPE_CHECKING:
    from collections.abc import Sequence

HEIGHT = 190
MARGIN, NARROW_MARGIN = {"l": 62, "r": 24, "t": 12, "b": 36}, {"l": 46, "r": 14, "t": 12, "b": 36}
STYLES = (("@chart-line", 2.25, ""), ("@chart-recorded", 1.5, ""), ("@chart-ghost", 1.5, "2px,2px"))


class Chain(NamedTuple):
    """One policy's course: its name and the percentage still answered after each event."""

    name: str
    percents: Sequence[float]


def telephone_figure(chains: Sequence[Chain]) -> Figure:
    """The figure, in roles; at most three courses, the page's own first."""
    last = max((len(chain.percents) for chain in chains), default=1) - 1
    figure = layout(HEIGHT, HEIGHT, MARGIN, NARROW_MARGIN)
    title = {"text": "event", "font": {"size": 10.5}, "standoff": 4}
    figure["xaxis"] = axis(
        range=[-0.3, max(last, 1) + 0.3], tickvals=index_ticks(0, max(last, 1)), tickformat=",d", tickangle=0,
        title=title, anchor="y", **hover_axis("event"),
    )  # fmt: skip
    figure["yaxis"] = axis(
        range=[0, 108], tickvals=[0, 50, 100], ticktext=["0 %", "50 %", "100 %"], fixedrange=True, anchor="x"
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
            "hovertemplate": f"%{{y:.0f}} % of the first event's probes<extra>{chain.name}</extra>",
        }
        for chain, (role, width, dash) in zip(chains[:3], STYLES, strict=False)
    ]  # fmt: skip
    return {"data": traces, "layout": figure, "config": {"displayModeBar": False, "doubleClick": "reset"}}
