"""Geometry of the small marks in tables: the weight bar and the sparkline.  Pure numbers; the tags draw them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sessions.engine.base.words import counted

SPARK_WIDTH = 132.0
SPARK_TOP = 3.0
SPARK_FLOOR = 20.0
TICKS_APART = 3.0
"""Pixels from one tick of a compaction to the next."""


@dataclass(frozen=True, slots=True)
class WeightMarks:
    """A weight bar in pixels: ``tokens`` are (kind, x, width); ``torn`` says that the bytes run on past the edge."""

    tokens: tuple[tuple[str, float, float], ...]
    n_bytes: float
    torn: bool


@dataclass(frozen=True, slots=True)
class SparkMarks:
    """A sparkline as path data, tick positions in pixels and the sentence that says the same."""

    line: str
    limit: bool
    ticks: tuple[float, ...]
    alarm: float | None
    says: str


def weight_marks(
    parts: Iterable[tuple[str, int]], n_bytes: int, bytes_per_token: float, full: float, width: float
) -> WeightMarks:
    """Lay out tokens by kind over bytes; ``full`` tokens fill the width, ``bytes_per_token`` scales the bytes."""
    per_token = width / max(full, 1.0) if full > 0 else 0.0
    left, rects = 0.0, []
    for kind, tokens in parts:
        if tokens <= 0 or left >= width:
            continue
        wide = min(max(tokens * per_token, 1.0), width - left)
        rects.append((kind, round(left, 1), round(wide, 1)))
        left += wide
    reach = n_bytes / bytes_per_token * per_token if bytes_per_token > 0 else 0.0
    shown = min(max(reach, 1.0 if n_bytes else 0.0), width)
    return WeightMarks(tuple(rects), round(shown, 1), reach > width * 1.02)


def spark_marks(spark: Mapping[str, object]) -> SparkMarks | None:
    """A stepped line of context sizes against the window; None where the session has no requests to draw.

    ``points`` are tokens; ``compactions`` and ``worst`` positions from 0 to 1 over the requests.
    """
    points = [p for p in _numbers(spark.get("points")) if p >= 0]
    if not points:
        return None
    window = next(iter(_numbers([spark.get("window")])), 0.0)
    top = max(window, *points, 1.0)
    ticks = sorted(round(x * SPARK_WIDTH, 1) for x in _numbers(spark.get("compactions")) if 0 <= x <= 1)
    worst = next((x for x in _numbers([spark.get("worst")]) if 0 <= x <= 1), None)
    alarm = None if worst is None else round(min(max(worst * SPARK_WIDTH, 4.0), SPARK_WIDTH - 4.0), 1)
    return SparkMarks(_steps(points, top), window > 0, _apart(ticks), alarm, _says(max(points), window, len(ticks)))


def _apart(ticks: list[float]) -> tuple[float, ...]:
    """The first tick of every few pixels: nearer ones run into each other."""
    shown: list[float] = []
    for x in ticks:
        if not shown or x - shown[-1] >= TICKS_APART:
            shown.append(x)
    return tuple(shown)


def _steps(points: list[float], top: float) -> str:
    """Path data of the steps, without the closing corner."""
    scale = (SPARK_FLOOR - SPARK_TOP) / top
    heights = [f"{SPARK_FLOOR - p * scale:.1f}" for p in points]
    step = SPARK_WIDTH / len(points)
    moves = [f"M0 {heights[0]}"]
    moves += [f"H{i * step:.1f}V{y}" for i, y in enumerate(heights) if i]
    return "".join(moves) + f"H{SPARK_WIDTH:g}"


def _says(peak: float, window: float, compactions: int) -> str:
    share = f"{100 * peak / window:.0f}% of the window" if window else f"{peak:,.0f} tokens, window not known"
    return f"peak {share}, {counted(compactions, 'compaction')}"


def _numbers(values: object) -> list[float]:
    if not isinstance(values, (list, tuple)):
        return []
    return [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
