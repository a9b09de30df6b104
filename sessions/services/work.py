"""The kinds of background work and how one piece is done.  The rows of the database are the queue (services.queue)."""

from __future__ import annotations

from typing import Any

from django.db import connection

from sessions.models import QUEUED, ColumnsRun, FiguresRun, Job, Part, SearchRun, SummaryJob, SweepRun
from sessions.services import column_runs, figures, jobs, parts, queue, search, summary_jobs, sweep_runs
from sessions.services.ingest import ingest_claimed, reading
from sessions.services.model_access import environment_access
from sessions.services.queue import Kind

UPLOADS = Kind(Job, jobs.claim, ingest_claimed, jobs.put_back)
PARTS = Kind(Part, parts.claim, lambda held: parts.run_claimed(held, reading), parts.put_back)
SWEEPS = Kind(SweepRun, sweep_runs.claim, sweep_runs.run_claimed, sweep_runs.put_back)
SUMMARIES = Kind(
    SummaryJob, summary_jobs.claim, lambda held: summary_jobs.run_claimed(held, environment_access()),
    summary_jobs.put_back,
)  # fmt: skip
FIGURES = Kind(FiguresRun, figures.claim, figures.run_claimed, queue.again_or_failed)
COLUMNS = Kind(ColumnsRun, column_runs.claim, column_runs.run_claimed, queue.again_or_failed)
SEARCH = Kind(SearchRun, search.claim, search.run_claimed, queue.again_or_failed)
_turns: list[Kind[Any]] = [PARTS, UPLOADS, SWEEPS, SUMMARIES, FIGURES]
_BEHIND: tuple[Kind[Any], ...] = (COLUMNS, SEARCH)
KINDS: tuple[Kind[Any], ...] = (*_turns, *_BEHIND)
"""The one served last comes last, so that a long row of uploads keeps no sweep waiting; what makes pages and searches
quick is behind all that somebody waits for."""

_TABLES = [kind.model._meta.db_table for kind in KINDS]
_WAITING = " union all ".join(f"select 1 from {table} where state = '{QUEUED}'" for table in _TABLES) + " limit 1"  # noqa: S608


def work_one() -> bool:
    """Do one piece of work that waits; False where nothing does.  Raises what the kinds' ``run`` raises."""
    for kind in (*_turns, *_BEHIND):
        held = kind.claim()
        if held is not None:
            if kind in _turns:
                _turns.remove(kind)
                _turns.append(kind)
            kind.run(held)
            return True
    return False


def read_small() -> bool:
    """Read one small upload that waits; False where none does.  Raises what reading raises."""
    held = jobs.claim(among=jobs.small()) if jobs.is_small_waiting() else None
    if held is not None:
        ingest_claimed(held)
    return held is not None


def is_waiting() -> bool:
    """Whether any work waits: one statement that is made once, for who asks five times a second."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING)
        return cursor.fetchone() is not None


def n_waiting() -> int:
    return sum(kind.model._default_manager.filter(state=QUEUED).count() for kind in KINDS)


_watch = queue.Watch()


def recover() -> int:
    """Queue again what lost its worker, wherever that was; how many pieces.  Called by timers, every few seconds."""
    return _watch.recover(*KINDS)
