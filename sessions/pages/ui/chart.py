"""The parts that every chart is made of: lines, notes, axes, ticks and the JSON for the page.

A colour is a role: the name of a registered custom property with "@" in place of "--".  ``static/js/charts.js`` puts
the theme's colours in, drops what is meant for another width (``wide_only``, ``narrow_only``) and draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.io
from django.utils.safestring import SafeString

from sessions.pages.ui import figures

Figure = dict[str, Any]
LABEL_SIZE, AXIS_SIZE = 12, 11
INK = "@chart-strong"
QUIET = "@chart-label"
_ESCAPES = {ord(">"): "\\u003E", ord("<"): "\\u003C", ord("&"): "\\u0026"}


def figure_json(figure: Figure) -> SafeString:
    """The figure as JSON that may stand inside an HTML element."""
    return SafeString(figure_text(figure))


def figure_text(figure: Figure) -> str:
    """The same as plain text, to be kept.

    Plotly serialises it without validating (a role is no colour to Plotly, and validation costs 40 ms a drag); the
    tests validate every figure with real colours in.  Escaped as Django's ``json_script`` does.
    """
    return str(plotly.io.to_json(figure, validate=False, engine="json")).translate(_ESCAPES)


def drawn(traces: list[Figure], figure: Figure) -> Figure:
    """A whole figure: its traces, its layout, and how Plotly behaves on every page."""
    return {"data": traces, "layout": figure, "config": {"displayModeBar": False, "doubleClick": "reset"}}


def titled(words: str, standoff: int = 4) -> Figure:
    return {"text": words, "font": {"size": 12}, "standoff": standoff}


def line(
    role: str, *, x: tuple[float, float] = (0, 1), y: tuple[float, float], xref: str = "paper", yref: str = "y",
    width: float = 1, dash: str = "", below: bool = False,
) -> Figure:  # fmt: skip
    """A straight line as a layout shape; ``x`` spans the plot unless ``xref`` says otherwise."""
    stroke: Figure = {"color": role, "width": width} | ({"dash": dash} if dash else {})
    shape: Figure = {"type": "line", "xref": xref, "yref": yref, "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1]}
    return {**shape, "line": stroke, "layer": "below" if below else "above"}


def verticals(
    role: str, at: Sequence[float], *, y: tuple[float, float], yref: str = "paper", width: float = 1, dash: str = "",
    below: bool = False,
) -> list[Figure]:  # fmt: skip
    """Upright lines at places of the x axis as one layout shape, however many they are; none for no place."""
    if not at:
        return []
    stroke: Figure = {"color": role, "width": width} | ({"dash": dash} if dash else {})
    path = "".join(f"M{x:.12g},{y[0]:.12g}V{y[1]:.12g}" for x in at)
    shape: Figure = {"type": "path", "xref": "x", "yref": yref, "path": path}
    return [{**shape, "line": stroke, "layer": "below" if below else "above"}]


def spans(n: int, most: int, near: tuple[int, int] | None = None, n_near: int = 0) -> list[range]:
    """Places 0 to ``n`` in at most ``most`` spans of one length.

    Those of ``near``, a first and a last place, have ``n_near`` spans to themselves, a third of ``most`` where nothing
    is said, so that they are shorter.
    """
    coarse = max(1, math.ceil(n / most))
    first, stop = (0, 0) if near is None else (min(max(0, near[0]), n), min(max(0, near[1] + 1), n))
    fine = min(coarse, max(1, math.ceil((stop - first) / (n_near or max(1, most // 3)))))
    parts = ((0, first, coarse), (first, stop, fine), (max(first, stop), n, coarse))
    return [range(at, min(at + size, end)) for start, end, size in parts for at in range(start, end, size)]


def band(role: str, y0: float, y1: float, yref: str = "y") -> Figure:
    """A tinted zone across the plot, under everything."""
    ends: Figure = {"xref": "paper", "yref": yref, "x0": 0, "x1": 1, "y0": y0, "y1": y1}
    return {"type": "rect", **ends, "fillcolor": role, "line": {"width": 0}, "layer": "below"}


def note(
    text: str, x: float, y: float, *, xref: str = "x", yref: str = "y", at: str = "left bottom",
    shift: tuple[float, float] = (0, 0), role: str = INK, size: float = LABEL_SIZE,
    weight: int = 400, width: str = "", **more: Any,
) -> Figure:  # fmt: skip
    """Words on the plot: ``at`` says which corner of the words stands at x, y; ``width`` is "wide" or "narrow".

    Weight is a font's, never ``<b>``: Plotly writes that as a style attribute, which the security policy refuses.
    """
    xanchor, yanchor = at.split()
    words: Figure = {"text": text, "x": x, "y": y, "xref": xref, "yref": yref, "showarrow": False, "align": "left"}
    words |= {"font": {"size": size, "color": role, "weight": weight}, "xanchor": xanchor, "yanchor": yanchor}
    words |= {"xshift": shift[0], "yshift": shift[1]}
    if width:
        words["name"] = f"{width}_only"
    return words | more


def hover_axis(noun: str) -> Figure:
    """What the hover of a position axis looks like: its title and a thin line."""
    spike: Figure = {"spikecolor": "@chart-axis", "spikethickness": 1, "spikedash": "solid", "spikemode": "across"}
    return spike | {"unifiedhovertitle": {"text": f"{noun} %{{x:,d}}"}}


def axis(**more: Any) -> Figure:
    """An axis without decoration: grid and baseline are shapes, so that they can be placed exactly."""
    plain: Figure = {"showgrid": False, "zeroline": False, "showline": False, "ticks": "", "automargin": False}
    return plain | {"tickfont": {"size": AXIS_SIZE, "color": QUIET}} | more


OUTSIDE: Figure = {"ticks": "outside", "ticklen": 3, "tickcolor": "@chart-axis"}
"""Ticks of an axis that stand under it."""


def position_axis(noun: str, first: int, last: int, **more: Any) -> Figure:
    """An axis of requests or events: ticks at both ends and at round numbers between, named in its title and hover."""
    at: Figure = {"tickvals": index_ticks(first, last), "tickformat": ",d", "tickangle": 0, "title": titled(noun)}
    return axis(**at, **hover_axis(noun), **more)


def layout(height: int, narrow_height: int, margin: Figure, narrow_margin: Figure, **more: Any) -> Figure:
    """What every figure has in common; the narrow values replace the others below 700 px."""
    common: Figure = {"template": "none", "height": height, "margin": {**margin, "pad": 0}, "showlegend": False}
    common |= {"font": {"family": "Inter, system-ui, sans-serif", "size": 12, "color": QUIET}, "dragmode": "zoom"}
    common |= {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "hovermode": "x unified"}
    common |= {"hoverlabel": {"bgcolor": "@chart-paper", "bordercolor": "@chart-axis", "font": {"color": INK}}}
    narrow = {"height": narrow_height, "margin": {**narrow_margin, "pad": 0}}
    return common | {"uirevision": "keep", "meta": {"narrow": narrow}} | more


def nice_top(value: float) -> int:
    """The smallest of 1, 2, 2.5, 3, 4, 5, 6, 8, 10 times a power of ten that is not below ``value`` (10 at least)."""
    if value <= 10:
        return 10
    power: int = 10 ** math.floor(math.log10(value))
    return next(round(step * power) for step in (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= value)


def ticks(top: float, wanted: int = 4) -> list[int]:
    """Round values from 0 to ``top``, about ``wanted`` steps."""
    rough = max(top, 1) / wanted
    power = 10 ** math.floor(math.log10(rough)) if rough >= 1 else 1
    step = next(round(unit * power) for unit in (1, 2, 2.5, 5, 10) if unit * power >= rough) or 1
    return list(range(0, int(top) + 1, max(step, 1)))


def index_ticks(first: int, last: int, wanted: int = 10) -> list[int]:
    """Ticks of a message or request axis: the ends and round numbers between, none crowding the last."""
    span = max(last - first, 1)
    inner = [tick + first - first % 1 for tick in ticks(span, wanted) if 0 < tick < span - span / (2 * wanted)]
    return sorted({first, *inner, last})


def thousands(value: float) -> str:
    """A short figure of at most three digits: 0, 500, 5K, 1.05M."""
    for size, sign in ((1_000_000, "M"), (1_000, "K")):
        if value >= 0.9995 * size:
            return f"{float(f'{value / size:.3g}'):g}{sign}"
    return f"{value:g}"


def size_of(n_bytes: float) -> str:
    """Bytes with their unit: 3.12 MB."""
    return " ".join(figures.size(n_bytes))


def plain(words: str, limit: int = 60) -> str:
    """Text from a transcript, safe inside Plotly's pseudo-HTML and cut to ``limit`` characters."""
    return figures.shortened(words, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def spaced(places: Sequence[float], span: float, share: float) -> list[bool]:
    """For places in order of importance: may each be labelled without touching an earlier one?"""
    taken: list[float] = []
    answers = []
    for place in places:
        free = all(abs(place - other) >= span * share for other in taken)
        answers.append(free)
        if free:
            taken.append(place)
    return answers
