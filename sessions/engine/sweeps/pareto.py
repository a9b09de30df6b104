"""The Pareto front of a sweep: settings that no other beats on every axis at once."""

from __future__ import annotations

from collections.abc import Sequence


def pareto(points: Sequence[tuple[float, ...]]) -> list[bool]:
    """For each point whether it is on the front: no other is at most as large on every axis and smaller on one.

    Smaller is better on every axis; equal points stand or fall together.  Deterministic; points in any order.
    """
    front: list[tuple[float, ...]] = []
    for point in sorted(set(points)):
        # In this order only an earlier point can beat a later one.
        if not any(all(a <= b for a, b in zip(better, point, strict=True)) for better in front):
            front.append(point)
    kept = set(front)
    return [point in kept for point in points]
