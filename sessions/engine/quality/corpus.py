"""Studies a corpus: sessions come in one by one, the result as a document or as Markdown."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sessions.engine.quality.recorded import DEFAULT_CALLS, DEFAULT_DEFINITION, DEFINITIONS, recorded_events
from sessions.engine.quality.study import Study, study, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.calibrate import Weighed
    from sessions.engine.quality.auroc import Interval
    from sessions.engine.quality.index import Index
    from sessions.engine.quality.study import Row


def study_corpus(sessions: Iterable[tuple[Weighed, Index]], *, n_calls: int = DEFAULT_CALLS) -> tuple[Study, ...]:
    """One study for each definition of "again", the default first, of the same sessions."""
    names = (DEFAULT_DEFINITION, *(name for name in DEFINITIONS if name != DEFAULT_DEFINITION))
    units: dict[str, list[Any]] = {name: [] for name in names}
    n_compactions = 0
    for weighed, index in sessions:
        n_compactions += len(recorded_events(weighed))
        for name in names:
            units[name].append(units_of(weighed, index, definition=name, n_calls=n_calls))
    return tuple(study(units[name], name, n_calls, n_compactions) for name in names)


def study_document(studies: Iterable[Study]) -> dict[str, Any]:
    """``ctxweb.study/1``: one entry per definition of "again"; AUROC from 0 to 1, null where it cannot be had."""
    return {"schema": "ctxweb.study/1", "definitions": [dataclasses.asdict(found) for found in studies]}


def markdown(studies: Iterable[Study]) -> str:
    """Tables of every definition, with n and intervals."""
    parts: list[str] = []
    for found in studies:
        parts += [*_facts(found), "", *_predictors(found), "", *_reliability(found), ""]
    return "\n".join(parts)


def _facts(found: Study) -> list[str]:
    dropped = _share(found.n_again, found.n_units)
    others = _share(found.n_placebo_again, found.n_placebo)
    sentences = (
        f"{found.n_sessions} sessions, {found.n_compactions} recorded compactions whose originals are in the file,",
        f"{found.n_with_compactions} sessions in which one dropped a target.",
        f"Dropped: {found.n_units} targets, fetched again within {found.n_calls} calls: {dropped}.",
        f"Where nothing was dropped: {found.n_placebo} targets, fetched again: {others}.",
    )
    return [f'## "Again" by {found.definition}', "", *sentences]


def _predictors(found: Study) -> list[str]:
    head = ["| predictor | AUROC [95 %] | within session, point and earlier fetches |", "|---|---|---|"]
    return head + [f"| {row.name} | {_interval(row.raw)} | {_interval(row.adjusted)} |" for row in _rows(found)]


def _rows(found: Study) -> tuple[Row, ...]:
    return (*found.rows, found.placebo)


def _reliability(found: Study) -> list[str]:
    head = [
        "| needed and gone | dropped | fetched again | not dropped, needed | fetched again |",
        "|---|---|---|---|---|",
    ]
    lines = []
    for group in found.bins:
        many = "or more" if group.high is None else f"to {group.high}"
        name = str(group.low) if group.low == group.high else f"{group.low} {many}"
        here, there = _share(group.n_again, group.n), _share(group.n_placebo_again, group.n_placebo)
        lines.append(f"| {name} | {group.n} | {here} | {group.n_placebo} | {there} |")
    return head + lines


def _share(n: int, of: int) -> str:
    return f"{n} ({n / of:.0%})" if of else "0"


def _interval(interval: Interval) -> str:
    if interval.value is None:
        return "one outcome only"
    if interval.low is None or interval.high is None:
        return f"{interval.value:.2f} [too few outcomes for an interval]"
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
