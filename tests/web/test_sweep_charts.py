"""The sweep's figures are valid, name only known colours, and draw every setting once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.pages.sweep.chart import CurvePoint, FrontPoint, curve_figure, front_figure
from tests.every import examples
from tests.web.drawn import check, roles

TOKENS = (Path(__file__).parents[2] / "static" / "css" / "tokens.css").read_text(encoding="utf-8")
COSTS = st.floats(0, 1e6, allow_nan=False)
HELD = (1.0, 2.0, 1.0, "as recorded")


def points_of(costs: list[tuple[float, float, int]]) -> list[FrontPoint]:
    """Points of three policies, some on the front, some over a limit, the first in hand."""
    return [
        FrontPoint(
            row=n, low=min(a, b), high=max(a, b), against=count, says=f"setting {n}", policy=f"policy {n % 3}",
            front=n % 2 == 0, picked=n == 0, keeps=n % 4 != 3, mine=n % 3 == 0,
        )
        for n, (a, b, count) in enumerate(costs)
    ]  # fmt: skip


@examples(40)
@given(st.lists(st.tuples(COSTS, COSTS, st.integers(0, 500)), min_size=1, max_size=40), st.booleans())
def test_the_front_draws_every_setting_once(costs: list[tuple[float, float, int]], priced: bool) -> None:
    figure = front_figure(points_of(costs), priced=priced, against="Compactions", floor=3.0, held=HELD)
    drawn = sorted(row for trace in figure["data"] for row in trace.get("customdata", []))
    assert drawn == list(range(len(costs)))
    check(figure)
    left, right = figure["layout"]["xaxis"]["range"]
    assert all(left <= point.low <= point.high <= right for point in points_of(costs))


@pytest.mark.parametrize(
    ("said", "held"), [("selected", (19.57, 19.57, 32.0, "x")), ("as recorded", (19.7, 19.7, 9.0, "x"))]
)
def test_no_word_stands_on_a_setting(said: str, held: tuple[float, float, float, str]) -> None:
    """Picked: 61 lost at $15.50; three others stand close above, to its right."""
    points = points_of(
        [
            (15.49, 15.52, 61),
            (15.8, 15.84, 72),
            (15.9, 15.92, 72),
            (15.8, 15.84, 81),
            (15.1, 15.2, 128),
            (19.4, 19.5, 9),
        ]
    )
    layout = front_figure(points, priced=True, against="x", floor=None, held=held)["layout"]
    (left, right), (low, high) = layout["xaxis"]["range"], layout["yaxis"]["range"]
    (words,) = (one for one in layout["annotations"] if one["text"] == said)
    across = 1 if words["xanchor"] == "left" else -1
    low_px = {"bottom": 0, "middle": -11, "top": -22}[words["yanchor"]]
    on_it = [
        one for one in points
        if 0 < across * (one.x - words["x"]) / (right - left) * 600 < 60
        and low_px < (one.against - words["y"]) / (high - low) * 238 < low_px + 22
    ]  # fmt: skip
    assert on_it == []


@examples(40)
@given(st.lists(st.tuples(COSTS, COSTS, st.integers(0, 500)), min_size=2, max_size=40))
def test_the_front_line_only_goes_down(costs: list[tuple[float, float, int]]) -> None:
    line = front_figure(points_of(costs), priced=True, against="Compactions", floor=None, held=HELD)["data"][0]
    assert line["y"] == sorted(line["y"], reverse=True)
    assert line["x"] == sorted(line["x"])


@examples(40)
@given(st.lists(st.tuples(COSTS, COSTS, st.integers(0, 500)), min_size=2, max_size=40), st.booleans())
def test_the_band_holds_the_line(costs: list[tuple[float, float, int]], priced: bool) -> None:
    steps = [
        CurvePoint(n, float(n), min(a, b), max(a, b), count, 1_000 * count, f"step {n}", n == 1)
        for n, (a, b, count) in enumerate(costs)
    ]
    figure = curve_figure(steps, title="trigger, %", priced=priced, window=200_000)
    low, high, line, counts, peaks = figure["data"]
    assert all(a <= b <= c for a, b, c in zip(low["y"], line["y"], high["y"], strict=True))
    assert counts["y"] == [step.compactions for step in steps]
    assert peaks["y"] == [step.peak for step in steps]
    check(figure)


@pytest.mark.parametrize("role", sorted(
    roles(front_figure(points_of([(1, 2, 3), (2, 3, 1), (3, 3, 0), (1, 1, 9)]), priced=True, against="x", floor=2.0,
                       held=HELD))
    | roles(curve_figure([CurvePoint(0, 1, 1, 2, 1, 5, "", True), CurvePoint(1, 2, 1, 2, 1, 5, "", False)],
                         title="x", priced=True, window=9))
))  # fmt: skip
def test_every_colour_is_a_role_of_the_theme(role: str) -> None:
    assert re.search(rf"--{role}:", TOKENS)


@pytest.mark.parametrize(("first", "last", "at"), [(1.0, 9.0, "left"), (9.0, 1.0, "right")])
def test_the_word_of_the_chosen_setting_stays_on_the_plot(first: float, last: float, at: str) -> None:
    """The chosen one is the first of these: at either end of the axis its word stands on the inner side."""
    costs = [(first, first, 5), ((first + last) / 2, (first + last) / 2, 5), (last, last, 5)]
    crowded = [(first + (last - first) / 50 * n, first + (last - first) / 50 * n, 4 + n % 3) for n in range(1, 9)]
    held = (first, last, 1.0, "as recorded") if first < last else (last, first, 1.0, "as recorded")
    figure = front_figure(points_of([*costs, *crowded]), priced=True, against="Compactions", floor=None, held=held)
    (word,) = (one for one in figure["layout"]["annotations"] if one["text"] == "selected")
    assert word["xanchor"] == at
