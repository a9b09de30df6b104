"""Does "needed later and gone" come true?  docs/benchmarks/study.md says what is held against what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.engine.quality.auroc import Interval, ScoredUnit, with_interval
from sessions.engine.quality.calls import ToolCall
from sessions.engine.quality.constraints import state_of
from sessions.engine.quality.dose_tables import DoseTable, StudyUnit, dose_tables, need_tables
from sessions.engine.quality.doses import Later, is_put_back
from sessions.engine.quality.index import Index
from sessions.engine.quality.recorded import (
    DEFAULT_CALLS,
    DEFAULT_DEFINITION,
    again,
    baseline_points,
    calls_after,
    dropped_fetches,
    recorded_events,
)
from sessions.engine.quality.standing import GONE, Standing, standing
from sessions.engine.weigh.calibration.weighed import Weighed

PREDICTORS = ("needed and gone", "recency", "size", "keyword absence")


@dataclass(frozen=True, slots=True)
class Predictor:
    """One predictor: its AUROC, and the same within strata of session, point and earlier fetches (1, 2, 3 or more)."""

    name: str
    raw: Interval
    adjusted: Interval


@dataclass(frozen=True, slots=True)
class Study:
    """The result under one definition of "again": ``tables`` by dose and kind of result, ``needs`` by kind of loss."""

    definition: str
    n_calls: int
    n_sessions: int
    n_with_compactions: int
    n_compactions: int
    n_units: int
    n_again: int
    n_placebo: int
    n_placebo_again: int
    rows: tuple[Predictor, ...]
    placebo: Predictor
    tables: tuple[DoseTable, ...] = ()
    needs: tuple[DoseTable, ...] = ()


def units_of(
    weighed: Weighed, index: Index, *, definition: str = DEFAULT_DEFINITION, n_calls: int = DEFAULT_CALLS
) -> tuple[StudyUnit, ...]:
    """The units of one session: those its recorded compactions dropped, then those of its placebo points."""
    found: list[StudyUnit] = []
    cuts: list[int] = []
    for number, event in recorded_events(weighed):
        before = standing(event.before, weighed.transcript, index, {})
        after = standing(event.after, weighed.transcript, index, {})
        cuts.append(before.newest + 1)
        if after.n_silent:
            continue  # what its summary keeps is not known
        later = Later(index, calls_after(index, before.newest, n_calls))
        dropped = [old for old in dropped_fetches(weighed, index, event) if not is_put_back(old, after, index)]
        found += [_unit(weighed, index, old, later, number, after, definition) for old in dropped]
    for position, calls, standing_fetches in baseline_points(index, cuts, n_calls):
        later = Later(index, calls)
        found += [_unit(weighed, index, old, later, position, None, definition) for old in standing_fetches]
    return tuple(found)


def _unit(  # noqa: PLR0917
    weighed: Weighed,
    index: Index,
    old: ToolCall,
    later: Later,
    point: int,
    after: Standing | None,
    definition: str,
) -> StudyUnit:
    """One unit; ``after`` is None at a placebo point, where nothing is gone: what is needed counts in its place."""
    repeat = again(old, list(later.calls), definition)
    assert old.result is not None  # noqa: S101 - only fetches with a result are asked about
    held = set(index.blocks[old.result[0]][old.result[1]]) - {index.id_of(old.key)}
    used = later.uses(old, repeat)
    lost = held if after is None else {r for r in held if not after.has(index, r) and not after.mentions(r)}
    absence = len(lost) / len(held) if held and after is not None else 0.0
    earlier = [c for c in index.calls if c.message <= old.message and (c.verb, c.key) == (old.verb, old.key)]
    newest = later.calls[0].message if later.calls else old.message
    since = sum(old.message < call.message < newest for call in index.calls)
    return StudyUnit(
        weighed.transcript.id, point, after is None, len(lost & used), -since, old.n_tokens, absence, len(earlier),
        repeat is not None, old.verb, tuple(sorted(Counter(index.references[r].kind for r in lost & used).items())),
    )  # fmt: skip


def rules_after(weighed: Weighed, index: Index) -> Counter[tuple[bool, bool]]:
    """Rules that stood before a recorded compaction: (lost by it, broken afterwards) and how many."""
    found: Counter[tuple[bool, bool]] = Counter()
    for _, event in recorded_events(weighed):
        before = standing(event.before, weighed.transcript, index, {})
        after = standing(event.after, weighed.transcript, index, {})
        if after.n_silent:
            continue
        for constraint in index.constraints:
            if constraint.message <= before.newest and state_of(constraint, before) != GONE:
                broken = constraint.broken_in(before.newest, index.n_messages) is not None
                found[state_of(constraint, after) == GONE, broken] += 1
    return found


def study(sessions: Sequence[tuple[StudyUnit, ...]], definition: str, n_calls: int, n_compactions: int) -> Study:
    """The study of many sessions' units; ``n_compactions`` is how many recorded compactions they had."""
    units = [unit for session in sessions for unit in session]
    real = [unit for unit in units if not unit.placebo]
    placebo = [unit for unit in units if unit.placebo]
    scores = ("needed_gone", "recency", "size", "absence")
    rows = tuple(_row(name, real, attribute) for name, attribute in zip(PREDICTORS, scores, strict=True))
    return Study(
        definition, n_calls, len(sessions), sum(any(not u.placebo for u in session) for session in sessions),
        n_compactions, len(real), sum(u.fetched_again for u in real), len(placebo),
        sum(u.fetched_again for u in placebo), rows, _row("needed, nothing lost", placebo, "needed_gone"),
        dose_tables(units), need_tables(units),
    )  # fmt: skip


def _row(name: str, units: Sequence[StudyUnit], attribute: str) -> Predictor:
    raw = [ScoredUnit(getattr(u, attribute), u.fetched_again, None, (u.session, u.point)) for u in units]
    adjusted = [
        scored._replace(stratum=(u.session, u.point, min(u.n_before, 3))) for u, scored in zip(units, raw, strict=True)
    ]
    return Predictor(name, with_interval(raw), with_interval(adjusted))
