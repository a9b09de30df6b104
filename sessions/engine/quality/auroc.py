"""How well a score tells two groups apart (AUROC), and the intervals of it and of a share that was counted."""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

T = TypeVar("T")
N_RESAMPLES = 1_000
MIN_OUTCOMES = 5
"""Fewer of either outcome, and resampling them says nothing: no interval."""
MIN_CLUSTERS = 10
"""Fewer independent groups, and drawing whole groups says nothing: no interval."""
SEED = 2_026
Z = 1.959964
"""Of 95%, two-sided."""


class ScoredUnit(NamedTuple):
    """A unit: score, outcome, the stratum to compare it within; those of one ``cluster`` are drawn together."""

    score: float
    outcome: bool
    stratum: Hashable = None
    cluster: Hashable = None


class Interval(NamedTuple):
    """A value with its 95% bootstrap interval; None where one group is empty, no interval where units are too few."""

    value: float | None
    low: float | None
    high: float | None


def auroc(units: Sequence[ScoredUnit]) -> float | None:
    """The chance that a unit with the outcome scores above one without, ties half, within strata; None without both."""
    strata: dict[Hashable, tuple[list[float], list[float]]] = {}
    for unit in units:
        strata.setdefault(unit.stratum, ([], []))[unit.outcome].append(unit.score)
    above, pairs = 0.0, 0
    for without, having in strata.values():
        ordered = sorted(without)
        above += sum((bisect_left(ordered, s) + bisect_right(ordered, s)) / 2 for s in having)
        pairs += len(without) * len(having)
    return above / pairs if pairs else None


def with_interval(units: Sequence[ScoredUnit]) -> Interval:
    """AUROC with its percentile interval from seeded resamples of whole clusters."""
    value = auroc(units)
    n_with = sum(unit.outcome for unit in units)
    if value is None or min(n_with, len(units) - n_with) < MIN_OUTCOMES:
        return Interval(value, None, None)
    clusters: dict[Hashable, list[ScoredUnit]] = {}
    for number, unit in enumerate(units):
        clusters.setdefault(number if unit.cluster is None else ("cluster", unit.cluster), []).append(unit)
    groups = list(clusters.values())
    if len(groups) < MIN_CLUSTERS:
        return Interval(value, None, None)
    return Interval(value, *resampled(groups, lambda drawn: auroc(list(chain.from_iterable(drawn)))))


def resampled(groups: Sequence[T], figure: Callable[[list[T]], float | None]) -> tuple[float | None, float | None]:
    """The 95% interval of a figure by seeded resamples of whole groups; None where it can hardly be had."""
    rng = random.Random(SEED)  # noqa: S311  the same interval on every run
    draws = (rng.choices(groups, k=len(groups)) for _ in range(N_RESAMPLES))
    found = sorted(value for drawn in draws if (value := figure(drawn)) is not None)
    if len(found) < N_RESAMPLES / 2:
        return None, None
    return found[int(0.025 * len(found))], found[min(len(found) - 1, int(0.975 * len(found)))]


def interval(n: int, of: int) -> tuple[float, float] | None:
    """The 95% interval of ``n`` of ``of`` as shares (Wilson, JASA 22, 1927, uncorrected); None of nothing counted."""
    if of <= 0:
        return None
    share = n / of
    scale = 1 + Z * Z / of
    middle = (share + Z * Z / (2 * of)) / scale
    half = Z * math.sqrt(share * (1 - share) / of + Z * Z / (4 * of * of)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)
