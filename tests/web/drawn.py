"""Figures as Plotly sees them: each is held against the schema of its own chart types."""

from __future__ import annotations

import re
from typing import Any

import plotly.graph_objects as go

from tests.arch.repository import ROOT

PARTS = re.findall(r"src/(traces|components)/(\w+)", (ROOT / "scripts/charts/entry.js").read_text(encoding="utf-8"))
TRACES = {name for kind, name in PARTS if kind == "traces"}
LEFT_OUT = {
    "colorbar", "error_x", "error_y", "grid", "images", "rangeselector", "rangeslider", "selections", "showscale",
    "sliders", "updatemenus",
}  # fmt: skip
"""What Plotly's schema knows and our bundle of it would silently leave out."""
_SEEN: set[Any] = set()


def painted(value: Any) -> Any:
    """The figure with a true colour for every role, so that Plotly can check it."""
    if isinstance(value, str) and value.startswith("@"):
        return "#123456"
    if isinstance(value, dict):
        return {key: painted(inner) for key, inner in value.items()}
    return [painted(inner) for inner in value] if isinstance(value, list) else value


def check(figure: dict[str, Any]) -> None:
    """Raises ValueError where Plotly, or our bundle, knows no such trace, attribute or value; a known shape passes."""
    shape = _shape(figure)
    if shape not in _SEEN:
        wanted = {trace["type"] for trace in figure.get("data") or ()} - TRACES | _keys(figure) & LEFT_OUT
        if wanted:
            message = f"scripts/charts/entry.js does not name {sorted(wanted)}"
            raise ValueError(message)
        go.Figure(data=painted(figure.get("data")), layout=painted(figure.get("layout")))
        _SEEN.add(shape)


def _keys(value: Any) -> set[str]:
    """Every name in a figure."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    return set(value if isinstance(value, dict) else ()).union(*map(_keys, inner))


def _shape(value: Any) -> Any:
    """What validity hangs on: names, words and types, without numbers and how often each comes."""
    if isinstance(value, dict):
        return frozenset((key, _shape(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return frozenset(map(_shape, value))
    return value if isinstance(value, str) and len(value) < 20 else type(value)


def roles(figure: Any) -> set[str]:
    """Every colour role the figure names, without the "@"."""
    found: set[str] = set()
    stack: list[Any] = [figure]
    while stack:
        value = stack.pop()
        if isinstance(value, str) and value.startswith("@"):
            found.add(value[1:])
        elif isinstance(value, dict):
            stack += value.values()
        elif isinstance(value, list | tuple):
            stack += value
    return found
