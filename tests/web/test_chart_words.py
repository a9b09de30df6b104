"""The words on the overview's chart stand clear of compactions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from sessions.pages.session.bars import Cut
from sessions.pages.session.chart import NOMINAL_PX, pressure_figure
from tests.web.test_charts import session_of

LETTER, LINE = 0.5, 1.3
"""Least width of a character and height of a line, as shares of the font's size."""


class Box(NamedTuple):
    """Where something is drawn: px from the left and the bottom of the plot."""

    left: float
    right: float
    bottom: float
    top: float


def pixels(figure: dict[str, Any], x: float, y: float, axis: str) -> tuple[float, float]:
    """Where a message and a value of a lane stand on the screen."""
    layout = figure["layout"]
    margin, lane = layout["margin"], layout[axis]
    (first, last), (low, high), (foot, head) = layout["xaxis"]["range"], lane["range"], lane["domain"]
    tall = layout["height"] - margin["t"] - margin["b"]
    share = foot + (y - low) / (high - low) * (head - foot)
    return (x - first) / (last - first) * (NOMINAL_PX - margin["l"] - margin["r"]), share * tall


def box(figure: dict[str, Any], words: dict[str, Any]) -> Box:
    """The ground that words of a lane take at least."""
    x, y = pixels(figure, words["x"], words["y"], words["yref"].replace("y", "yaxis"))
    size = words["font"]["size"]
    wide, tall = len(words["text"]) * LETTER * size, LINE * size
    left = x + words["xshift"] - {"left": 0, "center": wide / 2, "right": wide}[words["xanchor"]]
    bottom = y + words["yshift"] - {"bottom": 0, "middle": tall / 2, "top": tall}[words["yanchor"]]
    around = words.get("borderpad", 0)
    return Box(left - around, left + wide + around, bottom - around, bottom + tall + around)


@pytest.mark.parametrize(("cuts", "says", "side"), [
    ([], "a byte trigger fires here, at 16,560 tokens", "right"),
    ([90.5], "a byte trigger fires here, at 16,560 tokens", "right"),
    ([44.5], "a byte trigger fires here, at 16,560 tokens", "left"),
    ([44.5, 9.5], "a byte trigger fires here", "left"),
    ([64.5, 9.5], "a byte trigger fires here", "right"),
    ([44.5, 30.5], "", ""),
])  # fmt: skip
def test_words_at_a_byte_trigger_leave_compactions_alone(cuts: list[float], says: str, side: str) -> None:
    data = replace(session_of(120, {37: 1_540.2}), compactions=[Cut(at, 16_000, 9_000) for at in cuts])
    figure = pressure_figure(data)
    wide = [a for a in figure["layout"]["annotations"] if a["text"].startswith("a byte trigger")]
    narrow = [a for a in figure["layout"]["annotations"] if a["text"] == "byte trigger"]
    assert [a["text"] for a in wide] == [says] * bool(says)
    assert len(narrow) == len(wide)
    for words in wide:
        assert words["xanchor"] == {"right": "left", "left": "right"}[side]
        left, right, *_ = box(figure, words)
        assert not [at for at in cuts if left <= pixels(figure, at, 0, "yaxis3")[0] <= right]
