"""What is left after each of several compactions, as ``ctxweb generations`` counts it: a curve and a list by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.base.words import counted
from sessions.engine.quality.doses import chance_words
from sessions.engine.quality.generations import FEWEST, KINDS, LEFT, RULE, KindLeft, Traced, generations_assessed
from sessions.engine.quality.references import IDENTIFIER, PATH
from sessions.engine.quality.standing import GONE
from sessions.pages.ui import figures

if TYPE_CHECKING:
    from sessions.engine.quality.assess import Assessment
    from sessions.engine.quality.index import Index

MOST_COLUMNS, MOST_ROWS, MOST_TEXT = 6, 8, 140
WORDS = {RULE: "rule", PATH: "path", IDENTIFIER: "identifier"}
LINES = dict(zip(KINDS, ("c-ink", "c-rec", "c-ghost2"), strict=True))
SIZE, LEFT_EDGE, RIGHT_EDGE, TOP, FOOT, GAP = (380, 170), 44, 268, 18, 144, 15


@dataclass(frozen=True, slots=True)
class Course:
    """One kind's curve: its path, its points, and its words at the height ``y``."""

    line: str
    path: str
    points: tuple[tuple[float, float], ...]
    words: str
    y: float


@dataclass(frozen=True, slots=True)
class ValueRow:
    """One value: its state in each column, "" where it was lost before and still is, and what became of it."""

    text: str
    states: tuple[str, ...]
    later: str
    used: int | None
    alarm: bool


@dataclass(frozen=True, slots=True)
class KindRows:
    """The values of one kind, the first ``MOST_ROWS`` of ``n``."""

    title: str
    n: int
    half_life: str
    chance: str
    is_rule: bool
    rows: tuple[ValueRow, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """The panel: ``columns`` are the compactions shown, ``marks`` the axis under the curves."""

    headline: str
    half_life: str
    columns: tuple[int, ...]
    marks: tuple[tuple[float, str], ...]
    courses: tuple[Course, ...]
    kinds: tuple[KindRows, ...]
    n_values: int
    size: tuple[int, int] = SIZE


def build_left(index: Index, found: Sequence[Assessment]) -> Left | None:
    """The panel of compactions that were judged; None for fewer than two, or where nothing stood before the first."""
    if len(found) < FEWEST:
        return None
    made, n = generations_assessed(index, found), len(found)
    if not made.values:
        return None
    columns = shown_columns(n)
    kinds = tuple(
        KindRows(
            f"{WORDS[one.kind]}s".capitalize(), one.n, _half_life(one.half_life, n), chance_words(one.kind),
            one.kind == RULE,
            tuple(_row(value, columns) for value in [v for v in made.values if v.kind == one.kind][:MOST_ROWS]),
        )
        for one in made.kinds
    )  # fmt: skip
    parts = [f"{one.shares[-1]:.0%} of {WORDS[one.kind]}s" for one in made.kinds]
    marks = tuple((_x(at, n), "start" if not at else str(at)) for at in (0, *columns))
    headline = f"After {counted(n, 'compaction')}, {figures.listed(parts)} are left"
    return Left(
        headline, _half_life(made.half_life, n), columns, marks, _courses(made.kinds, n), kinds, len(made.values)
    )


def shown_columns(n: int) -> tuple[int, ...]:
    """The compactions that have a column, from 1: all, or as many as fit, the first and the last among them."""
    if n <= MOST_COLUMNS:
        return tuple(range(1, n + 1))
    return tuple(1 + round(k * (n - 1) / (MOST_COLUMNS - 1)) for k in range(MOST_COLUMNS))


def _half_life(half: float | None, n: int) -> str:
    return f"above {counted(n, 'compaction')}" if half is None else f"{half:.1f} compactions"


def _row(value: Traced, columns: Sequence[int]) -> ValueRow:
    states = tuple(
        "" if at > 1 and value.states[at - 1] == value.states[at - 2] == GONE else value.states[at - 1]
        for at in columns
    )
    alarm = value.kind == RULE and value.used_at is not None
    if value.used_at is not None:
        later = "broken later" if alarm else "used later"
    elif value.lost_at is not None:
        later = "not seen broken" if value.kind == RULE else "not used again"
    else:
        later = "left to the end" if value.states[-1] in LEFT else "depends on the summary"
    return ValueRow(value.text[:MOST_TEXT], states, later, value.used_at, alarm)


def _x(at: int, n: int) -> float:
    return round(LEFT_EDGE + (RIGHT_EDGE - LEFT_EDGE) * at / n, 1)


def _courses(kinds: Sequence[KindLeft], n: int) -> tuple[Course, ...]:
    """The curves; words that would stand on each other move down, or up from the foot."""
    ends = sorted(kinds, key=lambda one: -one.shares[-1])
    heights: dict[str, float] = {}
    lowest = FOOT - GAP * (len(ends) - 1)
    above = float(TOP - GAP)
    for rank, one in enumerate(ends):
        above = min(max(_y(one.shares[-1]), above + GAP), lowest + GAP * rank)
        heights[one.kind] = above
    found = []
    for one in kinds:
        points = tuple((_x(at, n), _y(share)) for at, share in enumerate((1.0, *one.shares)))
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        words = f"{WORDS[one.kind]}s {one.shares[-1]:.0%}"
        found.append(Course(LINES[one.kind], path, points, words, round(heights[one.kind] + 4, 1)))
    return tuple(found)


def _y(share: float) -> float:
    return round(FOOT - (FOOT - TOP) * share, 1)
