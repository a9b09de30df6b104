"""The lowest of many lines at a point, each line valid on a stretch of points (a Li Chao tree)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class CostLine(NamedTuple):
    """``slope · x + intercept``, with the name of what it stands for."""

    slope: float
    intercept: float
    name: int

    def at(self, x: float) -> float:
        """The line's value at x."""
        return self.slope * x + self.intercept


class Envelope:
    """Lines over points ``xs`` (ascending); adding one costs O(log² n), asking O(log n)."""

    def __init__(self, xs: Sequence[float]) -> None:
        """No line yet."""
        self.xs = xs
        self.size = 1
        while self.size < max(1, len(xs)):
            self.size *= 2
        self.lines: list[CostLine | None] = [None] * (2 * self.size)
        self.n_steps = 0
        """Nodes looked at: what the work is measured by."""

    def add(self, line: CostLine, first: int, last: int) -> None:
        """``line`` counts at the points ``first`` to ``last``, both included."""
        low, high = first + self.size, last + self.size + 1
        width = 1
        while low < high:
            if low & 1:
                self._settle(line, low, (low * width) - self.size, width)
                low += 1
            if high & 1:
                high -= 1
                self._settle(line, high, (high * width) - self.size, width)
            low, high, width = low // 2, high // 2, width * 2

    def lowest(self, point: int) -> CostLine | None:
        """The lowest line at a point, the first added of equal ones; None where none counts."""
        node, x = point + self.size, self.xs[point]
        best: CostLine | None = None
        while node:
            line = self.lines[node]
            self.n_steps += 1
            if line is not None and (best is None or (line.at(x), line.name) < (best.at(x), best.name)):
                best = line
            node //= 2
        return best

    def _settle(self, line: CostLine, node: int, start: int, width: int) -> None:
        """Keep the line that is lower in the middle of the node, hand the other down to where it may win."""
        xs, last = self.xs, len(self.xs) - 1
        while True:
            self.n_steps += 1
            here = self.lines[node]
            if here is None:
                self.lines[node] = line
                return
            x = xs[min(last, start + width // 2)]
            if line.at(x) < here.at(x):
                self.lines[node], line, here = line, here, line
            if width == 1:
                return
            half = width // 2
            if line.slope > here.slope:
                node, width = 2 * node, half
            elif line.slope < here.slope:
                node, start, width = 2 * node + 1, start + half, half
            else:
                return
