"""The study's main figure: dropped results fetched again, by dose, beside points where nothing was dropped."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sessions.engine.quality.auroc import MIN_CLUSTERS, resampled
from sessions.engine.quality.calls import ASK, FETCH, READ, RUN, SEARCH
from sessions.engine.quality.doses import BINS
from sessions.engine.quality.references import COMMAND, ERROR, ID, IDENTIFIER, LOCATION, NUMBER, PATH, QUOTED, URL


@dataclass(frozen=True, slots=True)
class StudyUnit:
    """A target whose newest result was dropped, or at a placebo point was not.

    ``needed_gone``, ``recency`` (minus the calls since its newest fetch), ``size`` (tokens) and ``absence`` (share of
    its references not in the context afterwards) are the predictors; ``n_before`` counts its fetches up to there.
    ``verb`` is that of its call, ``kinds`` counts what is needed and gone by kind of reference.
    """

    session: str
    point: int
    placebo: bool
    needed_gone: int
    recency: int
    size: int
    absence: float
    n_before: int
    fetched_again: bool
    verb: str = ""
    kinds: tuple[tuple[str, int], ...] = ()


RESULTS = {
    "files read": (READ,), "commands run": (RUN,), "searches": (SEARCH,), "addresses and questions": (FETCH, ASK),
}  # fmt: skip
"""Kinds of dropped results, by the verbs of their calls."""
NEEDS = {
    "paths": (PATH, LOCATION), "names in code": (IDENTIFIER,), "commands": (COMMAND,), "quoted words": (QUOTED,),
    "errors, numbers, ids, addresses": (ERROR, NUMBER, ID, URL),
}  # fmt: skip
"""Kinds of what is lost in a result."""


@dataclass(frozen=True, slots=True)
class Dose:
    """Units with ``low`` to ``high`` (None: or more) things lost, and how many were fetched again.

    The placebo units are those at points where nothing was dropped, with as many things used later.  ``difference`` is
    the one share minus the other, ``least`` and ``most`` its 95% interval; None where there are too few.
    """

    low: int
    high: int | None
    n: int
    n_again: int
    n_sessions: int
    n_placebo: int
    n_placebo_again: int
    difference: float | None
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class DoseTable:
    """One group: doses, what any loss adds, the same in two halves; ``holds``: above nothing in the whole and both."""

    name: str
    doses: tuple[Dose, ...]
    lost: Dose
    halves: tuple[Dose, Dose]
    holds: bool


def dose_table(name: str, units: Sequence[StudyUnit], dose: Callable[[StudyUnit], int] | None = None) -> DoseTable:
    """The table of some units; ``dose`` counts what is lost in one, all of it by default."""
    of = dose or (lambda unit: unit.needed_gone)
    halves = tuple(_dose([u for u in units if half(u.session) == k], 1, None, of, drawn=False) for k in (0, 1))
    lost = _dose(units, 1, None, of)
    signs = [one.difference is not None and one.difference > 0 for one in halves]
    holds = lost.least is not None and lost.least > 0 and all(signs)
    rows = tuple(_dose(units, low, high, of) for low, high in BINS)
    return DoseTable(name, rows, lost, (halves[0], halves[1]), holds)


def dose_tables(units: Sequence[StudyUnit]) -> tuple[DoseTable, ...]:
    """All results, and each kind of result."""
    parts = [dose_table(name, [u for u in units if u.verb in verbs]) for name, verbs in RESULTS.items()]
    return (dose_table("all results", units), *parts)


def need_tables(units: Sequence[StudyUnit]) -> tuple[DoseTable, ...]:
    """Files read, by the kind of what is lost in them."""
    reads = [u for u in units if u.verb == READ]
    return tuple(dose_table(name, reads, _count_of(frozenset(kinds))) for name, kinds in NEEDS.items())


def _count_of(kinds: frozenset[str]) -> Callable[[StudyUnit], int]:
    return lambda unit: sum(n for kind, n in unit.kinds if kind in kinds)


def half(session: str) -> int:
    """Which half of the sessions one is in, by its id alone: 0 or 1."""
    return hashlib.sha256(session.encode("utf-8", "replace")).digest()[0] % 2


def _dose(
    units: Sequence[StudyUnit], low: int, high: int | None, of: Callable[[StudyUnit], int], *, drawn: bool = True
) -> Dose:
    inside = [u for u in units if of(u) >= low and (high is None or of(u) <= high)]
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    for unit in inside:
        counts.setdefault(unit.session, Counter())[unit.placebo, unit.fetched_again] += 1
    whole = sum(counts.values(), Counter())
    n_sessions = sum(any(count[False, again] for again in (True, False)) for count in counts.values())
    least, most = _interval(list(counts.values())) if drawn and n_sessions >= MIN_CLUSTERS else (None, None)
    return Dose(
        low, high, whole[False, True] + whole[False, False], whole[False, True], n_sessions,
        whole[True, True] + whole[True, False], whole[True, True], _difference(whole), least, most,
    )  # fmt: skip


def _difference(counts: Counter[tuple[bool, bool]]) -> float | None:
    n, n_placebo = (counts[side, True] + counts[side, False] for side in (False, True))
    return counts[False, True] / n - counts[True, True] / n_placebo if n and n_placebo else None


def _interval(sessions: Sequence[Counter[tuple[bool, bool]]]) -> tuple[float | None, float | None]:
    """The 95% interval of the difference by seeded resamples of whole sessions."""
    keys = ((False, False), (False, True), (True, False), (True, True))
    rows = [tuple(count[key] for key in keys) for count in sessions]

    def difference(drawn: list[tuple[int, ...]]) -> float | None:
        sums = map(sum, zip(*drawn, strict=True))
        return _difference(Counter(dict(zip(keys, sums, strict=True))))

    return resampled(rows, difference)
