"""The small pictures of a diff: a strip of the messages' fates, and both lists with tokens to scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessions.engine.replays.diff import Row
    from sessions.pages.ui.folding import FoldedLine

MAP_HEIGHT = 640


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle of the minimap or of the strip."""

    op: str
    x: float
    y: float
    width: float
    height: float
    anchor: str = ""


def strip(rows: Sequence[Row]) -> tuple[Rectangle, ...]:
    """The messages' fates in order, as one bar 400 wide."""
    marks: list[Rectangle] = []
    wide = 400 / max(len(rows), 1)
    start = 0
    for op, run in groupby(row.op for row in rows):
        n = len(list(run))
        marks.append(Rectangle(op, round(start * wide, 2), 0, round(max(n * wide, 1), 2), 6))
        start += n
    return tuple(marks)


def minimap(lines: Sequence[FoldedLine], overhead: int) -> tuple[Rectangle, ...]:
    """The minimap: both lists, tokens to scale, the overhead first."""
    before = overhead + sum(line.tokens_before for line in lines)
    after = overhead + sum(line.tokens_after for line in lines)
    scale = MAP_HEIGHT / max(before, after, 1)
    marks = [Rectangle("kept", x, 0, 16, round(max(overhead * scale - 1, 1), 1)) for x in (0, 20)]
    left = right = overhead * scale
    for line in lines:
        anchor = f"d-{line.first}"
        for x, tokens in ((0, line.tokens_before), (20, line.tokens_after)):
            if tokens:
                top = left if x == 0 else right
                marks.append(Rectangle(line.op, x, round(top, 1), 16, round(max(tokens * scale - 0.5, 0.5), 1), anchor))
        left += line.tokens_before * scale
        right += line.tokens_after * scale
    return tuple(marks)
