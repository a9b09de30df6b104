"""What a scenario yields: figures, each with what is wanted of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: ``what`` it is, its value in words, what is wanted, and whether that holds.

    ``of_time`` where a busy machine or the moment of a kill alone may break it: tests do not judge such figures, the
    report does.
    """

    what: str
    value: str
    wanted: str = "–"
    holds: bool = True
    of_time: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done: how many kills, jobs and so on; seconds and bytes where the name says so."""

    kills: int = 100
    largest_bytes: int = 10_000_000
    jobs: int = 10_000
    start_seconds: float = 60.0
    load_seconds: float = 300.0
    n_clients: int = 20
    slow_seconds: float = 20.0
    enough_answers: int = 1_000
    big_bytes: int = 25_000_000
    watched_steps: int = 40
    clock_steps: int = 4
    harmless_kills: int = 10
    idle_seconds: float = 60.0
    pickups: int = 20
    archive_files: int = 1_000
    archive_kills: int = 12
    seed: int = 1


LONG = Size()
SHORT = Size(
    kills=4, largest_bytes=1_000_000, jobs=150, start_seconds=6.0, load_seconds=5.0, n_clients=4, slow_seconds=15.0,
    enough_answers=3, big_bytes=25_000_000, watched_steps=7, clock_steps=2, harmless_kills=2, idle_seconds=2.0,
    pickups=3, archive_files=100, archive_kills=2,
)  # fmt: skip


def none(what: str, found: Sequence[object] | int) -> Figure:
    """A figure that has to be 0; what was found is named."""
    n = found if isinstance(found, int) else len(found)
    named = "" if isinstance(found, int) or not found else f": {'; '.join(str(one) for one in found[:3])}"
    return Figure(what, f"{n:,}{named}", "0", n == 0)


def exactly(what: str, value: int, wanted: int) -> Figure:
    """A count that has to be ``wanted``."""
    return Figure(what, f"{value:,}", f"{wanted:,}", value == wanted)


def seconds(what: str, value: float, at_most: float | None = None) -> Figure:
    """A duration; ``at_most`` is judged only in the report."""
    wanted = "–" if at_most is None else f"≤ {at_most:g} s"
    return Figure(what, f"{value:.2f} s", wanted, at_most is None or value <= at_most, of_time=True)


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that ``share`` (0 to 1) of all do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
