"""Sweeps for the pages: small ones at once and kept a while, larger ones from their background run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessions import selectors
from sessions.engine.base.errors import BadParameter, UnknownName
from sessions.engine.base.session_cache import Remembered
from sessions.engine.costs.cost import added_up
from sessions.engine.sweeps.regret import FIXED_SIZE, Optimum, optimum
from sessions.engine.sweeps.sweep import Row, Sweep, marked
from sessions.models import Session, Sweeping, SweepRun
from sessions.services import indexed, sweep_runs
from sessions.services.prices import prices_for
from sessions.services.sweeping import Options, grid_of, key_of, recorded_of, rows_kept, run_one, versions

KEPT = 6
INLINE_SECONDS = 2.0
"""A page waits this long for its sweep; what is left by then is run in the background."""
INLINE_WORK = 300_000
"""Messages × settings: more than these are not begun while a page waits."""
LOSS_WORK = 15
"""How many times the work of a replay counting its losses is."""
MOST_SETTINGS = 2_000


@dataclass(frozen=True, slots=True)
class SweepResult:
    """What a page shows: a sweep for every session, complete or not, or why there is none.

    ``offer``: the rest can be run in the background; ``run`` is that of this sweep, if there is one.
    """

    sweeps: tuple[Sweep, ...]
    best: tuple[Optimum | None, ...]
    options: Options
    n_total: int
    seconds: float = 0.0
    error: str = ""
    offer: bool = False
    run: SweepRun | None = None

    @property
    def n_done(self) -> int:
        return sum(len(one.rows) for one in self.sweeps)

    @property
    def milliseconds(self) -> str:
        """How long it took, for sweeps run at once."""
        return f"{self.seconds * 1000:,.0f}"

    @property
    def complete(self) -> bool:
        return bool(self.sweeps) and self.n_done == self.n_total


SWEEP: Remembered[SweepResult] = Remembered("sweep", KEPT)
"""Remembered with the first of its sessions, by options and versions."""


def swept(options: Options, sessions: Sequence[Session]) -> SweepResult:
    """The sweep of some options: kept, from a finished run, or run now as far as a page may wait."""
    if options["summarizer"] == "anthropic":
        return SweepResult((), (), options, 0, error="A model's summaries cannot be swept: choose another summarizer.")
    try:
        n_total = len(grid_of(options)[1]) * len(sessions)
    except (BadParameter, UnknownName) as error:
        return SweepResult((), (), options, 0, error=f"{error}.")
    if n_total > MOST_SETTINGS:
        return SweepResult((), (), options, n_total, error=f"{n_total:,} replays are more than {MOST_SETTINGS:,}.")
    of = versions(sessions)
    key = key_of(options, of)
    cache = selectors.load_weighed(sessions[0].pk).cache
    held = cache.find(SWEEP, key)
    if held is not None:
        return held
    run = sweep_runs.find(options, of)
    found = _of_run(run, options, n_total) if run is not None else _now(options, n_total)
    if found.complete:
        cache.put(SWEEP, replace(found, run=None), key)
    return found


def _now(options: Options, n_total: int) -> SweepResult:
    """As much of the sweep as a page may wait for."""
    n_messages = sum(len(selectors.load_weighed(one).transcript.messages) for one in options["sessions"])
    if n_messages * len(grid_of(options)[1]) * (LOSS_WORK if options["losses"] else 1) > INLINE_WORK:
        return SweepResult((), (), options, n_total, offer=True)
    if options["losses"]:
        for session_id in options["sessions"]:
            indexed.index_of(selectors.get_session(session_id))  # kept from then on: no part of what is waited for
    started = time.perf_counter()

    def late() -> bool:
        return time.perf_counter() - started > INLINE_SECONDS

    try:
        found = [run_one(session_id, options, cancelled=late) for session_id in options["sessions"]]
    except (BadParameter, UnknownName, OSError) as error:
        return SweepResult((), (), options, n_total, error=f"{error}.")
    seconds = time.perf_counter() - started
    done = all(one.complete for one in found)
    return SweepResult(tuple(found), _cheapest(found, options), options, n_total, seconds, offer=not done)


def _of_run(run: SweepRun, options: Options, n_total: int) -> SweepResult:
    """What a background run has so far, as sweeps."""
    axes, settings = grid_of(options)
    found: list[Sweep] = []
    for session_id in options["sessions"]:
        rows = rows_kept(run.rows.get(session_id, []), options)
        weighed = selectors.load_weighed(session_id)
        ordered = marked([rows[setting] for setting in settings if setting in rows])
        prices, recorded = prices_for(weighed.model), recorded_of(session_id, options)
        done, base, summarizer = len(ordered) == len(settings), options["base"], options["summarizer"]
        found.append(Sweep(weighed, axes, ordered, done, prices, base, summarizer, recorded))
    return SweepResult(
        tuple(found), _cheapest(found, options), options, n_total, run=run,
        offer=run.state in {Sweeping.CANCELLED, Sweeping.FAILED},
    )  # fmt: skip


def _cheapest(found: Sequence[Sweep], options: Options) -> tuple[Optimum | None, ...]:
    """The cheapest schedule any policy could have had on each session, where it is known."""
    if options["base"] != "full" or options["summarizer"].partition(":")[0] not in FIXED_SIZE:
        return tuple(None for _ in found)
    answers = []
    for one in found:
        window = max((row.setting.window for row in one.rows if row.setting.window), default=options["window"])
        answers.append(optimum(one.weighed, summarizer=options["summarizer"], prices=one.prices, window=window))
    return tuple(answers)


def together(sweeps: Sequence[Sweep]) -> Sweep:
    """Several sessions as one: tokens, dollars and compactions added up, the highest peak; settings all have."""
    if len(sweeps) == 1:
        return sweeps[0]
    tables = [{row.setting: row for row in one.rows} for one in sweeps]
    rows = [
        _added(first, [table[first.setting] for table in tables])
        for first in sweeps[0].rows
        if all(first.setting in table for table in tables)
    ]
    recorded = _added(sweeps[0].recorded, [one.recorded for one in sweeps])
    return replace(sweeps[0], rows=marked(rows), complete=all(one.complete for one in sweeps), recorded=recorded)


def _added(first: Row, rows: Sequence[Row]) -> Row:
    totals = added_up([row.totals for row in rows])
    more = {name: sum(row.more[name] for row in rows) for name in first.more}
    return replace(
        first, totals=totals, window=min(row.window for row in rows), fits=all(row.fits for row in rows), more=more
    )  # fmt: skip
