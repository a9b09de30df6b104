"""The words on the overview's chart stand clear of compactions, of the context's line and of red bars."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
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

    def meets(self, other: Box) -> bool:
        """True where both cover some place."""
        beside = self.right <= other.left or other.right <= self.left
        return not beside and self.bottom < other.top and other.bottom < self.top


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


@pytest.mark.parametrize("is_false", [False, True])
@pytest.mark.parametrize("flagged", [{}, {90: 186.0}], ids=["calm lanes", "lanes of over-counts"])
@pytest.mark.parametrize("peaks", [(60_000, 110_000, 167_000, 199_000), (199_000, 167_000, 110_000, 60_000)])
def test_a_compactions_label_stands_clear_of_the_contexts_line(
    peaks: tuple[int, ...], flagged: dict[int, float], is_false: bool
) -> None:
    """Each peak is at the compaction; from the one before, the context has risen to it in a straight line."""
    session = session_of(120, flagged)
    contexts = [(at, 20_000 + (peaks[at // 30] - 20_000) * (at % 30) // 29, at) for at in range(120)]
    cuts = [Cut(30 * k + 29.5, peak, 20_000, is_false) for k, peak in enumerate(peaks)]
    figure = pressure_figure(replace(session, contexts=contexts, compactions=cuts))
    said = {"false", *(f"{peak // 1_000}K" for peak in peaks)}
    labels = [
        a for a in figure["layout"]["annotations"]
        if a["yref"] == "y3" and (a["text"] in said or a["text"].startswith("false alarm") or "→" in a["text"])
    ]  # fmt: skip
    assert len(labels) == 2 * len(cuts), "one for a wide chart, one for a narrow one"
    line = [pixels(figure, at, tokens, "yaxis3") for at, tokens, _ in contexts]
    steps = [Box(left, right, level, level) for (left, level), (right, _) in pairwise(line)]
    hidden = [a["text"] for a in labels if "bgcolor" in a and any(box(figure, a).meets(step) for step in steps)]
    assert hidden == []


def test_labels_of_two_compactions_stand_apart() -> None:
    cuts = [Cut(63.5, 167_332, 74_291), Cut(87.5, 167_602, 78_059)]
    figure = pressure_figure(replace(session_of(120, {}), compactions=cuts))
    first, second = (box(figure, a) for a in figure["layout"]["annotations"] if "→" in a["text"])
    assert not first.meets(second)


SIDES = ((34, 40), (32, 35, 41, 50), (20, 54), (*range(0, 37, 3), *range(40, 120, 3)))


@pytest.mark.parametrize("last", [260, 800_000_000], ids=["at the bottom", "above the bottom"])
@pytest.mark.parametrize("others", SIDES)
def test_factors_stand_free_of_red_bars_or_have_a_ground(others: tuple[int, ...], last: int) -> None:
    """With heavier red bars on both sides of the worst message; how far down it reaches is for the last one to say."""
    session = session_of(120, {37: 1_540.2, **dict.fromkeys(others, 186.0)})
    weights = {**dict.fromkeys(others, 6_000_000), 119: last}
    bars = [replace(bar, n_bytes=weights.get(bar.index, bar.n_bytes)) for bar in session.bars]
    figure = pressure_figure(replace(session, bars=bars))
    red = next(trace for trace in figure["data"] if trace["name"] == "over-counted")
    drawn = []
    for at, wide, depth in zip(red["x"], red["width"], red["y"], strict=True):
        left, top = pixels(figure, at - wide / 2, 0, "yaxis2")
        right, bottom = pixels(figure, at + wide / 2, depth, "yaxis2")
        drawn.append(Box(left, right, bottom, top))
    factors = [a for a in figure["layout"]["annotations"] if a["text"].startswith("×")]
    assert "×1,540" in [a["text"] for a in factors]
    lost = [a["text"] for a in factors if "bgcolor" not in a and any(box(figure, a).meets(bar) for bar in drawn)]
    assert lost == []


@pytest.mark.parametrize(("false", "says"), [(63.5, ["1", "2", "3", "4"]), (100.5, ["1", "2–3", "4"])])
def test_compactions_that_stand_close_share_a_flag(false: float, says: list[str]) -> None:
    """Each is told once, alone or in a range; a false alarm keeps its own."""
    cuts = [Cut(at, 160_000, 9_000) for at in (10.5, 62.5, 64.5)]
    cuts = sorted([*cuts, Cut(false, 12_000, 9_000, is_false=True)])
    figure = pressure_figure(replace(session_of(120, {}), compactions=cuts))
    (discs,) = (trace for trace in figure["data"] if trace.get("name") == "compactions")
    assert list(discs["text"]) == says
    assert ("2 compactions" in [a["text"] for a in figure["layout"]["annotations"]]) is ("2–3" in says)
