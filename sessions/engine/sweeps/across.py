"""One setting for several sessions, and how it does on those that had no say in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessions.engine.base.words import counted
from sessions.engine.sweeps.advice import (
    NOTHING,
    SETTINGS,
    UNCOUNTED,
    UNKNOWN,
    Advice,
    admitted,
    advise,
    cost_range,
    is_far_under,
    is_recorded,
    regret,
    saves,
    says_little,
)
from sessions.engine.sweeps.floors import keeps
from sessions.engine.sweeps.sweep import Row, Setting, Sweep, cost_key


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """One session as the others' choice would have done on it.

    ``chosen`` is what the other sessions recommend (None: nothing may be advised on all of them); ``ratio`` its cost
    on this session over the recorded one; ``keeps`` whether it may be advised here too.
    """

    session: str
    chosen: Setting | None
    ratio: float | None
    keeps: bool


@dataclass(frozen=True, slots=True)
class Validation:
    """A setting for several sessions, chosen on all, and judged by leaving each one out in turn.

    ``mean_ratio`` is over the sessions left out: 0.95 says that a session not seen before costs 5% less than recorded.
    """

    setting: Setting
    reason: str
    judged: tuple[CrossCheck, ...]
    mean_ratio: float | None
    n_keeping: int


Table = dict["Setting", tuple["Row", bool]]
"""Of one session: each setting's row, and whether it may be advised there."""


def recommend_across(sweeps: Sequence[Sweep], floors: Mapping[str, float] | None = None) -> Validation | None:
    """One setting for several sessions swept alike: that of the least mean regret of those advised on all of them.

    None where there is none, or where losses are not counted.
    """
    if not sweeps or not are_counted(sweeps):
        return None
    tables = [_table(one, floors or {}) for one in sweeps]
    held = [one.recorded for one in sweeps]
    chosen = _choice(tables, held)
    if chosen is None:
        return None
    judged = tuple(_judged(number, sweeps, tables, held) for number in range(len(sweeps)))
    ratios = [one.ratio for one in judged if one.ratio is not None]
    mean = sum(ratios) / len(ratios) if ratios and len(sweeps) > 1 else None
    n_keeping = sum(one.keeps for one in judged)
    reason = f"the best for cost and losses together over {len(sweeps)} sessions"
    if mean is not None:
        reason += (
            f"; on a session it was not chosen on, {100 * (mean - 1):+.1f}% of the recorded cost on average, "
            f"advised there too on {n_keeping} of {len(sweeps)}"
        ).replace("-", "−")
    return Validation(chosen, reason, judged, mean, n_keeping)


def advise_all(
    sweeps: Sequence[Sweep], floors: Mapping[str, float] | None = None
) -> tuple[Advice, Setting | None, Validation | None]:
    """The advice for one session or several, the setting that it recommends, and its trial where there are several."""
    if len(sweeps) == 1:
        found = advise(sweeps[0], floors)
        return found, found.recommended.row.setting if found.recommended else None, None
    if all(map(is_far_under, sweeps)):
        peak = max(one.recorded.totals.peak_context_tokens for one in sweeps)
        cheaper = any(saves(row, one.recorded) for one in sweeps for row in admitted(one))
        what = "None of them needs to compact" if cheaper else "Nothing to tune in any of them"
        return Advice(NOTHING, f"{what}: the largest context is {peak:,} tokens."), None, None
    short = [one for one in sweeps if not is_far_under(one)]
    if all(map(says_little, short)):
        n = max(len(one.weighed.steps) for one in short)
        said = f"Too little to go by: of those that came near a threshold none has more than {counted(n, 'request')}."
        return Advice(NOTHING, said), None, None
    if not are_counted(sweeps):
        return Advice(UNKNOWN, UNCOUNTED), None, None
    across = recommend_across(sweeps, floors)
    if across is None:
        return Advice(UNKNOWN, "No setting may be advised on all sessions."), None, None
    return Advice(SETTINGS, f"{across.reason[0].upper()}{across.reason[1:]}."), across.setting, across


def are_counted(sweeps: Sequence[Sweep]) -> bool:
    """Whether the losses of every setting are counted."""
    return all("needs_gone" in row.more for one in sweeps for row in one.rows)


def _table(sweep: Sweep, floors: Mapping[str, float]) -> Table:
    """A row that changes nothing here may stand here: it compacts where the session did, or no more than it did."""
    able = {id(row) for row in admitted(sweep)}

    def idle(row: Row) -> bool:
        same = is_recorded(row, sweep) or not (row.totals.compactions or sweep.recorded.totals.compactions)
        return same and row.fits and sweep.recorded.fits

    return {row.setting: (row, keeps(row, floors) and (id(row) in able or idle(row))) for row in sweep.rows}


def _choice(tables: Sequence[Table], held: Sequence[Row]) -> Setting | None:
    """The setting of the least mean regret, the first of equals."""
    ranked: list[tuple[float, int, Setting]] = []
    for number, setting in enumerate(tables[0] if tables else ()):
        found = [table.get(setting) for table in tables]
        rows = [one[0] for one in found if one is not None and one[1]]
        if len(rows) == len(tables):
            worth = sum(regret(row, base) for row, base in zip(rows, held, strict=True)) / len(rows)
            ranked.append((worth, number, setting))
    return min(ranked)[2] if ranked else None


def _judged(number: int, sweeps: Sequence[Sweep], tables: Sequence[Table], held: Sequence[Row]) -> CrossCheck:
    """Session ``number`` under what the others choose."""
    session = sweeps[number].weighed.transcript.id
    chosen = _choice([*tables[:number], *tables[number + 1 :]], [*held[:number], *held[number + 1 :]])
    found, base = tables[number].get(chosen) if chosen is not None else None, cost_range(held[number])[0]
    if found is None or not base:
        return CrossCheck(session, chosen, None, keeps=False)
    return CrossCheck(session, chosen, cost_key(found[0].totals) / base, found[1])
