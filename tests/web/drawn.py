"""Figures as Plotly sees them: each is held against the schema of its own chart types."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

_SEEN: set[Any] = set()


def painted(value: Any) -> Any:
    """The figure with a true colour for every role, so that Plotly can check it."""
    if isinstance(value, str) and value.startswith("@"):
        return "#123456"
    if isinstance(value, dict):
        return {key: painted(inner) for key, inner in value.items()}
    return [painted(inner) for inner in value] if isinstance(value, list) else value


def check(figure: dict[str, Any]) -> None:
    """Raises ValueError where Plotly knows no such trace, attribute or value; a figure of a known shape passes."""
    shape = _shape(figure)
    if shape not in _SEEN:
        go.Figure(data=painted(figure.get("data")), layout=painted(figure.get("layout")))
        _SEEN.add(shape)


def _shape(value: Any) -> Any:
    """What validity hangs on: names, words and types, without numbers and how often each comes."""
    if isinstance(value, dict):
        return frozenset((key, _shape(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return frozenset(map(_shape, value))
    return value if isinstance(value, str) and len(value) < 20 else type(value)
